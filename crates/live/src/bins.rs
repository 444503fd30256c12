//! What came to the bridge and left it, interval by interval: counted while a run goes on.

use crate::passed::Which;
use instant::{Span, Time};

/// More intervals than this in one run are not kept.
pub const MOST: usize = 1 << 20;

/// One direction of one connection in one interval: packets of any kind, and the bytes of IP that they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub arrived_packets: u64,
    pub arrived_bytes: u64,
}

/// By connection, in the order in which they passed: from the client, and back.
#[derive(Clone, Debug)]
pub struct Bins {
    pub width: Span,
    pub ways: Vec<[Vec<Bin>; 2]>,
}

impl Bins {
    pub fn new(width: Span) -> Bins {
        Bins { width: width.max(Span(1)), ways: Vec::new() }
    }
    /// A packet came from a host.
    pub fn sent(&mut self, time: Time, which: &Which) {
        if let Some(bin) = self.bin(time, which) {
            bin.sent_packets += 1;
            bin.sent_bytes += u64::from(which.headers.len);
        }
    }
    /// It reaches its host.
    pub fn arrived(&mut self, time: Time, which: &Which) {
        if let Some(bin) = self.bin(time, which) {
            bin.arrived_packets += 1;
            bin.arrived_bytes += u64::from(which.headers.len);
        }
    }
    fn bin(&mut self, time: Time, which: &Which) -> Option<&mut Bin> {
        let at = usize::try_from((time - Time::ZERO).0.max(0) / self.width.0).ok().filter(|at| *at < MOST)?;
        let connection = which.connection as usize;
        if connection >= self.ways.len() {
            self.ways.resize_with(connection + 1, Default::default);
        }
        let way = &mut self.ways[connection][usize::from(!which.from_client)];
        if at >= way.len() {
            way.resize(at + 1, Bin::default());
        }
        way.get_mut(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Headers;

    #[test]
    fn a_packet_counts_where_it_came_and_where_it_arrived() {
        let headers = Headers { len: 100, ..Headers::default() };
        let which = |connection, from_client| Which {
            connection,
            from_client,
            copy: 0,
            came: Time::ZERO,
            offset: 0,
            again: false,
            headers,
        };
        let mut bins = Bins::new(Span::from_millis(10));
        bins.sent(Time(9_999_999), &which(1, false));
        bins.sent(Time(10_000_000), &which(1, false));
        bins.arrived(Time(25_000_000), &which(1, false));
        let counted: Vec<[u64; 4]> = bins.ways[1][1]
            .iter()
            .map(|b| [b.sent_packets, b.sent_bytes, b.arrived_packets, b.arrived_bytes])
            .collect();
        assert_eq!(counted, [[1, 100, 0, 0], [1, 100, 0, 0], [0, 0, 1, 100]]);
        assert!(bins.ways[1][0].is_empty() && bins.ways[0][0].is_empty());
        // As long as the run may be, what is beyond takes no memory.
        Bins::new(Span(1)).sent(Time(i64::MAX), &which(0, true));
    }
}
