//! The connections that pass the bridge, and the log of what links lost.

use crate::bins::Bins;
use crate::frames::{Headers, SYN, TCP};
use instant::{Span, Time};
use links::{Cause, LinkId};
use std::collections::HashMap;

/// Both ends of a connection: address and port of whoever sent its first packet, and of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ends {
    pub protocol: u8,
    pub client: (u32, u16),
    pub server: (u32, u16),
}

/// One connection as it came to the bridge. Pairs: from the client, from the server.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    pub ends: Ends,
    pub ways: [Way; 2],
    /// The number of the first byte, and the end of what passed, unwrapped.
    streams: [Option<Stream>; 2],
}

/// What came from one end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    pub packets: u64,
    pub data_packets: u64,
    pub payload_bytes: u64,
    /// Of data that had come before.
    pub resent_packets: u64,
    pub resent_bytes: u64,
    /// First and last packet with payload.
    pub first: Option<Time>,
    pub last: Option<Time>,
    /// Bytes of the stream, each once.
    pub stream_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    first: u32,
    pub highest: u64,
}

impl Stream {
    /// The offset in the stream of what has this sequence number: the nearest to the highest so far.
    pub fn offset(&self, seq: u32) -> u64 {
        let near = seq.wrapping_sub(self.first).wrapping_sub(self.highest as u32) as i32;
        self.highest.saturating_add_signed(i64::from(near))
    }
}

/// A packet, as rows name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Which {
    /// The place among [`Book::connections`].
    pub connection: u32,
    pub from_client: bool,
    /// Counted from 0 in the order in which packets came to the bridge.
    pub copy: u64,
    /// When it came to the bridge.
    pub came: Time,
    /// In the stream: of its first byte, or for an ACK what it asks for next.
    pub offset: u64,
    /// Data that came to the bridge before.
    pub again: bool,
    pub headers: Headers,
}

/// A packet that a link lost.
#[derive(Clone, Copy, Debug)]
pub struct Drop {
    pub time: Time,
    pub link: LinkId,
    pub cause: Cause,
    pub which: Which,
}

/// A packet that came into a queue or left it.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    pub time: Time,
    pub link: LinkId,
    /// How long it waited; `None` as it comes.
    pub waited: Option<Span>,
    pub packets: u32,
    pub bytes: u64,
    pub which: Which,
}

#[derive(Default)]
pub struct Book {
    pub connections: Vec<Passed>,
    /// Only looked up.
    places: HashMap<Ends, u32>,
    pub drops: Vec<Drop>,
    pub queued: Vec<Queued>,
    /// Where they are asked for.
    pub bins: Option<Bins>,
    copies: u64,
}

impl Book {
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
        self.connections.push(Passed { ends: forward, ways: [Way::default(); 2], streams: [None; 2] });
        (at, true)
    }

    /// Packets that came so far.
    pub fn copies(&self) -> u64 {
        self.copies
    }
}

impl Passed {
    /// The stream from one end, at its beginning.
    pub(crate) fn stream(&self, from_client: bool) -> Option<Stream> {
        self.streams[usize::from(!from_client)].map(|s| Stream { highest: 0, ..s })
    }

    fn count(&mut self, way: usize, now: Time, h: &Headers, offset: u64, again: bool) {
        let (way, bytes) = (&mut self.ways[way], u64::from(h.payload));
        way.packets += 1;
        if bytes == 0 {
            return;
        }
        way.data_packets += 1;
        way.payload_bytes += bytes;
        way.first.get_or_insert(now);
        way.last = Some(now);
        way.stream_bytes = way.stream_bytes.max(offset + bytes);
        if again {
            way.resent_packets += 1;
            way.resent_bytes += bytes;
        }
    }

    /// The offset in the stream, and whether the data came before.
    fn place(&mut self, way: usize, h: &Headers) -> (u64, bool) {
        let syn = h.flags & SYN != 0;
        let began = |first| Stream { first, highest: 0 };
        if syn {
            // Another connection of the same ports counts anew.
            let first = h.seq.wrapping_add(1);
            if self.streams[way].is_none_or(|s| s.first != first) {
                self.streams[way] = Some(began(first));
            }
            return (0, false);
        }
        if h.payload == 0 {
            return (self.streams[1 - way].map_or(0, |s| s.offset(h.ack)), false);
        }
        let stream = self.streams[way].get_or_insert(began(h.seq));
        let offset = stream.offset(h.seq);
        let end = offset + u64::from(h.payload);
        let again = end <= stream.highest;
        stream.highest = stream.highest.max(end);
        (offset, again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(back: bool, seq: u32, ack: u32, flags: u8, payload: u32) -> Headers {
        let (from, to, ports) = if back { (2, 1, (5001, 1024)) } else { (1, 2, (1024, 5001)) };
        Headers { from, to, ports, protocol: TCP, seq, ack, flags, payload, ..Headers::default() }
    }

    #[test]
    fn offsets_count_from_the_first_byte_and_do_not_wrap() {
        let mut book = Book::default();
        let start = u32::MAX - 1000;
        assert_eq!(book.note(Time::ZERO, &packet(false, start, 0, SYN, 0)).offset, 0);
        assert_eq!(book.note(Time::ZERO, &packet(true, 7, start + 1, SYN | 16, 0)).offset, 0);
        for k in 0..100u64 {
            let seq = start.wrapping_add(1).wrapping_add((k * 1000) as u32);
            let sent = book.note(Time::ZERO, &packet(false, seq, 8, 16, 1000));
            assert_eq!((sent.offset, sent.from_client, sent.again), (k * 1000, true, false));
            let ack = book.note(Time::ZERO, &packet(true, 8, seq.wrapping_add(1000), 16, 0));
            assert_eq!((ack.offset, ack.from_client), ((k + 1) * 1000, false));
        }
        let again = book.note(Time::ZERO, &packet(false, start.wrapping_add(1), 8, 16, 1000));
        assert_eq!((again.offset, again.copy, again.again), (0, 202, true));
        let way = book.connections[0].ways[0];
        assert_eq!((way.payload_bytes, way.stream_bytes, way.resent_bytes), (101_000, 100_000, 1000));
    }
}
