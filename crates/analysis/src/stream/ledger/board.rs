//! What is outstanding: the segments between the cumulative ACK and the highest sequence number sent, in
//! sequence order, each with the copies that carried it.

use super::{Outstanding, Passing};
use crate::prefetch;
use crate::stream::queue::Queue;
use smallvec::SmallVec;
use wire::Time;

/// Place of a copy in transmission order, counting from 0 within the stream.
pub type Ordinal = u64;

/// A range of sequence space that was sent as one and has met one fate so far.
///
/// Windows hold thousands of these, so what only a segment that was sent again needs is kept apart.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    pub start: u64,
    /// When its latest copy passed; for a hole, when it was revealed.
    pub last_time: Time,
    pub first: Ordinal,
    more: Option<Box<More>>,
    len: u32,
    pub last_ts: u32,
    pub ip_id: u16,
    pub checksum: u16,
    /// Copies seen; 0 for a hole, whose first copy went unseen (lost before it came here, or not captured).
    pub copies: u8,
    pub sacked: bool,
    pub hole: bool,
    pub origin: Origin,
}

/// Whose its first copy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Own,
    /// Its own, which was never seen here.
    Unseen,
    /// A retransmission's, which carried new data besides.
    Rest,
}

/// What a segment sent more than once needs besides.
#[derive(Clone, Debug)]
struct More {
    first_time: Time,
    first_ts: u32,
    /// When the first copy would have been here, where that is told apart from when it was sent.
    due: Option<Time>,
    /// When it was first SACKed, by which time a copy must have arrived.
    sacked_time: Time,
    /// DSACKs that named it while it was outstanding.
    dsacks: u32,
    last_dsack: Time,
    /// Copies after the first: mostly one.
    later: SmallVec<[Ordinal; 1]>,
}

impl Sent {
    pub fn new(start: u64, end: u64, time: Time, ts: u32, ordinal: Ordinal) -> Sent {
        Sent {
            start,
            last_time: time,
            first: ordinal,
            more: None,
            len: (end - start) as u32,
            last_ts: ts,
            ip_id: 0,
            checksum: 0,
            copies: 1,
            sacked: false,
            hole: false,
            origin: Origin::Own,
        }
    }
    /// What of a copy lies from `start` on.
    #[inline(always)]
    pub fn of(p: &Passing, start: u64, ordinal: Ordinal) -> Sent {
        Sent { ip_id: p.ip_id, checksum: p.checksum, ..Sent::new(start, p.end, p.time, p.ts, ordinal) }
    }
    /// The same, where the copy repeated what lies before `start`.
    pub fn rest_of(p: &Passing, start: u64, ordinal: Ordinal) -> Sent {
        Sent { origin: Origin::Rest, ..Sent::of(p, start, ordinal) }
    }
    pub fn as_it_stands(&self) -> Outstanding {
        Outstanding {
            end: self.end(),
            first_time: self.first_time(),
            first_ts: self.first_ts(),
            last_time: self.last_time,
            last_ts: self.last_ts,
            ip_id: self.ip_id,
            checksum: self.checksum,
            hole: self.hole,
            sacked: self.sacked,
            copies: self.copies.into(),
            copies_in_all: self.copies_in_all(),
        }
    }
    /// A range that must have been sent and was not seen.
    pub fn hole(start: u64, end: u64, time: Time, ts: u32, ordinal: Ordinal) -> Sent {
        Sent { hole: true, copies: 0, origin: Origin::Unseen, ..Sent::new(start, end, time, ts, ordinal) }
    }
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
    pub fn len(&self) -> u64 {
        u64::from(self.len)
    }
    /// It was never seen, and nobody said that it arrived.
    pub fn is_unfilled(&self) -> bool {
        self.hole && self.copies == 0 && !self.sacked
    }
    /// Copies in all, the unseen one of a hole included.
    pub fn copies_in_all(&self) -> u32 {
        u32::from(self.copies) + u32::from(self.hole)
    }
    pub fn resent(&self) -> bool {
        self.copies_in_all() > 1
    }
    pub fn first_time(&self) -> Time {
        self.more.as_ref().map_or(self.last_time, |m| m.first_time)
    }
    pub fn first_ts(&self) -> u32 {
        self.more.as_ref().map_or(self.last_ts, |m| m.first_ts)
    }
    /// Nothing from this copy on is certain before it is acknowledged.
    #[inline(always)]
    pub fn holds_back(&self) -> Ordinal {
        self.first + u64::from(self.origin == Origin::Rest)
    }
    /// When its first copy passed, or would have.
    pub fn copy_time(&self) -> Time {
        self.more.as_ref().and_then(|m| m.due).unwrap_or(self.first_time())
    }
    pub fn set_due(&mut self, due: Time) {
        self.more().due = Some(due);
    }
    pub fn last(&self) -> Ordinal {
        self.more.as_ref().and_then(|m| m.later.last().copied()).unwrap_or(self.first)
    }
    pub fn dsacks(&self) -> u32 {
        self.more.as_ref().map_or(0, |m| m.dsacks)
    }
    pub fn last_dsack(&self) -> Time {
        self.more.as_ref().map_or(Time::FAR_PAST, |m| m.last_dsack)
    }
    fn more(&mut self) -> &mut More {
        let (first_time, first_ts) = (self.last_time, self.last_ts);
        self.more.get_or_insert_with(|| {
            Box::new(More {
                first_time,
                first_ts,
                due: None,
                sacked_time: Time::FAR_FUTURE,
                dsacks: 0,
                last_dsack: Time::FAR_PAST,
                later: SmallVec::new(),
            })
        })
    }
    /// When a SACK first reported it, as far as that matters: for what was sent again.
    pub fn sacked_time(&self) -> Time {
        self.more.as_ref().map_or(Time::FAR_FUTURE, |m| m.sacked_time)
    }
    fn note_dsack(&mut self, now: Time) {
        let more = self.more();
        more.dsacks = more.dsacks.saturating_add(1);
        more.last_dsack = now;
    }
    /// Another copy passed.
    pub fn add_copy(&mut self, ordinal: Ordinal, time: Time, ts: u32) {
        let already = self.sacked;
        let more = self.more();
        more.later.push(ordinal);
        if already {
            more.sacked_time = more.sacked_time.min(time);
        }
        self.last_time = time;
        self.last_ts = ts;
        self.copies = self.copies.saturating_add(1);
    }
    /// What it takes besides its place on the board.
    fn more_bytes(&self) -> u64 {
        self.more.as_ref().map_or(0, |m| (size_of::<More>() + m.later.len() * size_of::<Ordinal>()) as u64)
    }
    /// Every copy, oldest first.
    pub fn ordinals(&self) -> impl DoubleEndedIterator<Item = Ordinal> + '_ {
        let later = self.more.iter().flat_map(|m| m.later.iter().copied());
        std::iter::once(self.first).chain(later)
    }
}

/// A segment that was sent once and is acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    pub end: u64,
    pub len: u32,
    pub sacked: bool,
    pub time: Time,
    pub ts: u32,
}

#[derive(Clone, Debug, Default)]
pub struct Board {
    segs: Queue<Sent>,
    pub sacked_bytes: u64,
    /// Outstanding segments that were sent more than once, or are holes.
    pub troubled: u32,
    /// Segments that have left at the front.
    left: u64,
    /// Where a SACK block ended last, counted from the first segment of all: most blocks grow there.
    edge: u64,
    /// What segments sent more than once take besides, bytes.
    pub more_bytes: u64,
    /// Segments looked at or moved, beyond the few that any packet needs (see `bounds`).
    pub steps: u64,
}

impl Board {
    /// More is to be put at the end soon.
    #[inline(always)]
    pub fn warm_end(&self) {
        if let Some(seg) = self.segs.back() {
            prefetch::lines(seg, 0, 2);
        }
    }
    /// The front is acknowledged soon, or more is SACKed where the last block ended.
    #[inline(always)]
    pub fn warm_for_ack(&self) {
        if let Some(front) = self.segs.front() {
            prefetch::lines(front, 0, 2);
        }
        if let Some(edge) = self.segs.get(self.edge.saturating_sub(self.left) as usize) {
            prefetch::lines(edge, 0, 1);
        }
    }
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
    /// Another copy of segment `i` passed.
    pub fn add_copy(&mut self, i: usize, ordinal: Ordinal, time: Time, ts: u32) {
        self.grow(i, |seg| seg.add_copy(ordinal, time, ts));
    }
    /// A DSACK named segment `i`.
    pub fn note_dsack(&mut self, i: usize, now: Time) {
        self.grow(i, |seg| seg.note_dsack(now));
    }
    fn grow(&mut self, i: usize, with: impl FnOnce(&mut Sent)) {
        let Some(seg) = self.segs.get_mut(i) else { return };
        let before = seg.more_bytes();
        with(seg);
        self.more_bytes += seg.more_bytes() - before;
        self.steps += 1;
    }
    #[inline(always)]
    pub fn push(&mut self, seg: Sent) {
        self.troubled += u32::from(seg.hole);
        if seg.more.is_some() {
            self.more_bytes += seg.more_bytes();
        }
        self.segs.push(seg);
    }
    /// The same of the left end of what a SACK block says anew.
    #[inline]
    fn find_edge(&self, offset: u64) -> Option<usize> {
        let i = self.edge.saturating_sub(self.left) as usize;
        match self.segs.get(i) {
            Some(s) if s.start == offset => Some(i),
            _ => self.find(offset),
        }
    }
    /// The segment that holds `offset`, if it is outstanding.
    pub fn find(&self, offset: u64) -> Option<usize> {
        let head = self.segs.front()?;
        if offset < head.start {
            return None;
        }
        if offset < head.end() {
            return Some(0); // most repairs are of the head
        }
        // Segments are mostly of one size, so the place can be guessed; looked at nearby, it costs one miss of
        // the cache instead of ten.
        let size = u64::from(head.len).max(1);
        let guess = ((offset - head.start) / size) as usize;
        if let Some(i) = self.near(guess.min(self.segs.len() - 1), offset) {
            return Some(i);
        }
        let i = self.segs.all().partition_point(|s| s.end() <= offset);
        (i < self.segs.len()).then_some(i)
    }
    fn near(&self, guess: usize, offset: u64) -> Option<usize> {
        let mut i = guess;
        for _ in 0..8 {
            let s = self.segs.get(i)?;
            if offset < s.start {
                i = i.checked_sub(1)?;
            } else if offset >= s.end() {
                i += 1;
            } else {
                return Some(i);
            }
        }
        None
    }
    /// Makes `at` a boundary between segments; returns the index of the segment that starts there.
    #[inline]
    pub fn split_at(&mut self, i: usize, at: u64) -> usize {
        let Some(seg) = self.segs.get(i) else { return i };
        match () {
            () if at <= seg.start => i,
            () if at >= seg.end() => i + 1,
            () => self.split_inside(i, at),
        }
    }
    #[cold]
    fn split_inside(&mut self, i: usize, at: u64) -> usize {
        let Some(seg) = self.segs.get_mut(i) else { return i };
        let mut right = seg.clone();
        right.start = at;
        right.len = (seg.end() - at) as u32;
        seg.len = (at - seg.start) as u32;
        self.troubled += u32::from(right.hole || right.copies > 1);
        self.more_bytes += right.more_bytes();
        // Half a step each: they move as one piece of memory.
        self.steps += self.segs.insert(i + 1, right) as u64 / 2;
        i + 1
    }
    /// Removes the front if all of it lies below `ack` and it was sent just once: what it says of itself is its
    /// length, whether it was SACKed before, its time and timestamp.
    #[inline]
    pub fn pop_plain(&mut self, ack: u64, each: impl FnOnce(&Sent)) -> Option<Plain> {
        let head = self.segs.front()?;
        if head.end() > ack || head.hole || head.copies != 1 {
            return None;
        }
        let plain = Plain {
            end: head.end(),
            len: head.len,
            sacked: head.sacked,
            time: head.last_time,
            ts: head.last_ts,
        };
        if plain.sacked {
            self.sacked_bytes -= u64::from(plain.len);
        }
        if head.more.is_some() {
            self.more_bytes -= head.more_bytes();
        }
        each(head);
        self.segs.drop_front();
        self.left += 1;
        Some(plain)
    }
    /// The copy of the second segment outstanding.
    pub fn second(&self) -> Option<Ordinal> {
        self.segs.get(1).map(|s| s.first)
    }
    pub fn len(&self) -> usize {
        self.segs.len()
    }
    pub fn pop_front(&mut self) -> Option<Sent> {
        let seg = self.segs.pop_front()?;
        self.left += 1;
        self.troubled -= u32::from(seg.hole || seg.copies > 1);
        self.more_bytes -= seg.more_bytes();
        if seg.sacked {
            self.sacked_bytes -= seg.len();
        }
        Some(seg)
    }
    /// Removes the front if all of it lies below `ack`; splits it if a part does.
    pub fn pop_acked(&mut self, ack: u64) -> Option<Sent> {
        let head = self.segs.front()?;
        if head.start >= ack {
            return None;
        }
        if head.end() > ack {
            self.split_at(0, ack);
        }
        self.pop_front()
    }
    /// Marks `[left, right)` as SACKed and hands each segment that newly is to `each`.
    pub fn sack(&mut self, left: u64, right: u64, now: Time, mut each: impl FnMut(&Sent)) {
        let Some(mut i) = self.find_edge(left) else { return };
        // A block that only grew is walked from its growing end: skip what is known.
        i = self.split_at(i, left);
        let first = i;
        loop {
            let mut ends_inside = false;
            for seg in self.segs.all_mut().get_mut(i..).unwrap_or_default() {
                if seg.start >= right {
                    break;
                }
                if !seg.sacked {
                    if seg.end() > right {
                        ends_inside = true;
                        break;
                    }
                    seg.sacked = true;
                    if let Some(more) = &mut seg.more {
                        more.sacked_time = now;
                    }
                    self.sacked_bytes += seg.len();
                    each(seg);
                }
                i += 1;
            }
            if !ends_inside {
                break;
            }
            self.split_at(i, right);
        }
        self.edge = self.left + i as u64;
        self.steps += (i - first) as u64;
    }
    /// The share of memory that a quiet stream need not keep.
    pub fn shrink(&mut self) {
        self.segs.trim();
    }
    /// As if new, with the room it has.
    pub fn clear(&mut self) {
        self.segs.clear();
        (self.sacked_bytes, self.troubled, self.left, self.edge) = (0, 0, 0, 0);
        (self.more_bytes, self.steps) = (0, 0);
    }
    pub fn drain(&mut self) -> impl Iterator<Item = Sent> + '_ {
        (self.sacked_bytes, self.troubled, self.more_bytes) = (0, 0, 0);
        self.segs.drain()
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
        assert_eq!(b.pop_acked(150).map(|s| (s.start, s.end())), Some((0, 100)));
        assert_eq!(b.pop_acked(150).map(|s| (s.start, s.end())), Some((100, 150)));
        assert_eq!(b.pop_acked(150).map(|s| s.start), None);
        assert_eq!(b.front().map(|s| (s.start, s.end())), Some((150, 200)));
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
