//! First copies that are outstanding no more, as far as there is something to tell of them.
//!
//! They leave in the order of their sequence numbers, which is the order of their transmission. What arrived and was
//! sent once only tells where a burst ends: of a run of such copies the first is enough.

use super::Ordinal;
use super::board::Board;
use super::bursts::Bursts;
use super::copy::{Certain, Copy, ResentCopies};
use super::entry::{Entry, Origin};
use super::list::List;
use super::settle::Conditions;
use std::collections::VecDeque;
use wire::Time;

/// How much of a first copy was lost, by the capture of the other end.
#[derive(Clone, Copy, Debug)]
struct KnownLoss {
    ordinal: Ordinal,
    /// Bytes of it that were lost.
    lost: u32,
    /// Bytes of it that were not acknowledged before anything repeated them.
    open: u32,
}

/// What exists while there is something to tell.
#[derive(Clone, Debug, Default)]
pub struct LossTracking {
    pub repairs: ResentCopies,
    /// A first copy of which parts have left, and perhaps not all.
    whole: Option<(Ordinal, Copy)>,
    pub bursts: Bursts,
    /// The retransmission that leaves, and whether it was lost.
    leaving: Option<(Ordinal, bool)>,
    /// Losses of first copies by the capture of the other end, in order of transmission.
    known: VecDeque<KnownLoss>,
    /// The stream has ended: nothing more will be known.
    pub ended: bool,
}

impl LossTracking {
    /// Bytes that it takes.
    pub fn held(&self) -> u64 {
        let of = |n: usize, size: usize| (n * size) as u64;
        of(self.repairs.len(), size_of::<super::copy::ResentCopy>())
            + of(self.known.len(), size_of::<KnownLoss>())
            + self.bursts.bytes()
    }
    /// A second capture tells of a first copy of `len` bytes how many were lost.
    pub fn know(&mut self, ordinal: Ordinal, lost: u32, len: u32) {
        self.known.push_back(KnownLoss { ordinal, lost, open: len });
    }
    fn known(&self, ordinal: Ordinal) -> Option<u32> {
        self.known.binary_search_by_key(&ordinal, |k| k.ordinal).ok().map(|i| self.known[i].lost)
    }
    /// A second capture tells of copies that are outstanding.
    #[inline(always)]
    pub fn knows_losses(&self) -> bool {
        !self.known.is_empty()
    }
    /// A SACK or an ACK covers `seg`, which was sent once: it arrived (RFC 9293 §3.4), and where the second capture shows
    /// no such packet, that capture lacks it.
    #[inline(always)]
    pub fn note_arrival(&mut self, seg: &Entry) {
        if self.knows_losses() && seg.origin() == Origin::Own {
            self.refute_loss(seg.first(), seg.len());
        }
    }
    #[cold]
    fn refute_loss(&mut self, ordinal: Ordinal, bytes: u32) {
        let Ok(i) = self.known.binary_search_by_key(&ordinal, |k| k.ordinal) else { return };
        let k = &mut self.known[i];
        k.open = k.open.saturating_sub(bytes);
        k.lost = k.lost.min(k.open);
    }
    /// A segment leaves that arrived, or of which no more is asked.
    #[inline(always)]
    pub fn push_arrived(&mut self, seg: &Entry, board: &mut Board) {
        let left = seg.leave(&mut board.repaired);
        if !self.extends_run(&left, &mut board.list) {
            self.push(left, &mut board.list);
        }
    }
    /// Does it go with the run that left before it? Then there is no more to it.
    #[inline(always)]
    fn extends_run(&mut self, seg: &Entry, list: &mut List) -> bool {
        let next = list.head().map(Entry::first);
        let Some(run) = list.last_retired() else { return false };
        let goes_on = run.last() + 1 == seg.first() && !run.is_alone() && next != Some(seg.first());
        goes_on && seg.origin() != Origin::Rest && self.known.is_empty() && run.extend(seg)
    }
    /// A range leaves.
    pub fn push(&mut self, mut range: Entry, list: &mut List) {
        let first = range.first();
        if range.origin() == Origin::Rest && range.kept().is_none() {
            if !range.is_open() {
                self.repairs.settle(first, u64::from(range.len()), false);
            }
            return;
        }
        // What was acknowledged unseen stands at the end before all that was outstanding has left.
        let left = list.retired();
        let at = left.len() - usize::from(left.last().is_some_and(|l| l.first() > first));
        let before = left[..at].last().map(Entry::last);
        let next = list.head().map(Entry::first);
        let of_whole = self.whole.is_some_and(|(o, _)| o == first);
        if next == Some(first) || before == Some(first) || of_whole || !self.known.is_empty() {
            range.stand_alone();
        }
        if !range.is_alone() && before.is_none() && self.is_quiet_before(first) {
            self.bursts.sizes.through(range.len(), range.time);
            return;
        }
        list.insert_retired(at, range);
    }
    /// Can nothing that was sent before a copy be lost and not told yet?
    fn is_quiet_before(&self, ordinal: Ordinal) -> bool {
        !self.bursts.is_open()
            && self.whole.is_none()
            && self.repairs.front().is_none_or(|r| r.ordinal > ordinal)
    }
    /// Tells apart what has waited for that until `now`, the first of it first.
    pub fn settle(&mut self, now: Time, board: &mut Board, conditions: &Conditions) {
        let Board { list, repaired, .. } = board;
        for range in list.retired_mut().iter_mut().take_while(|range| is_due(range, now)) {
            if let Some(of) = range.kept().and_then(|at| repaired.take(at)) {
                let lost = of.settle(range, self.known(range.first()), &mut self.repairs, conditions);
                range.told_apart(&of, lost);
            }
        }
    }
    /// May the front have become certain? `outstanding`: the oldest copy that is.
    pub fn may_advance(&self, now: Time, list: &List, outstanding: Ordinal) -> bool {
        match list.retired().first() {
            Some(range) => is_due(range, now),
            None => self.repairs.front().is_some_and(|r| r.ordinal < outstanding && r.copy.is_settled()),
        }
    }
    /// The oldest copy whose fate is open.
    pub fn settled(&self, list: &List, outstanding: Ordinal) -> Ordinal {
        let left = list.retired().first().map_or(outstanding, Entry::holds_back);
        let repair = self.repairs.front().map_or(outstanding, |r| r.ordinal);
        self.whole.map_or(left, |(o, _)| o.min(left)).min(repair)
    }
    /// Takes off what is certain in the order of transmission, up to the next burst that ended or retransmission: that
    /// is given. `outstanding`: the oldest copy that is.
    pub fn next_certain(
        &mut self,
        list: &mut List,
        outstanding: Ordinal,
        size: &super::Size,
    ) -> Option<Certain> {
        loop {
            if let Some((ordinal, lost)) = self.leaving {
                if let Some(fact) = self.leave(ordinal, lost) {
                    return Some(fact);
                }
                self.leaving = None;
            }
            let left = list.retired().first().map_or(outstanding, Entry::holds_back);
            let whole = self.whole.map_or(left, |(o, _)| o);
            if let Some(r) = self.repairs.front().filter(|r| r.ordinal < whole) {
                if !r.copy.is_settled() && !self.ended {
                    break;
                }
                let (ordinal, copy) = (r.ordinal, r.copy.at_the_end());
                self.bursts.take(ordinal, &copy, &self.repairs, size);
                self.leaving = Some((ordinal, copy.lost > 0));
            } else if let Some((ordinal, copy)) = self.whole.take_if(|(o, _)| *o != left) {
                self.bursts.take(ordinal, &copy.at_the_end(), &self.repairs, size);
            } else if list.retired().first().is_some_and(|l| l.kept().is_none())
                && let Some(range) = list.pop_retired()
            {
                self.take(&range);
            } else {
                break;
            }
        }
        self.repairs.trim();
        let settled = self.settled(list, outstanding);
        while self.known.pop_front_if(|k| k.ordinal < settled).is_some() {}
        if self.ended { self.bursts.next_at_the_end().map(Certain::Burst) } else { None }
    }
    /// The oldest that left is settled.
    fn take(&mut self, range: &Entry) {
        if !range.is_alone() {
            self.bursts.end(Some(range.time));
            // Of a run only the sum is known, and that none of it is larger.
            self.bursts.sizes.through(range.len(), range.time);
            return;
        }
        if range.origin() == Origin::Rest {
            return; // it is a part of a retransmission
        }
        let known = self.known(range.first());
        let (_, copy) = self.whole.get_or_insert_with(|| {
            let unseen = range.origin() == Origin::Unseen;
            let mut copy = Copy { time: range.time, start: range.start(), unseen, ..Copy::default() };
            copy.know(known);
            (range.first(), copy)
        });
        copy.len += range.len();
        if copy.repair == 0 || range.repair() != 0 && range.repair() < copy.repair {
            copy.repair = range.repair();
        }
        if !range.is_open() {
            copy.settle(range.len(), range.is_lost());
        }
    }
    /// What is to be told of the retransmission `ordinal`, which leaves: the bursts that waited for it, and itself.
    fn leave(&mut self, ordinal: Ordinal, lost: bool) -> Option<Certain> {
        let first = self.repairs.front().filter(|r| r.ordinal <= ordinal)?;
        if let Some(row) = self.bursts.released_by(first) {
            return Some(Certain::Burst(row));
        }
        let repair = self.repairs.pop_front()?;
        let row = repair.row(lost);
        self.bursts.note_timer(repair);
        Some(Certain::Resend(row))
    }
}

/// Do its copies wait no longer than until now to be told apart?
#[inline(always)]
fn is_due(range: &Entry, now: Time) -> bool {
    range.kept().is_none() || range.time <= now
}
