//! The connections that pass the bridge, and the log of what links lost.

use crate::bins::Bins;
use crate::frames::{Headers, TCP};
use crate::passed::{Drop, Ends, Passed, Queued, Which};
use instant::Time;
use std::collections::HashMap;

/// All of it, while a run goes on.
#[derive(Default)]
pub struct Observed {
    pub connections: Vec<Passed>,
    /// Only looked up.
    places: HashMap<Ends, u32>,
    pub drops: Vec<Drop>,
    pub queued: Vec<Queued>,
    /// Where they are asked for.
    pub bins: Option<Bins>,
    copies: u64,
}

impl Observed {
    /// A packet comes to the bridge.
    pub fn note(&mut self, now: Time, headers: &Headers) -> Which {
        let (connection, from_client) = self.connection(headers);
        let passed = &mut self.connections[connection as usize];
        let way = usize::from(!from_client);
        let copy = self.copies;
        self.copies += 1;
        let (offset, again) = if headers.protocol == TCP { passed.place(way, headers) } else { (0, false) };
        passed.count(way, now, headers, offset, again);
        let which = Which { connection, from_client, copy, came: now, offset, again, headers: *headers };
        if let Some(bins) = &mut self.bins {
            bins.sent(now, &which);
        }
        which
    }

    /// A packet reaches its host.
    pub fn arrived(&mut self, now: Time, which: Option<&Which>) {
        if let (Some(bins), Some(which)) = (&mut self.bins, which) {
            bins.arrived(now, which);
        }
    }

    fn connection(&mut self, h: &Headers) -> (u32, bool) {
        let (from, to) = ((h.from, h.ports.0), (h.to, h.ports.1));
        let forward = Ends { protocol: h.protocol, client: from, server: to };
        if let Some(at) = self.places.get(&forward) {
            return (*at, true);
        }
        let back = Ends { protocol: h.protocol, client: to, server: from };
        if let Some(at) = self.places.get(&back) {
            return (*at, false);
        }
        let at = self.connections.len() as u32;
        self.places.insert(forward, at);
        self.connections.push(Passed::new(forward));
        (at, true)
    }

    /// Packets that came so far.
    pub fn copies(&self) -> u64 {
        self.copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::SYN;

    fn packet(back: bool, seq: u32, ack: u32, flags: u8, payload: u32) -> Headers {
        let (from, to, ports) = if back { (2, 1, (5001, 1024)) } else { (1, 2, (1024, 5001)) };
        Headers { from, to, ports, protocol: TCP, seq, ack, flags, payload, ..Headers::default() }
    }

    #[test]
    fn offsets_count_from_the_first_byte_and_do_not_wrap() {
        let mut observed = Observed::default();
        let start = u32::MAX - 1000;
        assert_eq!(observed.note(Time::ZERO, &packet(false, start, 0, SYN, 0)).offset, 0);
        assert_eq!(observed.note(Time::ZERO, &packet(true, 7, start + 1, SYN | 16, 0)).offset, 0);
        for k in 0..100u64 {
            let seq = start.wrapping_add(1).wrapping_add((k * 1000) as u32);
            let sent = observed.note(Time::ZERO, &packet(false, seq, 8, 16, 1000));
            assert_eq!((sent.offset, sent.from_client, sent.again), (k * 1000, true, false));
            let ack = observed.note(Time::ZERO, &packet(true, 8, seq.wrapping_add(1000), 16, 0));
            assert_eq!((ack.offset, ack.from_client), ((k + 1) * 1000, false));
        }
        let again = observed.note(Time::ZERO, &packet(false, start.wrapping_add(1), 8, 16, 1000));
        assert_eq!((again.offset, again.copy, again.again), (0, 202, true));
        let way = observed.connections[0].ways[0];
        assert_eq!((way.payload_bytes, way.stream_bytes, way.resent_bytes), (101_000, 100_000, 1000));
    }
}
