//! System calls: `nix` has most of them, and what it has not is wrapped here, all `unsafe` of this crate, so that
//! nothing outside can misuse it: BPF programs (`bpf`), the ring of packets shared with the kernel (`packets`), many
//! packets with one call (`many`), real-time priority, TCP_INFO, and the `ioctl`s of devices.

pub mod bpf;
mod devices;
mod many;
mod mounts;
mod packets;
mod process;
mod sockets;
mod waiting;

pub use devices::*;
pub use many::*;
pub use mounts::*;
pub use nix::sys::socket::SockProtocol;
pub use packets::*;
pub use process::*;
pub use sockets::*;
pub use waiting::*;

use nix::time::{ClockId, clock_gettime};
use std::io;

pub const ETH_P_ALL: u16 = libc::ETH_P_ALL as u16;
pub const ETH_P_IP: u16 = libc::ETH_P_IP as u16;
/// `sll_pkttype` of a packet that this host sent.
pub const OUTGOING: u8 = libc::PACKET_OUTGOING;

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

#[derive(Clone, Copy, Debug)]
pub enum Clock {
    Monotonic,
    Realtime,
}

/// Nanoseconds.
pub fn clock(which: Clock) -> i64 {
    read(match which {
        Clock::Monotonic => ClockId::CLOCK_MONOTONIC,
        Clock::Realtime => ClockId::CLOCK_REALTIME,
    })
}

/// What all threads of this process have run, in user space and in the kernel; nanoseconds.
pub fn cpu_time() -> i64 {
    read(ClockId::CLOCK_PROCESS_CPUTIME_ID)
}

/// Every Linux has these clocks.
fn read(clock: ClockId) -> i64 {
    clock_gettime(clock).map_or(0, |t| nanos_of(t.as_ref()))
}

fn nanos_of(t: &libc::timespec) -> i64 {
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

fn timespec(ns: i64) -> libc::timespec {
    libc::timespec { tv_sec: ns / 1_000_000_000, tv_nsec: ns % 1_000_000_000 }
}
