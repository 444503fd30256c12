//! Which transmissions were needless: known once the fate of every earlier copy of the same bytes is known.

use crate::rows::ResentRow;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    UnderWay,
    Lost,
    Arrived,
}

/// One transmission of a range of the stream.
#[derive(Clone, Copy, Debug)]
struct Copy {
    number: u64,
    offset: u64,
    end: u64,
    fate: Fate,
}

/// The copies of one direction of one connection, as long as they can matter.
#[derive(Debug, Default)]
pub struct Truth {
    /// In the order sent, so by number.
    copies: VecDeque<Copy>,
    /// Repairs whose earlier copies are still under way.
    open: Vec<ResentRow>,
}

impl Truth {
    /// New data leaves.
    pub fn sent(&mut self, number: u64, offset: u64, end: u64) {
        self.copies.push_back(Copy { number, offset, end, fate: Fate::UnderWay });
    }

    /// Data leaves that was sent before; `row.needless` is filled in here when it is settled.
    pub fn resent(&mut self, row: ResentRow) -> Option<ResentRow> {
        let end = row.packet.offset + u64::from(row.packet.payload_bytes);
        let settled = self.settle(&row);
        self.sent(row.packet.copy, row.packet.offset, end);
        if settled.is_none() {
            self.open.push(row);
        }
        settled
    }

    /// A copy arrived or was lost; rows that this settles go to `out`.
    pub fn ended(&mut self, number: u64, fate: Fate, una: u64, out: &mut Vec<ResentRow>) {
        if let Ok(at) = self.copies.binary_search_by_key(&number, |c| c.number) {
            // A packet that the network doubled has arrived if one of them did.
            if self.copies[at].fate != Fate::Arrived {
                self.copies[at].fate = fate;
            }
        }
        let mut i = 0;
        while i < self.open.len() {
            match self.settle(&self.open[i]) {
                Some(row) => {
                    self.open.remove(i);
                    out.push(row);
                }
                None => i += 1,
            }
        }
        if self.open.is_empty() {
            while self.copies.front().is_some_and(|c| c.end <= una && c.fate != Fate::UnderWay) {
                self.copies.pop_front();
            }
        }
    }

    /// The run is over: what is open stays so.
    pub fn unsettled(&mut self) -> Vec<ResentRow> {
        std::mem::take(&mut self.open)
    }

    /// Needless if copies that arrived cover the range; not yet known while one that could is under way.
    fn settle(&self, row: &ResentRow) -> Option<ResentRow> {
        let end = row.packet.offset + u64::from(row.packet.payload_bytes);
        let earlier = |fates: &[Fate]| {
            let mut ranges: Vec<(u64, u64)> = self
                .copies
                .iter()
                .filter(|c| c.number < row.packet.copy && c.offset < end && c.end > row.packet.offset)
                .filter(|c| fates.contains(&c.fate))
                .map(|c| (c.offset, c.end))
                .collect();
            ranges.sort_unstable();
            covers(&ranges, row.packet.offset, end)
        };
        let arrived = earlier(&[Fate::Arrived]);
        let possible = arrived || earlier(&[Fate::Arrived, Fate::UnderWay]);
        (arrived || !possible).then_some(ResentRow { needless: Some(arrived), ..*row })
    }
}

/// Do the ranges, sorted by their beginnings, cover `[from, to)`?
fn covers(ranges: &[(u64, u64)], from: u64, to: u64) -> bool {
    let mut reached = from;
    for &(begin, end) in ranges {
        if begin > reached {
            return false;
        }
        reached = reached.max(end);
    }
    reached >= to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Reason;
    use crate::rows::PacketFacts;
    use instant::Time;

    fn resent(copy: u64, offset: u64, len: u32) -> ResentRow {
        let packet = PacketFacts {
            connection: 0,
            forward: true,
            copy,
            offset,
            payload_bytes: len,
            reason: Reason::LossState,
            release: None,
        };
        ResentRow { time: Time(0), packet, needless: None }
    }

    #[test]
    fn a_repair_of_a_lost_copy_is_needed() {
        let mut t = Truth::default();
        t.sent(1, 0, 100);
        t.ended(1, Fate::Lost, 0, &mut vec![]);
        assert_eq!(t.resent(resent(2, 0, 100)).unwrap().needless, Some(false));
    }

    #[test]
    fn a_repair_is_settled_when_the_copy_under_way_ends() {
        for (fate, needless) in [(Fate::Arrived, true), (Fate::Lost, false)] {
            let mut t = Truth::default();
            let mut out = vec![];
            t.sent(1, 0, 100);
            assert!(t.resent(resent(2, 0, 100)).is_none());
            t.ended(1, fate, 0, &mut out);
            assert_eq!(out[0].needless, Some(needless));
        }
    }

    #[test]
    fn a_repair_of_two_segments_is_needed_if_one_was_lost() {
        let mut t = Truth::default();
        t.sent(1, 0, 100);
        t.sent(2, 100, 200);
        t.ended(1, Fate::Arrived, 0, &mut vec![]);
        t.ended(2, Fate::Lost, 0, &mut vec![]);
        assert_eq!(t.resent(resent(3, 0, 200)).unwrap().needless, Some(false));
        assert_eq!(t.resent(resent(4, 0, 100)).unwrap().needless, Some(true));
    }

    #[test]
    fn copies_are_forgotten_once_acknowledged() {
        let mut t = Truth::default();
        for n in 0..1000 {
            t.sent(n, n * 100, n * 100 + 100);
            t.ended(n, Fate::Arrived, n * 100, &mut vec![]);
        }
        assert!(t.copies.len() <= 2);
    }
}
