//! UDP shares links with TCP: bytes of it by sending and receiving host.

use wire::{Host, Packet, Span, Time};

/// UDP from one host to another within a short time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagrams {
    pub from: Host,
    pub to: Host,
    pub start: Time,
    pub end: Time,
    /// Payload.
    pub bytes: u64,
}

/// Datagrams of two hosts within this time make one entry.
const TOGETHER: Span = Span::from_millis(8);
/// Entries that a datagram may still be added to: so many pairs of hosts may send at the same time.
const AT_A_TIME: usize = 8;

/// Since it was last asked.
#[derive(Default)]
pub(crate) struct Beside(Vec<Datagrams>);

impl Beside {
    pub fn note(&mut self, p: &Packet) {
        let (from, to, bytes) = (p.tuple.src.host, p.tuple.dst.host, u64::from(p.seg.payload));
        let near = |d: &&mut Datagrams| {
            (d.from, d.to) == (from, to) && p.time >= d.start && p.time - d.start < TOGETHER
        };
        match self.0.iter_mut().rev().take(AT_A_TIME).find(near) {
            Some(d) => (d.end, d.bytes) = (d.end.max(p.time), d.bytes + bytes),
            None => self.0.push(Datagrams { from, to, start: p.time, end: p.time, bytes }),
        }
    }
    pub fn take(&mut self) -> Vec<Datagrams> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Endpoint, Segment, Tuple};

    fn packet(from: u8, to: u8, ms: i64) -> Packet {
        let end = |n| Endpoint { host: Host::v4([10, 0, 0, n]), port: 9 };
        Packet {
            time: Time::ZERO + Span::from_millis(ms),
            tuple: Tuple { src: end(from), dst: end(to) },
            seg: Segment { payload: 100, ..Segment::default() },
            ..Packet::default()
        }
    }

    #[test]
    fn what_two_hosts_send_in_a_short_time_is_told_as_one() {
        let mut beside = Beside::default();
        for (from, to, ms) in [(1, 2, 0), (2, 1, 1), (1, 2, 7), (1, 2, 9), (1, 2, 3)] {
            beside.note(&packet(from, to, ms));
        }
        let told: Vec<(i64, i64, u64)> =
            beside.take().iter().map(|d| (d.start.0 / 1_000_000, d.end.0 / 1_000_000, d.bytes)).collect();
        assert_eq!(told, [(0, 7, 300), (1, 1, 100), (9, 9, 100)]);
        assert!(beside.take().is_empty());
    }
}
