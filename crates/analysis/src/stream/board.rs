//! What is outstanding: the segments between the cumulative ACK and the highest sequence number sent, in
//! sequence order, each with the copies that carried it.

use std::collections::VecDeque;
use wire::Time;

/// Place of a copy in transmission order, counting from 0 within the stream.
pub type Ordinal = u64;

/// A range of sequence space that was sent as one and has met one fate so far.
#[derive(Clone, Debug)]
pub struct Sent {
    pub start: u64,
    pub end: u64,
    /// When its first and its latest copy passed; for a hole, when it was revealed.
    pub first_time: Time,
    pub last_time: Time,
    pub first_ts: u32,
    pub last_ts: u32,
    pub first: Ordinal,
    pub last: Ordinal,
    /// Copies between the first and the last; most segments have none.
    between: Option<Box<Vec<Ordinal>>>,
    /// Copies seen; 0 for a hole, whose first copy went unseen (lost before it came here, or not captured).
    pub copies: u16,
    /// DSACKs that named it while it was outstanding.
    pub dsacks: u16,
    pub ip_id: u16,
    pub checksum: u16,
    pub sacked: bool,
    pub hole: bool,
    /// When it was first SACKed, by which time a copy must have arrived.
    pub sacked_time: Time,
    pub last_dsack: Time,
    pub fin: bool,
}

impl Sent {
    pub fn new(start: u64, end: u64, time: Time, ts: u32, ordinal: Ordinal) -> Sent {
        Sent {
            start,
            end,
            first_time: time,
            last_time: time,
            first_ts: ts,
            last_ts: ts,
            first: ordinal,
            last: ordinal,
            between: None,
            copies: 1,
            dsacks: 0,
            ip_id: 0,
            checksum: 0,
            sacked: false,
            hole: false,
            sacked_time: Time::FAR_PAST,
            last_dsack: Time::FAR_PAST,
            fin: false,
        }
    }
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
    /// Copies in all, the unseen one of a hole included.
    pub fn copies_in_all(&self) -> u32 {
        u32::from(self.copies) + u32::from(self.hole)
    }
    pub fn resent(&self) -> bool {
        self.copies_in_all() > 1
    }
    /// Another copy passed.
    pub fn add_copy(&mut self, ordinal: Ordinal, time: Time, ts: u32) {
        if self.copies_in_all() > 1 {
            self.between.get_or_insert_default().push(self.last);
        }
        self.last = ordinal;
        self.last_time = time;
        self.last_ts = ts;
        self.copies = self.copies.saturating_add(1);
    }
    /// Every copy, oldest first.
    pub fn ordinals(&self) -> impl DoubleEndedIterator<Item = Ordinal> + '_ {
        let between = self.between.iter().flat_map(|b| b.iter().copied());
        std::iter::once(self.first).chain(between).chain((self.last != self.first).then_some(self.last))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Board {
    segs: VecDeque<Sent>,
    pub sacked_bytes: u64,
    /// Outstanding segments that were sent more than once, or are holes.
    pub troubled: u32,
}

impl Board {
    pub fn is_empty(&self) -> bool {
        self.segs.is_empty()
    }
    pub fn front(&self) -> Option<&Sent> {
        self.segs.front()
    }
    pub fn get(&self, i: usize) -> Option<&Sent> {
        self.segs.get(i)
    }
    pub fn get_mut(&mut self, i: usize) -> Option<&mut Sent> {
        self.segs.get_mut(i)
    }
    pub fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.segs.iter()
    }
    pub fn push(&mut self, seg: Sent) {
        self.troubled += u32::from(seg.hole);
        self.segs.push_back(seg);
    }
    /// The segment that holds `offset`, if it is outstanding.
    pub fn find(&self, offset: u64) -> Option<usize> {
        let head = self.segs.front()?;
        if offset < head.start {
            return None;
        }
        if offset < head.end {
            return Some(0); // most repairs are of the head
        }
        let i = self.segs.partition_point(|s| s.end <= offset);
        (i < self.segs.len()).then_some(i)
    }
    /// Makes `at` a boundary between segments; returns the index of the segment that starts there.
    pub fn split_at(&mut self, i: usize, at: u64) -> usize {
        let seg = &mut self.segs[i];
        if at <= seg.start {
            return i;
        }
        if at >= seg.end {
            return i + 1;
        }
        let mut right = seg.clone();
        right.start = at;
        seg.end = at;
        seg.fin = false;
        self.troubled += u32::from(right.hole || right.copies > 1);
        self.segs.insert(i + 1, right);
        i + 1
    }
    /// Removes the front if all of it lies below `ack`; splits it if a part does.
    pub fn pop_acked(&mut self, ack: u64) -> Option<Sent> {
        let head = self.segs.front()?;
        if head.start >= ack {
            return None;
        }
        if head.end > ack {
            self.split_at(0, ack);
        }
        let seg = self.segs.pop_front()?;
        self.troubled -= u32::from(seg.hole || seg.copies > 1);
        if seg.sacked {
            self.sacked_bytes -= seg.len();
        }
        Some(seg)
    }
    /// Marks `[left, right)` as SACKed and hands each segment that newly is to `each`.
    pub fn sack(&mut self, left: u64, right: u64, now: Time, mut each: impl FnMut(&Sent)) {
        let Some(mut i) = self.find(left) else { return };
        // A block that only grew is walked from its growing end: skip what is known.
        i = self.split_at(i, left);
        while i < self.segs.len() && self.segs[i].start < right {
            if self.segs[i].sacked {
                i += 1;
                continue;
            }
            if self.segs[i].end > right {
                self.split_at(i, right);
            }
            let seg = &mut self.segs[i];
            seg.sacked = true;
            seg.sacked_time = now;
            self.sacked_bytes += seg.len();
            each(seg);
            i += 1;
        }
    }
    /// The share of memory that a quiet stream need not keep.
    pub fn shrink(&mut self) {
        if self.segs.is_empty() && self.segs.capacity() > 64 {
            self.segs = VecDeque::new();
        }
    }
    pub fn drain(&mut self) -> impl Iterator<Item = Sent> + '_ {
        self.sacked_bytes = 0;
        self.troubled = 0;
        self.segs.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(n: u64) -> Board {
        let mut b = Board::default();
        for k in 0..n {
            b.push(Sent::new(k * 100, k * 100 + 100, Time(k as i64), 0, k));
        }
        b
    }

    #[test]
    fn a_sack_block_marks_each_segment_once() {
        let mut b = board(10);
        let mut seen = Vec::new();
        b.sack(300, 500, Time(0), |s| seen.push(s.start));
        b.sack(300, 600, Time(1), |s| seen.push(s.start));
        assert_eq!(seen, [300, 400, 500]);
        assert_eq!(b.sacked_bytes, 300);
    }

    #[test]
    fn an_ack_inside_a_segment_splits_it() {
        let mut b = board(2);
        assert_eq!(b.pop_acked(150).map(|s| (s.start, s.end)), Some((0, 100)));
        assert_eq!(b.pop_acked(150).map(|s| (s.start, s.end)), Some((100, 150)));
        assert_eq!(b.pop_acked(150).map(|s| s.start), None);
        assert_eq!(b.front().map(|s| (s.start, s.end)), Some((150, 200)));
    }

    #[test]
    fn copies_are_listed_oldest_first() {
        let mut s = Sent::new(0, 100, Time(0), 0, 7);
        s.add_copy(9, Time(1), 0);
        s.add_copy(12, Time(2), 0);
        s.add_copy(20, Time(3), 0);
        assert_eq!(s.ordinals().collect::<Vec<_>>(), [7, 9, 12, 20]);
        assert_eq!(s.copies_in_all(), 4);
    }
}
