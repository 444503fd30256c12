//! The board in the order of time, for detection that holds each copy against the newest one delivered (RACK).
//!
//! Originals leave in the order of their numbers, repairs in an order of their own: two queues, each looked at from
//! its oldest on, so that a copy costs once when it is judged, and waiting ones only while they wait.

use super::{Acked, Board, LOST, REPAIRED, SACKED, Seg};
use crate::detect::rack::{Copy, Horizon, Verdict};
use crate::queue::Queue;
use std::collections::HashSet;
use wire::Time;

/// Copies that need no verdict any more, of which so many may stay in the list.
const FEW: usize = 16;

#[derive(Clone, Debug)]
pub(super) struct ByTime {
    /// Retransmitted copies, in the order in which they left. A copy whose segment was acknowledged, or sent once more
    /// since, stays until the search meets it or such copies are too many.
    resends: Queue<Copy>,
    /// Originals below were judged.
    judged_to: u64,
    /// What was resent from then on, and is delivered now, may be the original (RFC 8985 §6.2 step 2):
    /// where it is SACKed, and where it is acknowledged.
    sacked_since: Time,
    acked_since: Time,
    /// Of what the ACK at hand delivered.
    pub(super) news: TimeNews,
}

/// What an ACK delivered, in terms of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TimeNews {
    /// The copy that left last.
    pub(crate) newest: Option<Copy>,
    /// Where it ends, and when the latest copy left, of the highest that was acknowledged, and of the highest SACKed.
    acked_last: Option<(u64, Time)>,
    sacked_last: Option<(u64, Time)>,
    /// The lowest original that came behind the highest SACK.
    pub(crate) late: Option<u64>,
    /// When the first and the last newly SACKed original left.
    pub(crate) sacked_sent: Option<(Time, Time)>,
    /// The highest SACK before this ACK.
    pub(crate) highest: u64,
    /// An original that was sent before the caller's mark was delivered.
    pub(crate) original_below: bool,
    mark: u64,
}

/// What a look at the board found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Newly lost.
    pub(crate) lost: bool,
    /// A repair among it.
    pub(crate) repair_lost: bool,
    /// Some is not lost yet, but all of it would be then.
    pub(crate) ask_again: Option<Time>,
}

impl TimeNews {
    /// When the copy left whose round trip Linux takes for RACK.rtt: of all that the ACK delivers the one that is looked
    /// at last, whenever it left. SACKs are read before what is acknowledged, both in the order of the stream
    /// (tcp_rack_advance, from tcp_sacktag_one and tcp_clean_rtx_queue).
    pub(crate) fn last_sent(&self) -> Option<Time> {
        self.acked_last.or(self.sacked_last).map(|(_, sent)| sent)
    }
}

impl ByTime {
    /// All below `una` is acknowledged.
    pub(super) fn forget_below(&mut self, una: u64) {
        while self.resends.front().is_some_and(|copy| copy.end <= una) {
            self.resends.pop_front();
        }
    }
    pub(super) fn delivered(&mut self, seg: Seg, start: u64, sacked: bool) {
        let news = &mut self.news;
        let end = start + u64::from(seg.space());
        if seg.resent == 0 {
            if start < news.highest {
                news.late = Some(news.late.map_or(start, |l| l.min(start)));
            }
            news.original_below |= end <= news.mark;
            if sacked {
                let span = news.sacked_sent.unwrap_or((seg.sent, seg.sent));
                news.sacked_sent = Some((span.0.min(seg.sent), span.1.max(seg.sent)));
            }
        } else {
            if seg.sent >= if sacked { self.sacked_since } else { self.acked_since } {
                return;
            }
        }
        let last = if sacked { &mut news.sacked_last } else { &mut news.acked_last };
        *last = (*last).max(Some((end, seg.sent)));
        let copy = Copy { sent: seg.sent, end };
        news.newest = Some(news.newest.map_or(copy, |n| n.max(copy)));
    }
}

impl Board {
    /// From now on the order of time is kept.
    pub(crate) fn keep_time(&mut self) {
        self.by_time = Some(Box::new(ByTime {
            resends: Queue::default(),
            judged_to: self.una,
            sacked_since: Time::FAR_PAST,
            acked_since: Time::FAR_PAST,
            news: TimeNews::default(),
        }));
    }

    /// An ACK is about to be taken: originals are told apart where they end at `mark` or below.
    /// See [`ByTime::sacked_since`].
    pub(crate) fn begin_ack(&mut self, mark: u64, sacked_since: Time, acked_since: Time) {
        let highest = self.runs.highest().unwrap_or(self.una);
        if let Some(t) = &mut self.by_time {
            (t.sacked_since, t.acked_since) = (sacked_since, acked_since);
            t.news = TimeNews { highest, mark, ..TimeNews::default() };
        }
    }
    /// Originals are acknowledged cumulatively, up to `una`.
    pub(super) fn note_originals(&mut self, acked: &Acked, una: u64) {
        let lowest = self.una + u64::from(acked.lowest_original.wrapping_sub(self.una as u32));
        if let Some(t) = &mut self.by_time {
            let news = &mut t.news;
            if lowest < news.highest {
                news.late = Some(news.late.map_or(lowest, |l| l.min(lowest)));
            }
            news.original_below |= lowest < news.mark;
            let highest = self.una + u64::from(acked.highest_original.wrapping_sub(self.una as u32)) + 1;
            news.acked_last = news.acked_last.max(Some((highest, acked.newest_original)));
            let copy = Copy { sent: acked.newest_original, end: una };
            news.newest = Some(news.newest.map_or(copy, |n| n.max(copy)));
        }
    }

    pub(crate) fn time_news(&self) -> TimeNews {
        self.by_time.as_ref().map_or(TimeNews::default(), |t| t.news)
    }

    pub(super) fn note_resend(&mut self, at: usize) {
        let end = self.offset(at) + u64::from(self.segs[at].space());
        let Some(mut t) = self.by_time.take() else { return };
        t.resends.push_back(Copy { sent: self.segs[at].sent, end });
        // Only the latest copy of each segment needs a verdict, so at most half of this stays.
        if t.resends.len() > 2 * self.segs.len() + FEW {
            // If the clock stands still, several copies of a segment have the latest time; one of them is enough.
            let mut seen = HashSet::new();
            let latest = |copy: &Copy| self.is_latest(*copy) && seen.insert(copy.end);
            t.resends = t.resends.iter().copied().filter(latest).collect();
        }
        self.by_time = Some(t);
    }

    /// The segment of this copy is not acknowledged, and no later copy of it was sent.
    fn is_latest(&self, copy: Copy) -> bool {
        let is_out = copy.end > self.una && copy.end <= self.end;
        is_out && self.segs.get(self.find(copy.end - 1)).is_some_and(|seg| seg.sent == copy.sent)
    }

    /// Holds what is on its way against the horizon and marks what is lost. RFC 8985 §6.2 step 5.
    pub(crate) fn mark_lost_by_time(&mut self, h: &Horizon) -> Found {
        let Some(mut t) = self.by_time.take() else { return Found::default() };
        let mut found = Found::default();
        self.judge_originals(&mut t, h, &mut found);
        self.judge_resends(&mut t, h, &mut found);
        self.by_time = Some(t);
        found
    }

    fn judge_originals(&mut self, t: &mut ByTime, h: &Horizon, found: &mut Found) {
        t.judged_to = t.judged_to.max(self.una);
        if t.judged_to >= self.end {
            return;
        }
        let mut at = self.find(t.judged_to);
        let mut start = self.offset(at);
        let mut all_judged = true;
        while let Some(&seg) = self.segs.get(at) {
            let end = start + u64::from(seg.space());
            if seg.resent == 0 && seg.marks & (SACKED | LOST) == 0 {
                match h.verdict(Copy { sent: seg.sent, end }) {
                    Verdict::Lost => {
                        self.mark_lost(at, end);
                        found.lost = true;
                    }
                    Verdict::Wait { until } => {
                        found.ask_again = found.ask_again.max(Some(until));
                        all_judged = false;
                    }
                    Verdict::Fine => break,
                }
            }
            if all_judged {
                t.judged_to = end;
            }
            at += 1;
            start = end;
        }
    }

    fn judge_resends(&mut self, t: &mut ByTime, h: &Horizon, found: &mut Found) {
        let mut from = 0;
        while let Some(&copy) = t.resends.get(from) {
            let at = self.still_out(copy);
            match at.map(|_| h.verdict(copy)) {
                Some(Verdict::Fine) => break,
                Some(Verdict::Wait { until }) => {
                    found.ask_again = found.ask_again.max(Some(until));
                    from += 1;
                }
                gone_or_lost => {
                    if let (Some(at), Some(_)) = (at, gone_or_lost) {
                        found.lost = true;
                        found.repair_lost |= self.segs[at].marks & REPAIRED != 0;
                        self.mark_lost(at, copy.end);
                    }
                    if from == 0 {
                        t.resends.pop_front();
                    } else {
                        from += 1;
                    }
                }
            }
        }
    }

    /// The entry of which this is the latest copy, if it is not delivered.
    fn still_out(&self, copy: Copy) -> Option<usize> {
        if copy.end <= self.una || copy.end > self.end {
            return None;
        }
        let at = self.find(copy.end - 1);
        let seg = self.segs.get(at)?;
        let wants_repair = seg.marks & (LOST | REPAIRED) == LOST;
        (seg.sent == copy.sent && !seg.sacked() && !wants_repair).then_some(at)
    }

    /// Entry `at`, which ends at `end`, is lost, and so is its repair if there was one.
    fn mark_lost(&mut self, at: usize, end: u64) {
        let seg = &mut self.segs[at];
        let space = seg.space();
        // A repair that is lost, too, counts once more.
        let counts = seg.marks & LOST == 0 || seg.marks & REPAIRED != 0;
        if seg.marks & LOST == 0 {
            seg.marks |= LOST;
            self.lost.add(space);
        }
        if seg.marks & REPAIRED != 0 {
            seg.marks &= !REPAIRED;
            self.repaired.remove(space);
        }
        if counts {
            self.count_loss(at);
        }
        self.lost_to = self.lost_to.max(end);
        self.repair_from = self.repair_from.min(end - u64::from(space)).max(self.una);
    }

    /// The same for repairs only.
    pub(crate) fn mark_repairs_lost(&mut self, h: &Horizon) -> Found {
        let Some(mut t) = self.by_time.take() else { return Found::default() };
        let mut found = Found::default();
        self.judge_resends(&mut t, h, &mut found);
        self.by_time = Some(t);
        found
    }

    /// When the highest segment that is SACKED left, if it left once only.
    pub(crate) fn highest_original_sacked(&self) -> Option<Time> {
        let highest = self.runs.highest().filter(|&h| h > self.una && h <= self.end)?;
        self.segs.get(self.find(highest - 1)).filter(|s| s.resent == 0).map(|s| s.sent)
    }

    /// A timeout: the oldest segment is lost, and what left before `spared_since`. Segments that are lost already, and
    /// were not repaired since, are as they should be: the search ends where no others can follow, so that a timeout
    /// behind a timeout does not look at the whole flight again.
    pub(crate) fn mark_lost_at_timeout(&mut self, spared_since: Time) {
        let marked = self.sacked.segments + self.lost.segments;
        let mut others = self.segments().saturating_sub(marked) + self.repaired.segments;
        let (mut start, mut at) = (self.una, 0);
        while others > 0
            && let Some(&seg) = self.segs.get(at)
        {
            let end = start + u64::from(seg.space());
            let counted = u32::from(seg.marks & (SACKED | LOST) == 0) + u32::from(seg.marks & REPAIRED != 0);
            others = others.saturating_sub(counted);
            if counted > 0 && (at == 0 || seg.sent <= spared_since) {
                self.mark_lost(at, end);
            }
            (start, at) = (end, at + 1);
        }
        self.repair_from = self.una;
    }

    /// Nothing is lost after all; repairs that are on their way stay so.
    pub(crate) fn unmark_lost(&mut self) {
        self.segs.for_each_mut(|seg| seg.marks &= !LOST);
        self.lost = super::Tally::default();
        self.lost_to = self.una;
        self.repair_from = self.una;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sacked;
    use super::*;
    use crate::draws::draws;
    use wire::Span;

    /// `n` segments of 100 bytes, each sent a nanosecond after the one before.
    fn board(n: u64) -> Board {
        let mut board = Board::new(1);
        board.keep_time();
        (0..n).for_each(|i| board.push(100, false, false, Time(i as i64)));
        board
    }

    fn kept(board: &Board) -> usize {
        board.by_time.as_ref().map_or(0, |t| t.resends.len())
    }

    #[test]
    fn copies_that_need_no_verdict_do_not_pile_up() {
        // The same segments are sent again and again, on a clock that stands or goes, without an ACK.
        for step in [0, 1] {
            let mut board = board(4);
            for n in 0..10_000 {
                board.sent_again(n % 4, true, Time(1000 + step * n as i64));
                assert!(kept(&board) <= 2 * 4 + FEW + 1, "{} after {n}", kept(&board));
            }
            board.advance(1 + 400);
            assert_eq!(kept(&board), 0);
        }
    }

    #[test]
    fn an_early_copy_is_still_judged_after_hundreds_of_other_copies() {
        let mut board = board(40);
        board.sent_again(30, true, Time(1000));
        (0..500).for_each(|n| board.sent_again(n % 30, true, Time(2000 + n as i64)));
        let newest = Copy { sent: Time(9000), end: 1 + 4000 };
        let horizon = Horizon { newest, wait: Span::ZERO, now: Time(10_000) };
        let found = board.mark_lost_by_time(&horizon);
        assert!(found.repair_lost && board.segs[30].marks & LOST != 0);
    }

    /// Marks lost segments at a timeout by a visit to every segment: [`Board::mark_lost_at_timeout`] has to do the same.
    fn mark_each_lost_at_timeout(board: &mut Board, spared_since: Time) {
        for at in 0..board.segs.len() {
            let (seg, start) = (board.segs[at], board.offset(at));
            if !seg.sacked() && (at == 0 || seg.sent <= spared_since) {
                board.mark_lost(at, start + u64::from(seg.space()));
            }
        }
    }

    #[test]
    fn a_timeout_that_looks_at_a_few_segments_marks_what_a_look_at_each_would() {
        for seed in 1..400 {
            let mut draw = draws(seed);
            let mut board = board(1 + draw(40));
            for step in 0..60 {
                let (now, at) = (Time(100 + step), draw(board.segs.len() as u64) as usize);
                match draw(6) {
                    0 => {
                        board.take_for_lost(at);
                        board.sent_again(at, true, now);
                    }
                    1 | 2 => board.sent_again(at, draw(2) == 0, now),
                    3 => {
                        let start = board.offset(at);
                        board.sack(start, start + 100, 0, &mut Sacked::default());
                    }
                    4 if draw(4) == 0 => board.unmark_lost(),
                    4 => board.push(100, false, false, now),
                    _ => {
                        let spared_since = Time(100 + step - draw(30) as i64);
                        let mut other = board.clone();
                        mark_each_lost_at_timeout(&mut other, spared_since);
                        board.mark_lost_at_timeout(spared_since);
                        assert!(board.segs.iter().eq(other.segs.iter()), "seed {seed}, step {step}");
                        let counts = |b: &Board| (b.lost, b.repaired, b.sacked, b.losses);
                        assert_eq!(counts(&board), counts(&other), "seed {seed}, step {step}");
                        assert_eq!(board.next_lost(), other.next_lost(), "seed {seed}, step {step}");
                        board.check();
                    }
                }
            }
        }
    }
}
