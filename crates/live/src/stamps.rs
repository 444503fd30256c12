//! Whether the kernel stamps packets as they come.
//!
//! It does once a socket asks for it, but not at once: a work queue of the kernel's switches it on (net/core/dev.c,
//! net_enable_timestamp), on a busy machine milliseconds later. Until then a packet has the time at which it was read.

use crate::netns::Namespace;
use crate::sys::{self, Clock, Receiving};
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

/// Before a packet is read: what is stamped only then is that much late.
const READ_AFTER: Duration = Duration::from_millis(2);
const LATE_NS: i64 = 1_000_000;
const TRIES: u32 = 250;
const SOCKET_BYTES: usize = 1 << 16;
const LOOPBACK: &str = "lo";

/// Waits until it does, while the sockets that ask for it are open: half a second at most. False if it does not.
pub fn until_on(ns: &Namespace) -> io::Result<bool> {
    ns.inside(|| {
        let fd = sys::packet_socket(sys::ETH_P_IP, sys::interface_index(LOOPBACK)?)?;
        sys::prepare_receiver(fd.as_fd(), SOCKET_BYTES)?;
        let (from, to) =
            (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
        let (mut receiving, mut received) = (Receiving::new(1), Vec::new());
        let mut room = [0; 64];
        for _ in 0..TRIES {
            let sent = sys::clock(Clock::Realtime);
            from.send_to(&[0], to.local_addr()?)?;
            thread::sleep(READ_AFTER);
            let (mut came, mut latest) = (0, 0);
            while receiving.receive(fd.as_fd(), &mut [&mut room], &mut received)? > 0 {
                came += received.len();
                latest = received.iter().map(|packet| packet.time - sent).fold(latest, i64::max);
            }
            if came > 0 && latest < LATE_NS {
                return Ok(true);
            }
        }
        Ok(false)
    })
}
