//! Waiting: for descriptors, on a stack of its own so that the bridge allocates nothing as it waits, and for the clock.

use super::{checked, timespec};
use nix::time::{ClockId, ClockNanosleepFlags, clock_nanosleep};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;

/// Waits until one of the descriptors can be read, at most so many nanoseconds; whether one can.
pub fn wait_readable(fds: &[RawFd], ns: i64) -> io::Result<bool> {
    wait(fds, libc::POLLIN, ns)
}

/// Waits until one descriptor can be read or written, as wanted, at most so many nanoseconds; whether it can.
pub fn wait_for(fd: RawFd, read: bool, write: bool, ns: i64) -> io::Result<bool> {
    let events = if read { libc::POLLIN } else { 0 } | if write { libc::POLLOUT } else { 0 };
    wait(&[fd], events, ns)
}

/// The same until one can be written; whether one can.
pub fn wait_writable(fds: &[RawFd], ns: i64) -> io::Result<bool> {
    wait(fds, libc::POLLOUT, ns)
}

fn wait(fds: &[RawFd], events: libc::c_short, ns: i64) -> io::Result<bool> {
    let mut polled: [MaybeUninit<libc::pollfd>; 256] = [const { MaybeUninit::uninit() }; 256];
    let n = fds.len().min(polled.len());
    for (slot, fd) in polled.iter_mut().zip(fds) {
        slot.write(libc::pollfd { fd: *fd, events, revents: 0 });
    }
    let timeout = timespec(ns.max(0));
    // SAFETY: the first `n` entries were written just now.
    let done =
        unsafe { libc::ppoll(polled.as_mut_ptr().cast(), n as libc::nfds_t, &timeout, std::ptr::null()) };
    match checked(done) {
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
        done => done.map(|n| n > 0),
    }
}

/// Sleeps to a moment of the monotonic clock; an interruption only wakes early.
pub fn sleep_until(ns: i64) {
    let until = timespec(ns.max(0)).into();
    let _ = clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &until);
}
