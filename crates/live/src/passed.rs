//! What passed the bridge, as rows name it: connections, packets, losses, waits.

use crate::frames::{Headers, SYN};
use instant::{Span, Time};
use links::{Cause, LinkId};

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
    /// The place among the connections observed.
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
    /// Until when it is being sent, if it leaves.
    pub until: Option<Time>,
    pub packets: u32,
    pub bytes: u64,
    pub which: Which,
}

impl Passed {
    pub(crate) fn new(ends: Ends) -> Passed {
        Passed { ends, ways: [Way::default(); 2], streams: [None; 2] }
    }

    /// The stream from one end, at its beginning.
    pub(crate) fn stream(&self, from_client: bool) -> Option<Stream> {
        self.streams[usize::from(!from_client)].map(|s| Stream { highest: 0, ..s })
    }

    pub(crate) fn count(&mut self, way: usize, now: Time, h: &Headers, offset: u64, again: bool) {
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
    pub(crate) fn place(&mut self, way: usize, h: &Headers) -> (u64, bool) {
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
