//! Processes and threads: namespaces, priority, signals.

use super::checked;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl::{set_pdeathsig, set_timerslack};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, setpgid};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A new network namespace for this thread alone.
pub fn unshare_net() -> io::Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWNET)?)
}

/// This thread enters a network namespace.
pub fn enter_net(ns: BorrowedFd<'_>) -> io::Result<()> {
    Ok(setns(ns, CloneFlags::CLONE_NEWNET)?)
}

/// First in, first out, before everything that is not real-time. For this thread. (`nix` has no scheduling classes.)
pub fn real_time(priority: i32) -> io::Result<()> {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: `param` is valid for reads; 0 is the calling thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &param) })
        .map(drop)
}

/// This thread's timers fire when they are due, not up to 50 us later; where it is refused they stay as they are.
pub fn exact_timers() {
    let _ = set_timerslack(1);
}

pub fn effective_uid() -> u32 {
    nix::unistd::geteuid().as_raw()
}

/// The child runs in a network namespace, in a group of its own, and dies with the thread that starts it.
pub fn in_namespace(command: &mut Command, ns: RawFd) {
    let setup = move || {
        // SAFETY: whoever starts the command keeps the namespace's descriptor open until it has started.
        setns(unsafe { BorrowedFd::borrow_raw(ns) }, CloneFlags::CLONE_NEWNET)?;
        setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
        set_pdeathsig(Signal::SIGKILL)?;
        Ok(())
    };
    // SAFETY: the closure allocates nothing and only makes async-signal-safe calls.
    unsafe { command.pre_exec(setup) };
}

/// The child moves itself into a cgroup, by writing to this file of its own, before it becomes another program.
pub fn in_cgroup(command: &mut Command, processes: &File) -> io::Result<()> {
    let mut processes = processes.try_clone()?;
    // SAFETY: the closure allocates nothing, and write is async-signal-safe.
    unsafe { command.pre_exec(move || processes.write_all(b"0")) };
    Ok(())
}

/// A signal to a process, or to a group of them where the number is negative.
pub fn signal(pid: i32, signal: libc::c_int) -> io::Result<()> {
    Ok(kill(Pid::from_raw(pid), Signal::try_from(signal)?)?)
}

/// Takes the lock of a file without waiting; false if another process holds it.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(e)) => Err(e),
    }
}
