//! The same packet without payload twice in one capture: what it is known again by, and the last few of each side.

use super::*;
use crate::assumptions::{AT_ONCE, MIN_RTO_SEEN};
use crate::short_connections::folded;

/// A packet without payload, as far as its like is told by it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bare {
    time: Time,
    mark: u32,
    ttl: u8,
}

impl Default for Bare {
    /// None: a capture may begin at time 0, as simulated ones do.
    fn default() -> Bare {
        Bare { time: Time::FAR_PAST, mark: 0, ttl: 0 }
    }
}

/// By what the same packet is known again: its identification, and a folded checksum.
#[inline(always)]
fn mark(packet: &Packet) -> u32 {
    u32::from(packet.ip_id) << 8 | u32::from(folded(packet.checksum))
}

/// As many are remembered: both copies of a packet may have others between them.
pub(super) const BARE: usize = 4;
/// A router's queue, or a mirror port, holds a packet up no longer. Copies of a packet on two interfaces of one host follow
/// each other at once.
const ONE_ROUTER: Span = Span::from_millis(500);

impl Connection {
    /// The same packet without payload again: captured on two interfaces at once, or before and after a router.
    /// Hosts that do not count their packets (identification 0) may well send two ACKs alike, unless all of this
    /// connection is doubled.
    pub(super) fn is_bare_packet_twice(&mut self, packet: &Packet, side: usize) -> bool {
        if packet.seg.payload > 0 {
            return false;
        }
        let same = self.sides[side].may_be_twice(packet) && self.is_alike(packet, side);
        if !same {
            self.sides[side].remember_bare(packet);
        }
        same
    }

    #[cold]
    fn is_alike(&self, packet: &Packet, side: usize) -> bool {
        let told_apart = packet.ip_id != 0
            || packet.seg.flags.has(Flags::SYN.with(Flags::FIN))
            || self.streams.iter().any(|s| s.limits.captured_twice > s.limits.duplicated + 2);
        let numbered =
            packet.ip_id != 0 && (packet.seg.flags.has(Flags::SYN) || self.streams[side].numbers_ascend());
        let mark = mark(packet);
        self.sides[side].bare.iter().any(|b| {
            let elsewhere = b.ttl != packet.ttl;
            let soon = match () {
                () if elsewhere || numbered => ONE_ROUTER,
                // No host repeats its SYN as soon as that: its timer begins at 1 s (RFC 6298 section 2.1).
                () if packet.seg.flags.has(Flags::SYN) => MIN_RTO_SEEN,
                () => AT_ONCE,
            };
            let alike = b.mark == mark && packet.time - b.time < soon;
            alike && (told_apart || elsewhere)
        })
    }
}

impl Side {
    /// Is a packet like this one among the last without payload? Then it may be the same one again.
    #[inline(always)]
    pub(super) fn may_be_twice(&self, packet: &Packet) -> bool {
        let mark = mark(packet);
        self.bare.iter().fold(false, |any, b| any | (b.mark == mark))
    }

    #[inline(always)]
    pub(super) fn remember_bare(&mut self, packet: &Packet) {
        let bare = Bare { time: packet.time, mark: mark(packet), ttl: packet.ttl };
        self.bare[self.next_bare as usize % BARE] = bare;
        self.next_bare = self.next_bare.wrapping_add(1);
    }
}
