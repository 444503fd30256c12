//! First copies that are outstanding no more, as far as there is something to tell of them.
//!
//! They leave in the order of their sequence numbers, which is the order of their transmission. What arrived and was
//! sent once only tells where a burst ends: of a run of such copies the first is enough.

use super::Ordinal;
use super::board::{Origin, Sent};
use super::bursts::Bursts;
use super::copy::{Certain, Copy, Repairs, distance};
use super::settle::{Judge, Settling};
use crate::stream::queue::Queue;
use wire::Time;

/// What became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Met {
    #[default]
    Arrived,
    Lost,
    /// The stream ended before that was known.
    Open,
}

/// A range that left; or several whose copies were sent one after the other, all of them arrived.
#[derive(Clone, Debug, Default)]
pub struct Left {
    pub first: Ordinal,
    /// The last of the run.
    last: Ordinal,
    pub start: u64,
    pub end: u64,
    /// When the first copy passed.
    time: Time,
    /// Its copies wait to be told apart.
    pub settling: Option<Box<Settling>>,
    /// The copy that repaired it first, as a distance in transmission order; 0 if none did.
    repair: u32,
    met: Met,
    origin: Origin,
    /// It stands for itself: not of a run.
    alone: bool,
}

impl Left {
    pub fn arrived(seg: &Sent) -> Left {
        Left {
            first: seg.first,
            last: seg.first,
            start: seg.start,
            end: seg.end(),
            time: seg.copy_time(),
            repair: seg.ordinals().nth(1).map_or(0, |by| distance(seg.first, by)),
            origin: seg.origin,
            ..Left::default()
        }
    }
    pub fn open(seg: &Sent) -> Left {
        Left { met: Met::Open, alone: true, ..Left::arrived(seg) }
    }
    pub fn settling(settling: Settling) -> Left {
        Left { alone: true, ..Left::arrived(&settling.seg) }.with(settling)
    }
    fn with(mut self, settling: Settling) -> Left {
        self.settling = Some(Box::new(settling));
        self
    }
    /// Never seen, and acknowledged all the same.
    pub fn unseen(first: Ordinal, start: u64, end: u64, time: Time) -> Left {
        Left { first, last: first, start, end, time, ..Left::default() }
    }
    /// Nothing from this copy on is told before it is settled.
    fn holds_back(&self) -> Ordinal {
        self.first + u64::from(self.origin == Origin::Rest)
    }
    fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// What exists while there is something to tell.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    pub left: Queue<Left>,
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
        // Most of what waits here waits to be told apart.
        of(self.left.len(), size_of::<Left>() + size_of::<Settling>())
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
    pub fn push_arrived(&mut self, seg: &Sent, next: Option<Ordinal>) {
        if !self.extends_run(seg, next) {
            self.push(Left::arrived(seg), next);
        }
    }
    /// Does it go with the run that left before it? Then there is no more to it.
    #[inline(always)]
    fn extends_run(&mut self, seg: &Sent, next: Option<Ordinal>) -> bool {
        let Some(run) = self.left.back_mut() else { return false };
        let goes_on = run.last + 1 == seg.first && !run.alone && next != Some(seg.first);
        if !goes_on || seg.origin == Origin::Rest || !self.known.is_empty() {
            return false;
        }
        (run.last, run.end) = (seg.first, seg.end());
        true
    }
    /// A range leaves; the next that is outstanding is of the copy `next`.
    pub fn push(&mut self, mut range: Left, next: Option<Ordinal>) {
        let first = range.first;
        if range.origin == Origin::Rest && range.settling.is_none() {
            if range.met == Met::Arrived {
                self.repairs.settle(first, u64::from(range.len()), false);
            }
            return;
        }
        // What was acknowledged unseen stands at the end before all that was outstanding has left.
        let at = self.left.len() - usize::from(self.left.back().is_some_and(|l| l.first > first));
        let before = at.checked_sub(1);
        let last = before.and_then(|i| self.left.get(i)).map(|l| l.last);
        let of_whole = self.whole.is_some_and(|(o, _)| o == first);
        range.alone |= next == Some(first) || last == Some(first) || of_whole;
        range.alone |= !self.known.is_empty();
        if !range.alone && before.is_none() && self.is_quiet_before(first) {
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
    pub fn settle(&mut self, now: Time, judge: &Judge) {
        let mut i = 0;
        while let Some(range) = self.left.get(i) {
            if range.settling.as_ref().is_some_and(|s| s.until > now) {
                break;
            }
            self.settle_at(i, judge);
            i += 1;
        }
    }
    /// The same of all: nothing more will be heard.
    pub fn settle_all(&mut self, judge: &Judge) {
        (0..self.left.len()).for_each(|i| self.settle_at(i, judge));
    }
    fn settle_at(&mut self, i: usize, judge: &Judge) {
        let Some(range) = self.left.get_mut(i) else { return };
        let (first, Some(settling)) = (range.first, range.settling.take()) else { return };
        let lost = settling.settle(self.known(first), &mut self.repairs, judge);
        if let Some(range) = self.left.get_mut(i).filter(|_| lost) {
            range.met = Met::Lost;
        }
    }
    /// May the front have become certain? `outstanding`: the oldest copy that is.
    pub fn may_advance(&self, now: Time, outstanding: Ordinal) -> bool {
        match self.left.front() {
            Some(range) => range.settling.as_ref().is_none_or(|s| s.until <= now),
            None => self.repairs.front().is_some_and(|r| r.ordinal < outstanding && r.copy.is_settled()),
        }
    }
    /// The oldest copy whose fate is open.
    pub fn settled(&self, outstanding: Ordinal) -> Ordinal {
        let left = self.left.front().map_or(outstanding, Left::holds_back);
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
            let left = self.left.front().map_or(outstanding, Left::holds_back);
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
            } else if self.left.front().is_some_and(|l| l.settling.is_none()) {
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
        if !range.alone {
            self.bursts.end(Some(range.time));
            return;
        }
        if range.origin == Origin::Rest {
            return; // it is a part of a retransmission
        }
        let known = self.known(range.first);
        let (_, copy) = self.whole.get_or_insert_with(|| {
            let unseen = range.origin == Origin::Unseen;
            let mut copy = Copy { time: range.time, start: range.start, unseen, ..Copy::default() };
            copy.know(known);
            (range.first, copy)
        });
        copy.len += range.len();
        if copy.repair == 0 || range.repair != 0 && range.repair < copy.repair {
            copy.repair = range.repair;
        }
        if range.met != Met::Open {
            copy.settle(range.len(), range.met == Met::Lost);
        }
    }
    /// What is to be told of the retransmission `ordinal`, which leaves: the bursts that waited for it, and itself.
    fn leave(&mut self, ordinal: Ordinal, lost: bool) -> Option<Certain> {
        let first = self.repairs.front().filter(|r| r.ordinal <= ordinal)?;
        if let Some(row) = self.bursts.released_by(first) {
            return Some(Certain::Burst(row));
        }
        let repair = self.repairs.pop_front()?;
        self.bursts.note_timer(&repair);
        Some(Certain::Resend(repair.row(lost)))
    }
}
