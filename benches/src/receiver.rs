//! A receiver with SACK: which acknowledgment does each segment that arrives call for?

/// An acknowledgment in units of segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// All segments below this one have arrived.
    pub cumulative: u64,
    /// The latest change first, `start..end` each (RFC 2018 §4); three fit beside timestamps.
    pub sack: [Option<(u64, u64)>; 3],
    pub ts_echo: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Receiver {
    next: u64,
    /// What lies beyond a hole, the latest change first.
    beyond: Vec<(u64, u64)>,
    unacknowledged: u8,
    last_ack: u64,
    ts_recent: u32,
}

impl Receiver {
    /// Segment `n` arrives. Out of order or filling a hole it is acknowledged at once, otherwise every second
    /// one is (RFC 5681 §4.2).
    pub fn arrives(&mut self, n: u64, ts_val: u32) -> Option<Ack> {
        if n <= self.last_ack {
            self.ts_recent = ts_val; // RFC 7323 §4.3 (2)
        }
        let had_hole = !self.beyond.is_empty();
        if n == self.next {
            self.next += 1;
            if let Some(i) = self.beyond.iter().position(|r| r.0 == self.next) {
                self.next = self.beyond.remove(i).1;
            }
        } else if n > self.next {
            self.store(n);
        }
        self.unacknowledged += 1;
        if !had_hole && self.beyond.is_empty() && self.unacknowledged < 2 {
            return None;
        }
        self.unacknowledged = 0;
        self.last_ack = self.next;
        let mut ack = Ack { cumulative: self.next, sack: [None; 3], ts_echo: self.ts_recent };
        for (slot, &range) in ack.sack.iter_mut().zip(&self.beyond) {
            *slot = Some(range);
        }
        Some(ack)
    }

    fn store(&mut self, n: u64) {
        let mut merged = (n, n + 1);
        self.beyond.retain(|&(start, end)| {
            let touches = start <= merged.1 && merged.0 <= end;
            if touches {
                merged = (merged.0.min(start), merged.1.max(end));
            }
            !touches
        });
        self.beyond.insert(0, merged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_segment_is_acknowledged_while_all_is_in_order() {
        let mut r = Receiver::default();
        assert_eq!(r.arrives(0, 1), None);
        let ack = r.arrives(1, 2).unwrap();
        assert_eq!((ack.cumulative, ack.ts_echo), (2, 1), "the echo is that of the first of the two");
    }

    #[test]
    fn segments_beyond_holes_are_reported_the_latest_first() {
        let mut r = Receiver::default();
        assert_eq!(r.arrives(1, 5).unwrap().sack, [Some((1, 2)), None, None]);
        assert_eq!(r.arrives(3, 5).unwrap().sack, [Some((3, 4)), Some((1, 2)), None]);
        assert_eq!(r.arrives(2, 5).unwrap().sack, [Some((1, 4)), None, None]);
        let filled = r.arrives(0, 6).unwrap();
        assert_eq!((filled.cumulative, filled.sack[0], filled.ts_echo), (4, None, 6));
    }
}
