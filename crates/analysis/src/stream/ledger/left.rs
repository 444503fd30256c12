//! First copies that are outstanding no more, as far as there is something to tell of them.
//!
//! They leave in the order of their sequence numbers, which is the order of their transmission. What arrived and was
//! sent once only tells where a burst ends: of a run of such copies the first is enough.

use super::Ordinal;
use super::bursts::Bursts;
use super::copy::{Certain, Copy, Repairs};
use super::entry::{Entry, Origin};
use super::repaired::{Repaired, Repaireds};
use super::settle::Judge;
use crate::stream::queue::Queue;
use wire::Time;

/// What exists while there is something to tell.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    pub left: Queue<Entry>,
    pub repairs: Repairs,
    /// A first copy of which parts have left, and perhaps not all.
    whole: Option<(Ordinal, Copy)>,
    pub bursts: Bursts,
    /// The retransmission that leaves, and whether it was lost.
    leaving: Option<(Ordinal, bool)>,
    /// What a second capture tells of first copies: how many bytes were lost.
    known: Queue<(Ordinal, u32)>,
    /// The stream has ended: nothing more will be known.
    pub ended: bool,
}

impl Trouble {
    /// Bytes that it takes.
    pub fn held(&self) -> u64 {
        let of = |n: usize, size: usize| (n * size) as u64;
        of(self.left.len(), size_of::<Entry>())
            + of(self.repairs.len(), size_of::<super::copy::Repair>())
            + of(self.known.len(), size_of::<(Ordinal, u32)>())
            + self.bursts.bytes()
    }
    /// A second capture tells of a first copy how many bytes were lost.
    pub fn know(&mut self, ordinal: Ordinal, lost: u32) {
        self.known.push((ordinal, lost));
    }
    fn known(&self, ordinal: Ordinal) -> Option<u32> {
        let all = self.known.all();
        all.binary_search_by_key(&ordinal, |(o, _)| *o).ok().map(|i| all[i].1)
    }
    /// A segment leaves that arrived, or of which no more is asked; the next that is outstanding is of the copy `next`.
    #[inline(always)]
    pub fn push_arrived(&mut self, seg: &Entry, next: Option<Ordinal>, repaired: &mut Repaireds) {
        let left = seg.leave(repaired);
        if !self.extends_run(&left, next) {
            self.push(left, next);
        }
    }
    /// Does it go with the run that left before it? Then there is no more to it.
    #[inline(always)]
    fn extends_run(&mut self, seg: &Entry, next: Option<Ordinal>) -> bool {
        let Some(run) = self.left.back_mut() else { return false };
        let goes_on = run.last() + 1 == seg.first() && !run.is_alone() && next != Some(seg.first());
        goes_on && seg.origin() != Origin::Rest && self.known.is_empty() && run.extend(seg)
    }
    /// A range leaves; the next that is outstanding is of the copy `next`.
    pub fn push(&mut self, mut range: Entry, next: Option<Ordinal>) {
        let first = range.first();
        if range.origin() == Origin::Rest && range.kept().is_none() {
            if !range.is_open() {
                self.repairs.settle(first, u64::from(range.len()), false);
            }
            return;
        }
        // What was acknowledged unseen stands at the end before all that was outstanding has left.
        let at = self.left.len() - usize::from(self.left.back().is_some_and(|l| l.first() > first));
        let before = at.checked_sub(1);
        let last = before.and_then(|i| self.left.get(i)).map(Entry::last);
        let of_whole = self.whole.is_some_and(|(o, _)| o == first);
        if next == Some(first) || last == Some(first) || of_whole || !self.known.is_empty() {
            range.stand_alone();
        }
        if !range.is_alone() && before.is_none() && self.is_quiet_before(first) {
            return;
        }
        match at == self.left.len() {
            true => self.left.push(range),
            false => _ = self.left.insert(at, range),
        }
    }
    /// Can nothing that was sent before a copy be lost and not told yet?
    fn is_quiet_before(&self, ordinal: Ordinal) -> bool {
        !self.bursts.is_open()
            && self.whole.is_none()
            && self.repairs.front().is_none_or(|r| r.ordinal > ordinal)
    }
    /// Tells apart what has waited for that until `now`, the first of it first.
    pub fn settle(&mut self, now: Time, repaired: &mut Repaireds, judge: &Judge) {
        let mut i = 0;
        while self.left.get(i).is_some_and(|range| is_due(range, now)) {
            self.settle_at(i, repaired, judge);
            i += 1;
        }
    }
    /// The same of all: nothing more will be heard.
    pub fn settle_all(&mut self, repaired: &mut Repaireds, judge: &Judge) {
        (0..self.left.len()).for_each(|i| self.settle_at(i, repaired, judge));
    }
    fn settle_at(&mut self, i: usize, repaired: &mut Repaireds, judge: &Judge) {
        let Some(range) = self.left.get(i) else { return };
        let Some(of) = range.kept().and_then(|at| repaired.take(at)) else { return };
        let lost = of.settle(range, self.known(range.first()), &mut self.repairs, judge);
        if let Some(range) = self.left.get_mut(i) {
            range.told_apart(&of, lost);
        }
    }
    /// Those that wait to be told apart, from the range that ends behind `from` up to that which begins at `to`; gives
    /// how many were looked at.
    pub fn each_settling(
        &mut self,
        (from, to): (u64, u64),
        repaired: &mut Repaireds,
        mut each: impl FnMut(&mut Repaired) -> bool,
    ) -> u64 {
        // They were acknowledged in the order of their numbers.
        let all = self.left.all();
        let first = all.partition_point(|l| l.end() <= from);
        let mut looked_at = 0;
        for range in all[first..].iter().take_while(|l| l.start() < to) {
            looked_at += 1;
            if let Some(r) = range.kept().and_then(|at| repaired.get_mut(at))
                && !each(r)
            {
                break;
            }
        }
        looked_at
    }
    /// May the front have become certain? `outstanding`: the oldest copy that is.
    pub fn may_advance(&self, now: Time, outstanding: Ordinal) -> bool {
        match self.left.front() {
            Some(range) => is_due(range, now),
            None => self.repairs.front().is_some_and(|r| r.ordinal < outstanding && r.copy.is_settled()),
        }
    }
    /// The oldest copy whose fate is open.
    pub fn settled(&self, outstanding: Ordinal) -> Ordinal {
        let left = self.left.front().map_or(outstanding, Entry::holds_back);
        let repair = self.repairs.front().map_or(outstanding, |r| r.ordinal);
        self.whole.map_or(left, |(o, _)| o.min(left)).min(repair)
    }
    /// Takes off what is certain in the order of transmission, up to the next burst that ended or retransmission: that
    /// is given. `outstanding`: the oldest copy that is.
    pub fn next_certain(&mut self, outstanding: Ordinal, size: &super::Size) -> Option<Certain> {
        loop {
            if let Some((ordinal, lost)) = self.leaving {
                if let Some(fact) = self.leave(ordinal, lost) {
                    return Some(fact);
                }
                self.leaving = None;
            }
            let left = self.left.front().map_or(outstanding, Entry::holds_back);
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
            } else if self.left.front().is_some_and(|l| l.kept().is_none()) {
                self.take_front();
            } else {
                break;
            }
        }
        self.left.trim();
        self.repairs.trim();
        let settled = self.settled(outstanding);
        while self.known.front().is_some_and(|(o, _)| *o < settled) {
            self.known.drop_front();
        }
        if self.ended { self.bursts.next_at_the_end().map(Certain::Burst) } else { None }
    }
    /// The front of what left is settled.
    fn take_front(&mut self) {
        let Some(range) = self.left.pop_front() else { return };
        if !range.is_alone() {
            self.bursts.end(Some(range.time));
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
