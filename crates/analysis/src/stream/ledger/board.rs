//! What is outstanding: the segments between the cumulative ACK and the highest sequence number sent, in
//! sequence order.

use super::entry::Entry;
use super::list::List;
use super::multi_copy::{MultiCopies, MultiCopy};
use super::{Acked, Ordinal};
use crate::prefetch;
use wire::Time;

#[derive(Clone, Debug, Default)]
pub struct Board {
    /// The outstanding segments, and the retired ones of which it is not yet decided which copy arrived.
    pub list: List,
    pub sacked_bytes: u64,
    /// Outstanding segments that were sent more than once, or are holes.
    pub resent_or_unseen: u32,
    /// How many segments have been acknowledged and removed from the front.
    left: u32,
    /// Where a SACK block ended last, counted from the first segment of all: most blocks grow there.
    edge: u32,
    /// Side records of segments that were sent more than once or named by a DSACK, kept after the acknowledgement
    /// until it is decided which copy arrived.
    pub repaired: MultiCopies,
    /// Segments looked at or moved, beyond the few that any packet needs (see `bounds`).
    pub steps: u64,
}

impl Board {
    /// More is to be put at the end soon.
    #[inline(always)]
    pub fn warm_end(&self) {
        if let Some(seg) = self.list.outstanding().last() {
            prefetch::lines(seg, 0, 2);
        }
    }
    /// The front is acknowledged soon, or more is SACKed where the last block ended.
    #[inline(always)]
    pub fn warm_for_ack(&self) {
        if let Some(front) = self.list.head() {
            prefetch::lines(front, 0, 1);
        }
        if let Some(edge) = self.get(self.at_edge()) {
            prefetch::lines(edge, 0, 1);
        }
    }
    fn at_edge(&self) -> usize {
        (self.edge.wrapping_sub(self.left) as i32).max(0) as usize
    }
    pub fn is_empty(&self) -> bool {
        self.list.head().is_none()
    }
    pub fn front(&self) -> Option<&Entry> {
        self.list.head()
    }
    pub fn get(&self, i: usize) -> Option<&Entry> {
        self.list.outstanding().get(i)
    }
    pub fn get_mut(&mut self, i: usize) -> Option<&mut Entry> {
        self.list.outstanding_mut().get_mut(i)
    }
    /// Another copy of segment `i` passed.
    pub fn add_copy(&mut self, i: usize, ordinal: Ordinal, time: Time, ts: u32) {
        let Some(seg) = self.list.outstanding_mut().get_mut(i) else { return };
        self.repaired.add_copy(seg, ordinal, time);
        seg.sent_again(time, ts);
        self.steps += 1;
    }
    /// Records the IP identification and checksum of the latest copy of segment `i`, which was retransmitted.
    pub fn note_ip_id_and_checksum(&mut self, i: usize, ip_id: u16, checksum: u16) {
        if let Some(of) = self.get(i).and_then(Entry::kept).and_then(|at| self.repaired.get_mut(at)) {
            (of.ip_id, of.checksum) = (ip_id, checksum);
        }
    }
    /// A DSACK named segment `i`.
    pub fn note_dsack(&mut self, i: usize, now: Time) {
        let Some(seg) = self.list.outstanding_mut().get_mut(i) else { return };
        if let Some(repaired) = self.repaired.keep(seg) {
            repaired.note_dsack(now);
        }
        self.steps += 1;
    }
    /// Goes through those that have left and wait to be told apart, from the range that ends behind `from` up to that
    /// which begins at `to`, until `each` says that it is enough.
    pub fn each_settling(&mut self, (from, to): (u64, u64), mut each: impl FnMut(&mut MultiCopy) -> bool) {
        // They were acknowledged in the order of their numbers.
        let left = self.list.retired();
        let first = left.partition_point(|l| l.end() <= from);
        for range in left[first..].iter().take_while(|l| l.start() < to) {
            self.steps += 1;
            if let Some(r) = range.kept().and_then(|at| self.repaired.get_mut(at))
                && !each(r)
            {
                break;
            }
        }
    }
    /// Copies of a segment that were seen; none of a hole, at first.
    #[inline]
    pub fn copies(&self, seg: &Entry) -> u32 {
        self.repaired.of(seg).map_or(u32::from(!seg.is_hole()), |r| r.copies.into())
    }
    /// Copies in all, the unseen one of a hole included.
    pub fn copies_in_all(&self, seg: &Entry) -> u32 {
        self.copies(seg) + u32::from(seg.is_hole())
    }
    /// It was never seen, and nobody said that it arrived.
    pub fn is_unfilled(&self, seg: &Entry) -> bool {
        seg.is_hole() && !seg.is_sacked() && self.copies(seg) == 0
    }
    pub fn is_resent_or_unseen(&self, seg: &Entry) -> bool {
        seg.is_hole() || self.copies(seg) > 1
    }
    #[inline(always)]
    pub fn push(&mut self, seg: Entry) {
        self.resent_or_unseen += u32::from(seg.is_hole());
        self.list.push(seg);
    }
    /// The same of the left end of what a SACK block says anew.
    #[inline]
    fn find_edge(&self, offset: u64) -> Option<usize> {
        let i = self.at_edge();
        match self.get(i) {
            Some(s) if s.start() == offset => Some(i),
            _ => self.find(offset),
        }
    }
    /// The segment that holds `offset`, if it is outstanding.
    pub fn find(&self, offset: u64) -> Option<usize> {
        let all = self.list.outstanding();
        let head = all.first()?;
        if offset < head.start() {
            return None;
        }
        if offset < head.end() {
            return Some(0); // most repairs are of the head
        }
        // Segments are mostly of one size, so the place can be guessed; looked at nearby, it costs one miss of
        // the cache instead of ten.
        let size = u64::from(head.len()).max(1);
        let guess = ((offset - head.start()) / size) as usize;
        if let Some(i) = near(all, guess.min(all.len() - 1), offset) {
            return Some(i);
        }
        let i = all.partition_point(|s| s.end() <= offset);
        (i < all.len()).then_some(i)
    }
    /// Makes `at` a boundary between segments; returns the index of the segment that starts there.
    #[inline]
    pub fn split_at(&mut self, i: usize, at: u64) -> usize {
        let Some(seg) = self.get(i) else { return i };
        match () {
            () if at <= seg.start() => i,
            () if at >= seg.end() => i + 1,
            () => self.split_inside(i, at),
        }
    }
    #[cold]
    fn split_inside(&mut self, i: usize, at: u64) -> usize {
        let Some(seg) = self.get_mut(i) else { return i };
        let (left, mut right) = seg.cut(at);
        *seg = left;
        self.repaired.part(&mut right);
        self.resent_or_unseen += u32::from(self.is_resent_or_unseen(&right));
        // Half a step each: they move as one piece of memory.
        self.steps += self.list.insert(i + 1, right) as u64 / 2;
        i + 1
    }
    /// Removes the front if all of it lies below `ack` and it was sent just once.
    #[inline(always)]
    pub fn pop_plain(&mut self, ack: u64) -> Option<Entry> {
        let head = self.front()?;
        if head.end() > ack || !(head.is_plain() || self.has_record_for_dsack_only(head)) {
            return None;
        }
        let seg = self.list.pop()?;
        self.left = self.left.wrapping_add(1);
        if seg.is_sacked() {
            self.sacked_bytes -= u64::from(seg.len());
        }
        Some(seg)
    }
    /// The segment was seen and sent once; it has a side record only because a DSACK named it.
    #[cold]
    fn has_record_for_dsack_only(&self, seg: &Entry) -> bool {
        !seg.is_hole() && self.copies(seg) == 1
    }
    pub fn len(&self) -> usize {
        self.list.outstanding().len()
    }
    pub fn pop_front(&mut self) -> Option<Entry> {
        let seg = self.list.pop()?;
        self.left = self.left.wrapping_add(1);
        self.resent_or_unseen -= u32::from(self.is_resent_or_unseen(&seg));
        if seg.is_sacked() {
            self.sacked_bytes -= u64::from(seg.len());
        }
        Some(seg)
    }
    /// Removes the front if all of it lies below `ack`; splits it if a part does.
    pub fn pop_acked(&mut self, ack: u64) -> Option<Entry> {
        let head = self.front()?;
        if head.start() >= ack {
            return None;
        }
        if head.end() > ack {
            self.split_at(0, ack);
        }
        self.pop_front()
    }
    /// Marks `[left, right)` as SACKed and hands each segment that newly is to `each`.
    pub fn sack(&mut self, left: u64, right: u64, now: Time, mut each: impl FnMut(&Entry, &Acked)) {
        let Some(mut i) = self.find_edge(left) else { return };
        // The walk begins at `left`, where the new part of the block begins, so a block that only grew is not walked
        // again from its start.
        i = self.split_at(i, left);
        let first = i;
        loop {
            let mut ends_inside = false;
            for seg in self.list.outstanding_mut().get_mut(i..).unwrap_or_default() {
                if seg.start() >= right {
                    break;
                }
                if !seg.is_sacked() {
                    if seg.end() > right {
                        ends_inside = true;
                        break;
                    }
                    seg.note_sack();
                    let repaired = seg.kept().and_then(|at| self.repaired.get_mut(at)).map(|r| {
                        r.reported = now;
                        &*r
                    });
                    self.sacked_bytes += u64::from(seg.len());
                    let acked = Acked::of(seg, repaired);
                    each(seg, &acked);
                }
                i += 1;
            }
            if !ends_inside {
                break;
            }
            self.split_at(i, right);
        }
        self.edge = self.left.wrapping_add(i as u32);
        self.steps += (i - first) as u64;
    }
    /// As if new, with the room it has.
    pub fn clear(&mut self) {
        self.list.clear();
        self.repaired = MultiCopies::default();
        (self.sacked_bytes, self.resent_or_unseen, self.left, self.edge, self.steps) = (0, 0, 0, 0, 0);
    }
}

/// The one that holds `offset`, if it lies close to the `guess`.
fn near(all: &[Entry], guess: usize, offset: u64) -> Option<usize> {
    let mut i = guess;
    for _ in 0..8 {
        let s = all.get(i)?;
        if offset < s.start() {
            i = i.checked_sub(1)?;
        } else if offset >= s.end() {
            i += 1;
        } else {
            return Some(i);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(n: u64) -> Board {
        let mut b = Board::default();
        for k in 0..n {
            b.push(Entry::new(k * 100, k * 100 + 100, Time(k as i64), 0, k));
        }
        b
    }

    #[test]
    fn a_sack_block_marks_each_segment_once() {
        let mut b = board(10);
        let mut seen = Vec::new();
        b.sack(300, 500, Time(0), |_, s| seen.push(s.end));
        b.sack(300, 600, Time(1), |_, s| seen.push(s.end));
        assert_eq!(seen, [400, 500, 600]);
        assert_eq!(b.sacked_bytes, 300);
    }

    #[test]
    fn an_ack_inside_a_segment_splits_it() {
        let mut b = board(2);
        assert_eq!(b.pop_acked(150).map(|s| (s.start(), s.end())), Some((0, 100)));
        assert_eq!(b.pop_acked(150).map(|s| (s.start(), s.end())), Some((100, 150)));
        assert_eq!(b.pop_acked(150).map(|s| s.start()), None);
        assert_eq!(b.front().map(|s| (s.start(), s.end())), Some((150, 200)));
    }
}
