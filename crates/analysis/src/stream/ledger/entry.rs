//! A first copy in 32 bytes, from when it passes until all that was sent before it is told.

use super::multi_copy::{MultiCopies, MultiCopy};
use super::{CopySeen, Ordinal, copy::distance};
use wire::Time;

/// Whose a range's first copy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    #[default]
    Own,
    /// Its own, which was never seen here.
    Unseen,
    /// A retransmission's, which carried new data besides.
    Rest,
}

/// A range of sequence space that was sent as one and has met one fate so far.
///
/// It stays an entry when it is outstanding no more; then one entry may stand for a run: several that left one after the
/// other, all of them arrived. What only a range that was sent again needs is a [`MultiCopy`] of the ledger's, which
/// goes when its copies have been told apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// Where it begins, in the upper 48 bits; marks in eight; the upper eight of 40 of its first copy's ordinal.
    place: u64,
    /// While it is outstanding: the time of its latest copy; of a hole, the time at which it was revealed. Once it is
    /// retired: when it is to be decided which copy arrived, and after that decision the time of its first copy.
    pub time: Time,
    first: u32,
    len: u32,
    /// The timestamp of its latest copy; once it has left, how many more copies it stands for.
    stamp: u32,
    /// IP identification and checksum, or the place of its `MultiCopy`; once it is decided which copy arrived, the
    /// distance to the copy that repaired it first, 0 if none did.
    more: u32,
}

const SACKED: u64 = 1 << 8;
const HOLE: u64 = 1 << 9;
const UNSEEN: u64 = 1 << 10;
const REST: u64 = 1 << 11;
/// More is known of it: it has a `MultiCopy`.
const KEPT: u64 = 1 << 12;
/// Once it has left: it stands for itself, not for a run; it was lost; the stream ended before that was known.
const ALONE: u64 = 1 << 13;
const LOST: u64 = 1 << 14;
const OPEN: u64 = 1 << 15;
const MARKS: u64 = 0xff00;

impl Entry {
    #[inline(always)]
    pub fn new(start: u64, end: u64, time: Time, ts: u32, ordinal: Ordinal) -> Entry {
        let place = start << 16 | (ordinal >> 32 & 0xff);
        Entry { place, time, first: ordinal as u32, len: (end - start) as u32, stamp: ts, more: 0 }
    }
    /// What of a copy lies from `start` on.
    #[inline(always)]
    pub fn of(p: &CopySeen, start: u64, ordinal: Ordinal) -> Entry {
        Entry { more: packed(p.ip_id, p.checksum), ..Entry::new(start, p.end, p.time, p.ts, ordinal) }
    }
    /// The same, where the copy repeated what lies before `start`.
    pub fn rest_of(p: &CopySeen, start: u64, ordinal: Ordinal) -> Entry {
        Entry::of(p, start, ordinal).marked(REST)
    }
    /// A range that must have been sent and was not seen, revealed by a packet with this IP identification.
    pub fn hole(start: u64, end: u64, time: Time, ts: u32, ordinal: Ordinal, ip_id: u16) -> Entry {
        Entry { more: packed(ip_id, 0), ..Entry::new(start, end, time, ts, ordinal) }.marked(HOLE | UNSEEN)
    }
    fn marked(mut self, marks: u64) -> Entry {
        self.place |= marks;
        self
    }
    #[inline(always)]
    fn has(&self, marks: u64) -> bool {
        self.place & marks != 0
    }

    #[inline(always)]
    pub fn start(&self) -> u64 {
        self.place >> 16
    }
    #[inline(always)]
    pub fn end(&self) -> u64 {
        self.start() + u64::from(self.len)
    }
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }
    /// Which copy it is.
    #[inline(always)]
    pub fn first(&self) -> Ordinal {
        (self.place & 0xff) << 32 | u64::from(self.first)
    }
    /// Nothing from this copy on is certain before it is acknowledged and settled.
    #[inline(always)]
    pub fn holds_back(&self) -> Ordinal {
        self.first() + u64::from(self.has(REST))
    }
    pub fn origin(&self) -> Origin {
        match () {
            () if self.has(REST) => Origin::Rest,
            () if self.has(UNSEEN) => Origin::Unseen,
            () => Origin::Own,
        }
    }
    /// It was sent and seen once, and nothing else is to be said of it.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        !self.has(HOLE | KEPT)
    }
    pub fn is_hole(&self) -> bool {
        self.has(HOLE)
    }
    #[inline(always)]
    pub fn is_sacked(&self) -> bool {
        self.has(SACKED)
    }
    /// A SACK block reports it.
    #[inline(always)]
    pub fn note_sack(&mut self) {
        self.place |= SACKED;
    }
    pub fn last_ts(&self) -> u32 {
        self.stamp
    }
    /// The place of its `MultiCopy`.
    #[inline(always)]
    pub fn kept(&self) -> Option<u32> {
        self.has(KEPT).then_some(self.more)
    }
    pub fn keep(&mut self, at: u32) {
        (self.place, self.more) = (self.place | KEPT, at);
    }
    /// IP identification and checksum, of one that has no `MultiCopy`.
    pub fn ip_id_and_checksum(&self) -> (u16, u16) {
        ((self.more >> 16) as u16, self.more as u16)
    }
    /// Another copy of it passed.
    pub fn sent_again(&mut self, time: Time, ts: u32) {
        (self.time, self.stamp) = (time, ts);
    }
    /// It was overtaken, and is no hole.
    pub fn fill(&mut self) {
        self.place &= !HOLE;
    }
    /// Cut in two at an offset inside: what is left of it, and what is right.
    pub fn cut(&self, at: u64) -> (Entry, Entry) {
        let left = (at - self.start()) as u32;
        let place = at << 16 | self.place & 0xffff;
        (Entry { len: left, ..*self }, Entry { place, len: self.len - left, ..*self })
    }
}

/// One that is outstanding no more.
impl Entry {
    /// It arrived, or no more is asked of it: nothing is kept of it besides.
    #[inline(always)]
    pub fn leave(mut self, repaired: &mut MultiCopies) -> Entry {
        let kept = self.kept();
        self.place &= !(MARKS ^ UNSEEN ^ REST);
        (self.stamp, self.more) = (0, 0);
        if let Some(r) = kept.and_then(|at| repaired.take(at)) {
            self.told_apart(&r, false);
        }
        self
    }
    /// The stream ends before its fate is known.
    pub fn leave_open(self, repaired: &mut MultiCopies) -> Entry {
        self.leave(repaired).marked(OPEN | ALONE)
    }
    /// Its copies wait until then to be told apart.
    pub fn leave_settling(mut self, until: Time) -> Entry {
        (self.time, self.stamp) = (until, 0);
        self.place &= !SACKED;
        self.marked(ALONE)
    }
    /// Never seen, and acknowledged all the same.
    pub fn unseen(first: Ordinal, start: u64, end: u64, time: Time) -> Entry {
        Entry::new(start, end, time, 0, first)
    }
    /// Its copies were told apart: was the first of them lost?
    pub fn told_apart(&mut self, of: &MultiCopy, lost: bool) {
        self.time = of.due;
        self.more = of.later.first().map_or(0, |by| distance(self.first(), *by));
        self.place = self.place & !KEPT | if lost { LOST } else { 0 };
    }
    /// The last copy that it stands for.
    #[inline(always)]
    pub fn last(&self) -> Ordinal {
        self.first() + u64::from(self.stamp)
    }
    /// Another one arrived, the next copy: if there is room, it stands for that, too.
    #[inline(always)]
    pub fn extend(&mut self, by: &Entry) -> bool {
        let len = u32::try_from(by.end() - self.start());
        let Ok(len) = len else { return false };
        (self.len, self.stamp) = (len, self.stamp + 1);
        true
    }
    pub fn stand_alone(&mut self) {
        self.place |= ALONE;
    }
    pub fn is_alone(&self) -> bool {
        self.has(ALONE)
    }
    pub fn is_lost(&self) -> bool {
        self.has(LOST)
    }
    pub fn is_open(&self) -> bool {
        self.has(OPEN)
    }
    /// The copy that repaired it first, as a distance in transmission order; 0 if none did, or its copies wait yet.
    pub fn repair(&self) -> u32 {
        if self.has(KEPT) { 0 } else { self.more }
    }
}

fn packed(ip_id: u16, checksum: u16) -> u32 {
    u32::from(ip_id) << 16 | u32::from(checksum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_half_a_line_of_the_cache_and_holds_long_streams() {
        assert_eq!(size_of::<Entry>(), 32);
        let (start, ordinal) = (1 << 47, (1 << 39) + 7);
        let seg = Entry::hole(start, start + 3000, Time(5), 6, ordinal, 77);
        assert_eq!((seg.start(), seg.end(), seg.first()), (start, start + 3000, ordinal));
        let (left, right) = seg.cut(start + 1000);
        assert_eq!((left.start(), left.end()), (start, start + 1000));
        assert_eq!((right.start(), right.end(), right.first()), (start + 1000, start + 3000, ordinal));
        assert!(right.is_hole() && right.origin() == Origin::Unseen && right.ip_id_and_checksum() == (77, 0));
    }

    #[test]
    fn what_is_kept_of_an_entry_goes_when_its_copies_are_told_apart() {
        let mut all = MultiCopies::default();
        let mut seg = Entry::new(0, 100, Time(1), 0, 7);
        for ordinal in [9, 12, 20] {
            all.add_copy(&mut seg, ordinal, Time(ordinal as i64));
            seg.sent_again(Time(ordinal as i64), 0);
        }
        let mut right = seg.cut(60).1;
        all.part(&mut right);
        assert_eq!((size_of::<MultiCopy>(), all.held()), (88, 2 * (88 + 3 * 8)));
        let of = all.take(seg.kept().expect("it was sent again")).expect("it was kept");
        assert_eq!((of.later.as_slice(), of.copies, of.first_time), ([9, 12, 20].as_slice(), 4, Time(1)));
        seg.told_apart(&of, true);
        assert_eq!((seg.repair(), seg.time, seg.is_lost(), seg.kept()), (2, Time(1), true, None));
        assert_eq!(all.of(&right).map(|r| r.copies), Some(4));
        right.leave(&mut all);
        assert_eq!(all.held(), 0);
    }
}
