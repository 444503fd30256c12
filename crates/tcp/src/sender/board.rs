//! What was sent and not yet acknowledged: one entry a segment, and the SACK scoreboard over them.
//!
//! The board records and counts; which segments are lost is for `detect` to say. Every segment is entered, SACKed,
//! found lost, resent and acknowledged at most a few times, and each of these costs O(1): an ACK that repeats
//! known blocks touches no segment.

mod by_rate;
mod by_time;
mod lost;
mod next;
mod packets;

use super::runs::Runs;
use crate::queue::Queue;
use crate::sampler::rate::Rates;
use by_time::ByTime;
pub(crate) use by_time::{Found, TimeNews};
use wire::Time;

/// One segment as it was sent. 16 bytes: a window of thousands must stay in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seg {
    /// The low 32 bits of the offset of its first byte.
    low: u32,
    payload: u16,
    marks: u8,
    /// Transmissions after the first, saturating.
    pub(crate) resent: u8,
    /// Of the latest transmission.
    pub(crate) sent: Time,
}

const SACKED: u8 = 1;
const LOST: u8 = 2;
/// Resent since it was found lost, and the copy may be on its way.
const REPAIRED: u8 = 4;
const FIN: u8 = 8;
const PSH: u8 = 16;
/// The first of a packet of several segments (offload, pacing).
const PACKET: u8 = 32;

impl Seg {
    /// Sequence space, the FIN included.
    pub(crate) fn space(&self) -> u32 {
        u32::from(self.payload) + u32::from(self.fin())
    }
    pub(crate) fn payload(&self) -> u32 {
        u32::from(self.payload)
    }
    pub(crate) fn fin(&self) -> bool {
        self.marks & FIN != 0
    }
    pub(crate) fn psh(&self) -> bool {
        self.marks & PSH != 0
    }
    pub(crate) fn sacked(&self) -> bool {
        self.marks & SACKED != 0
    }
    /// It is in one of the board's tallies.
    fn is_counted(&self) -> bool {
        self.marks & (SACKED | LOST | REPAIRED) != 0
    }
    fn wants_repair(&self) -> bool {
        self.marks & (SACKED | LOST | REPAIRED) == LOST
    }
}

/// Segments and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) segments: u32,
    pub(crate) bytes: u32,
}

impl Tally {
    fn add(&mut self, bytes: u32) {
        self.segments += 1;
        self.bytes += bytes;
    }
    fn remove(&mut self, bytes: u32) {
        self.segments -= 1;
        self.bytes -= bytes;
    }
}

/// What a cumulative ACK took off the board.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acked {
    pub(crate) bytes: u32,
    /// A part of a segment counts as one.
    pub(crate) segments: u32,
    /// Bytes and segments that SACK had already reported.
    pub(crate) known: Tally,
    /// Some of it had been resent: its RTT is ambiguous (Karn).
    pub(crate) resent: bool,
    /// Some of it was sent once only and had not been SACKed: an original that arrived, seen now. When the oldest and the
    /// newest such left, and the low 32 bits of the lowest one's offset.
    pub(crate) original: bool,
    pub(crate) oldest_original: Time,
    pub(crate) newest_original: Time,
    pub(crate) lowest_original: u32,
    /// The same of the highest one's.
    pub(crate) highest_original: u32,
    /// The oldest segment was sent once, and all of it is acknowledged.
    pub(crate) oldest_once: bool,
    /// When the oldest and the newest of it were sent; meaningless where nothing was acknowledged.
    pub(crate) oldest_sent: Time,
    pub(crate) newest_sent: Time,
}

/// What the SACK blocks of an ACK added.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sacked {
    pub(crate) bytes: u32,
    pub(crate) segments: u32,
    /// Lowest and highest offset that is newly covered; 0, 0 where none is.
    pub(crate) lowest: u64,
    pub(crate) highest: u64,
    /// A segment that was sent once only is among it; `original_below` looks below the caller's mark only.
    pub(crate) original_below: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Board {
    segs: Queue<Seg>,
    una: u64,
    end: u64,
    pub(crate) sacked: Tally,
    /// Found lost and not SACKed.
    pub(crate) lost: Tally,
    /// Copies ever found lost.
    pub(crate) losses: u64,
    /// Copies that left again, ever.
    pub(crate) resent: u64,
    /// Resent since found lost and not SACKed: copies on their way.
    pub(crate) repaired: Tally,
    runs: Runs,
    /// Everything below that is not SACKed is marked lost.
    lost_to: u64,
    /// Nothing below wants repair; nothing below is neither SACKed nor resent.
    repair_from: u64,
    hole_from: u64,
    /// Where detection goes by time.
    by_time: Option<Box<ByTime>>,
    /// Where delivery rates are sampled.
    rates: Option<Box<Rates>>,
}

impl Board {
    /// Nothing sent; the first byte will be `una`.
    pub(crate) fn new(una: u64) -> Board {
        Board {
            segs: Queue::default(),
            una,
            end: una,
            sacked: Tally::default(),
            lost: Tally::default(),
            losses: 0,
            resent: 0,
            repaired: Tally::default(),
            runs: Runs::default(),
            lost_to: una,
            repair_from: una,
            hole_from: una,
            by_time: None,
            rates: None,
        }
    }

    pub(crate) fn una(&self) -> u64 {
        self.una
    }
    /// The offset after the last segment.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }
    /// Bytes sent and not cumulatively acknowledged: FlightSize of RFC 5681.
    #[inline]
    pub(crate) fn out(&self) -> u32 {
        (self.end - self.una) as u32
    }
    pub(crate) fn segments(&self) -> u32 {
        self.segs.len() as u32
    }
    pub(crate) fn runs(&self) -> &Runs {
        &self.runs
    }
    /// Bytes believed to be in the network: "pipe" of RFC 6675 §4.
    #[inline]
    pub(crate) fn pipe(&self) -> u32 {
        (self.out() + self.repaired.bytes).saturating_sub(self.sacked.bytes + self.lost.bytes)
    }
    /// The same in segments, as Linux counts.
    #[inline]
    pub(crate) fn pipe_segments(&self) -> u32 {
        (self.segments() + self.repaired.segments).saturating_sub(self.sacked.segments + self.lost.segments)
    }

    /// A new segment leaves.
    #[inline]
    pub(crate) fn push(&mut self, payload: u32, fin: bool, psh: bool, now: Time) {
        let marks = if fin { FIN } else { 0 } | if psh { PSH } else { 0 };
        let seg = Seg { low: self.end as u32, payload: payload as u16, marks, resent: 0, sent: now };
        self.end += u64::from(seg.space());
        self.segs.push_back(seg);
        if self.rates.is_some() {
            self.rate_new(now);
        }
    }

    /// Entry `at` leaves again; a repair counts as a copy on its way.
    pub(crate) fn sent_again(&mut self, at: usize, repair: bool, now: Time) {
        self.resent += 1;
        let seg = &mut self.segs[at];
        seg.resent = seg.resent.saturating_add(1);
        seg.sent = now;
        if repair && seg.marks & (REPAIRED | SACKED) == 0 {
            seg.marks |= REPAIRED;
            self.repaired.add(seg.space());
        }
        if self.by_time.is_some() {
            self.note_resend(at);
        }
        if self.rates.is_some() {
            self.rate_resend(at, now);
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<Seg> {
        self.segs.get(at).copied()
    }

    /// The offset of the first byte of entry `at`.
    pub(crate) fn offset(&self, at: usize) -> u64 {
        self.una + u64::from(self.segs[at].low.wrapping_sub(self.una as u32))
    }

    /// The entry that holds `offset`; `una <= offset < end`. Guessed from the size of the first segment, since
    /// bulk transfers send nothing else; searched where the guess fails.
    #[inline]
    pub(crate) fn find(&self, offset: u64) -> usize {
        let into = (offset - self.una) as u32;
        let base = self.una as u32;
        let starts = |s: &Seg| s.low.wrapping_sub(base);
        if let Some(last) = self.segs.back() {
            // After a partial acknowledgment the first is shorter; the last full one is behind the second.
            let size = self.segs.get(1).unwrap_or(last).payload().max(1);
            let first = self.segs[0].space();
            let guess = if into < first { 0 } else { 1 + ((into - first) / size) as usize };
            if let Some(s) = self.segs.get(guess)
                && starts(s) <= into
                && into < starts(s) + s.space()
            {
                return guess;
            }
        }
        self.segs.partition_point(|s| starts(s) <= into).saturating_sub(1)
    }

    /// SND.UNA moves to `una`.
    #[inline(always)]
    pub(crate) fn advance(&mut self, una: u64) -> Acked {
        let mut acked = Acked { bytes: (una - self.una) as u32, ..Acked::default() };
        let mut left = acked.bytes;
        if let Some(oldest) = self.segs.front() {
            acked.oldest_sent = oldest.sent;
            acked.oldest_once = oldest.resent == 0 && left >= oldest.space();
        }
        while left > 0 {
            let Some(&seg) = self.segs.front() else { break };
            let space = seg.space();
            acked.newest_sent = seg.sent;
            acked.segments += 1;
            acked.resent |= seg.resent > 0;
            if seg.resent == 0 && !seg.sacked() {
                if !acked.original {
                    acked.original = true;
                    acked.lowest_original = seg.low;
                    acked.oldest_original = seg.sent;
                }
                acked.newest_original = seg.sent;
                acked.highest_original = seg.low;
            }
            if seg.is_counted() || seg.resent > 0 || left < space {
                let known = self.uncount_front(seg, left.min(space));
                acked.known.segments += known.segments;
                acked.known.bytes += known.bytes;
                if left < space {
                    break;
                }
            }
            left -= space;
            self.segs.pop_front();
        }
        if acked.original && self.by_time.is_some() {
            self.note_originals(&acked, una);
        }
        if let Some(t) = &mut self.by_time {
            t.forget_below(una);
        }
        if let Some(rates) = &mut self.rates {
            rates.acknowledged(self.segs.len());
        }
        self.una = una;
        self.end = self.end.max(una);
        self.lost_to = self.lost_to.max(una);
        self.repair_from = self.repair_from.max(una);
        self.runs.forget_below(una);
        acked
    }

    /// The first `bytes` of the first segment, or all of it, are acknowledged: they leave the counts. Returns what of it
    /// had been SACKed.
    #[inline(never)]
    fn uncount_front(&mut self, seg: Seg, bytes: u32) -> Tally {
        if bytes < seg.space() {
            self.trim_front(bytes);
        } else {
            self.unmark(seg);
            if seg.resent > 0
                && !seg.sacked()
                && let Some(t) = &mut self.by_time
            {
                let start = self.una + u64::from(seg.low.wrapping_sub(self.una as u32));
                t.delivered(seg, start, false);
            }
        }
        if seg.sacked() { Tally { segments: 1, bytes } } else { Tally::default() }
    }

    /// The first `bytes` of the first segment are acknowledged.
    fn trim_front(&mut self, bytes: u32) {
        let seg = &mut self.segs[0];
        seg.low = seg.low.wrapping_add(bytes);
        seg.payload -= bytes as u16;
        let marks = seg.marks;
        for (mark, tally) in
            [(SACKED, &mut self.sacked), (LOST, &mut self.lost), (REPAIRED, &mut self.repaired)]
        {
            if marks & mark != 0 {
                tally.bytes -= bytes;
            }
        }
    }

    /// Takes a segment that leaves the board out of the counts.
    #[inline]
    fn unmark(&mut self, seg: Seg) {
        if !seg.is_counted() {
            return;
        }
        let space = seg.space();
        if seg.sacked() {
            self.sacked.remove(space);
        }
        if seg.marks & LOST != 0 {
            self.lost.remove(space);
        }
        if seg.marks & REPAIRED != 0 {
            self.repaired.remove(space);
        }
    }

    /// A SACK block `[left, right)` above SND.UNA and not beyond what was sent. Only what is new in it costs.
    /// Originals are reported where they lie below `mark`.
    pub(crate) fn sack(&mut self, left: u64, right: u64, mark: u64, news: &mut Sacked) {
        let left = left.max(self.una);
        let right = right.min(self.end);
        if left >= right || self.runs.covers(left, right) {
            return;
        }
        let added = self.runs.insert(left, right);
        let mut at = self.find(added.fresh.0);
        let mut start = self.offset(at);
        while let Some(&seg) = self.segs.get(at)
            && start < added.fresh.1
        {
            let end = start + u64::from(seg.space());
            // Only whole segments count: a part says nothing about the rest.
            if !seg.sacked() && start >= added.run.0 && end <= added.run.1 {
                self.mark_sacked(at, start, mark, news);
            }
            at += 1;
            start = end;
        }
    }

    fn mark_sacked(&mut self, at: usize, start: u64, mark: u64, news: &mut Sacked) {
        let seg = self.segs[at];
        self.unmark(seg);
        let space = seg.space();
        self.segs[at].marks = seg.marks & !(LOST | REPAIRED) | SACKED;
        self.sacked.add(space);
        if news.segments == 0 || start < news.lowest {
            news.lowest = start;
        }
        news.highest = news.highest.max(start + u64::from(space));
        news.segments += 1;
        news.bytes += space;
        news.original_below |= seg.resent == 0 && start < mark;
        if let Some(t) = &mut self.by_time {
            t.delivered(seg, start, true);
        }
        if let Some(rates) = &mut self.rates {
            rates.sacked(at);
        }
    }

    /// The receiver may have dropped what it had SACKed (RFC 2018 §8), or the sender chooses not to know.
    pub(crate) fn forget_sacks(&mut self) {
        self.segs.for_each_mut(|seg| seg.marks &= !SACKED);
        self.sacked = Tally::default();
        self.runs = Runs::default();
        self.lost_to = self.una;
        self.hole_from = self.una;
    }

    /// Takes the only segment back: it was a probe that the receiver did not keep.
    pub(crate) fn take_back_probe(&mut self) {
        self.segs.clear();
        if let Some(rates) = &mut self.rates {
            rates.forget();
        }
        self.end = self.una;
        self.forget_losses();
    }

    /// The counts, counted anew; for tests.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        let count = |mark: u8| {
            let mut t = Tally::default();
            self.segs.iter().filter(|s| s.marks & mark != 0).for_each(|s| t.add(s.space()));
            t
        };
        assert_eq!((self.sacked, self.lost, self.repaired), (count(SACKED), count(LOST), count(REPAIRED)));
        assert_eq!(self.out(), self.segs.iter().map(Seg::space).sum::<u32>());
        assert!(self.segs.iter().all(|s| s.marks & SACKED == 0 || s.marks & (LOST | REPAIRED) == 0));
    }
}

#[cfg(test)]
mod tests;
