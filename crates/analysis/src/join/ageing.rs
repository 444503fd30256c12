//! Decides when a captured packet has waited long enough for its counterpart in the other capture, and what is
//! recorded of it.

use super::captured::CapturedSegment;
use super::{Joiner, REMEMBERED_AT_MOST, Side, Unmatched};
use crate::fault::TripAt;

/// Until a first packet has been found in both captures, at most this many packets of each are kept waiting.
const WAITING_FOR_THE_FIRST: usize = 1 << 20;
/// After the first match at most this many packets of each capture wait. Only a damaged capture reaches this limit.
const WAITING_AT_MOST: usize = 1 << 22;

impl Joiner {
    /// True for a packet so late that the other capture, which has ended, cannot hold it.
    pub(super) fn is_after_the_other(&self, side: Side, time: i64) -> bool {
        let other = side.other() as usize;
        let done = !self.complete && self.ended[other] && self.queues[other].is_empty() && self.matched > 0;
        let end = self.records[other].span.map_or(i64::MIN, |(_, last)| last);
        done && self.offset_tracker.to_clock_of(side.other(), time)
            > end.saturating_add(self.offset_tracker.wait_limit())
    }

    /// Lets go of what the capture of `side` has passed, and of what is too much.
    pub(super) fn expire(&mut self, side: Side) {
        let (here, other) = (side as usize, side.other());
        if self.matched == 0 {
            while self.pending[here].len() > WAITING_FOR_THE_FIRST {
                let Some(copy) = self.pending[here].take_oldest() else { break };
                let canonical = self.directions.canonical(side, copy.direction);
                self.directions.one_fewer_waits(canonical, side);
                self.records[here].count_too_early(&copy);
            }
            return;
        }
        // The earlier of two, so that one damaged time stamp does not age everything.
        let now = self.records[here].last_times;
        let now = self.offset_tracker.to_clock_of(other, now[0].min(now[1]));
        let wait_limit = self.offset_tracker.wait_limit();
        let aged = |c: &CapturedSegment| c.time.saturating_add(wait_limit) < now;
        while self.pending[other as usize].oldest().is_some_and(aged) {
            let Some(copy) = self.pending[other as usize].take_oldest() else { break };
            self.give_up(other, copy);
        }
        while self.pending[here].len() > WAITING_AT_MOST {
            let Some(copy) = self.pending[here].take_oldest() else { break };
            self.give_up(side, copy);
        }
    }

    /// No counterpart will come for a copy of `side`'s capture.
    pub(super) fn give_up(&mut self, side: Side, copy: CapturedSegment) {
        self.at_work = Some(copy.direction);
        if let (Some(trip), Some(tuple)) = (self.trip, self.at_work()) {
            trip.check(TripAt::Misses, &tuple);
        }
        let (here, other) = (side as usize, side.other() as usize);
        let canonical = self.directions.canonical(side, copy.direction);
        self.directions.one_fewer_waits(canonical, side);
        // Even if it was as slow as anything is waited for, it came before the other capture began.
        let began = self.records[other].span.map_or(i64::MAX, |(first, _)| first);
        let reached = self
            .offset_tracker
            .to_clock_of(side.other(), copy.time)
            .saturating_add(self.offset_tracker.wait_limit());
        if !self.complete && (self.matched == 0 || reached < began) {
            self.records[here].count_too_early(&copy);
            return;
        }
        if !self.complete && !self.directions.is_shown(side.other(), canonical) {
            let direction = self.directions.get_mut(canonical);
            direction.unmatched[here] = direction.unmatched[here].saturating_add(1);
            if direction.unmatched[here] > REMEMBERED_AT_MOST {
                return;
            }
        }
        let record = &mut self.records[here];
        match record.unmatched.last_mut() {
            Some(m) if m.number == copy.number && m.seq.wrapping_add(m.len) == copy.seq && copy.len > 0 => {
                m.len = m.len.saturating_add(copy.len);
            }
            _ => record.unmatched.push(Unmatched::of(&copy)),
        }
    }
}
