//! Which copy of a segment arrived, when several were sent? Decided a round trip after its acknowledgment, when
//! a DSACK can no longer come.

use super::Ordinal;
use super::copy::{Copy, ResentCopies, ResentCopy};
use super::entry::{Entry, Origin};
use super::multi_copy::{Answers, MultiCopy};
use crate::rows::{Needless, Proof, Vantage};
use smallvec::SmallVec;
use wire::Span;

/// Copies of one segment: seldom more than four.
type Few<T> = SmallVec<[T; 4]>;

/// What the path and the receiver are like.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    pub at: Vantage,
    /// From here to the receiver and back, at least.
    pub forth_and_back: Span,
    /// The next answer may come a little sooner than any before, and none comes later.
    pub soonest: Span,
    pub latest: Span,
    /// The receiver has sent DSACKs on this connection.
    pub dsack_seen: bool,
}

/// Did a copy of before the one with `ts` set off the ACK that echoes `echo`? (RFC 3522)
pub fn echoes_older(echo: u32, ts: u32) -> bool {
    echo != 0 && ts != 0 && (echo.wrapping_sub(ts) as i32) < 0
}

impl MultiCopy {
    /// Tells the fate of every copy of `seg`: those that repeated it are told, and whether the first was lost is given.
    /// `known`: how many bytes of that one were lost, if a second capture tells.
    pub fn settle(
        &self,
        seg: &Entry,
        known: Option<u32>,
        repairs: &mut ResentCopies,
        conditions: &Conditions,
    ) -> bool {
        let first = (seg.origin() != Origin::Rest).then(|| self.first_copy(seg, known));
        let of_repair = |o: &Ordinal| repairs.get(*o).map(|r| r.copy);
        let copies: Few<Option<Copy>> = std::iter::once(first.or_else(|| of_repair(&seg.first())))
            .chain(self.later.iter().map(of_repair))
            .collect();
        let arrived = self.arrived(&copies, conditions);
        let first_arrived = arrived.iter().position(|a| *a).unwrap_or(arrived.len());
        for (i, (&ordinal, &here)) in [seg.first()].iter().chain(&self.later).zip(&arrived).enumerate() {
            let Some(ResentCopy { copy, resend, .. }) = repairs.get_mut(ordinal) else { continue };
            copy.settle(seg.len(), !here);
            let verdict = match i > first_arrived {
                false => Needless::No,
                true if conditions.at == Vantage::Receiver || conditions.at == Vantage::Both => {
                    Needless::Yes(Proof::Seen)
                }
                true if self.dsacks > 0 => Needless::Yes(Proof::Dsack),
                true if echoes_older(self.echo, copy.ts) => Needless::Yes(Proof::Timestamps),
                true => Needless::Yes(Proof::EarlyAck),
            };
            // A packet that carried several segments was needless only if all of it was.
            resend.needless = match (resend.needless, verdict) {
                (Needless::No, _) | (_, Needless::No) => Needless::No,
                (_, v) => v,
            };
        }
        !arrived[0]
    }

    /// Its first copy, if that was its own.
    fn first_copy(&self, seg: &Entry, known: Option<u32>) -> Copy {
        let unseen = seg.origin() == Origin::Unseen;
        let mut copy = Copy { time: self.due, ts: self.first_ts, unseen, ..Copy::default() };
        copy.know(known);
        copy
    }

    /// For each copy, whether it arrived.
    fn arrived(&self, copies: &[Option<Copy>], conditions: &Conditions) -> Few<bool> {
        let mut arrived: Few<bool> = copies.iter().map(|c| c.is_some_and(|c| c.known() == Some(0))).collect();
        if copies.iter().all(|c| c.is_none_or(|c| c.known().is_some())) {
            return arrived;
        }
        if conditions.at == Vantage::Receiver {
            // What was seen here arrived here.
            return copies.iter().map(|c| c.is_some_and(|c| !c.unseen)).collect();
        }
        // A copy can have caused the report only if it left a round trip before it: sooner than the quickest of all, and it
        // was an earlier one (RFC 8985 §6.2).
        let least = conditions.forth_and_back;
        let n = copies.len();
        let in_time = if self.behind { n - 1 } else { n };
        let could = |i: usize, soonest: Span| {
            let left = |c: Copy| !c.unseen && c.time + soonest <= self.reported;
            copies[i].is_some_and(|c| left(c) && !echoes_older(self.echo, c.ts))
        };
        // An echo that only one copy carried names it, however quick it was: queues may have been longer for all others.
        let carried = |i: usize| copies[i].is_some_and(|c| !c.unseen && c.ts != 0 && self.echo == c.ts);
        let mut named = (0..n).filter(|&i| carried(i));
        let named = named.next().filter(|_| named.next().is_none());
        let last = |soonest: Span| (0..in_time).rev().find(|&i| could(i, soonest));
        // Where what left in time was too long under way, what came a little sooner than any round trip did it.
        let late = |i: &usize| copies[*i].is_some_and(|c| c.time + conditions.latest < self.reported);
        let by_time = || last(least).filter(|i| !late(i)).or_else(|| last(conditions.soonest));
        let deliverer = named.or_else(by_time);
        let deliverer = deliverer.or_else(|| copies.iter().position(|c| c.is_some_and(|c| !c.unseen)));
        let Some(deliverer) = deliverer else { return arrived };
        arrived[deliverer] = true;
        // Each DSACK is one more arrival (RFC 2883 §4): of the latest copy that it can speak of.
        for _ in 0..usize::from(self.dsacks).min(n) {
            let spoken_of = (0..n)
                .rev()
                .find(|&i| !arrived[i] && copies[i].is_some_and(|c| c.time + least <= self.last_dsack))
                .or_else(|| (0..n).rev().find(|&i| !arrived[i]));
            if let Some(i) = spoken_of {
                arrived[i] = true;
            }
        }
        arrived[n - 1] |= self.answers == Answers::OfLast;
        // Later copies of what had arrived: the receiver would have answered each at once (RFC 5681 §4.2). Where its answers
        // are known to have been lost, as long as it was not heard, that tells nothing, and what else was sent arrived. So
        // was the answer to what delivered, if the first that came was to a later copy.
        let unheard = match self.answers {
            Answers::Lost => true,
            Answers::OfLast => deliverer + 1 < n,
            Answers::Unknown => false,
        };
        for i in deliverer + 1..n {
            let silence = match (copies[i], copies.get(i + 1).copied().flatten()) {
                (Some(c), Some(next)) => next.heard == c.heard,
                _ => false,
            };
            arrived[i] |= if silence { unheard } else { !conditions.dsack_seen };
        }
        arrived
    }
}
