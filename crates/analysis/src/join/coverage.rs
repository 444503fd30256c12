//! Which packets the other capture must have seen, and when it may have ended: a capture does not say when it was stopped.

use super::clock::Clock;
use super::directions::{Direction, Directions};
use super::{Side, Unmatched};
use crate::assumptions::DELAYED_ACK;
use rustc_hash::FxHashSet;
use wire::{Host, Span, Time};

/// Which packets of one capture the other one must have seen, if nothing happened to them.
pub(super) struct Coverage<'a> {
    clock: &'a Clock,
    side: Side,
    /// First and last time of the other capture, on its clock. Whether it went on after its last packet is not known.
    other: (i64, i64),
    /// Half the shortest round trip, and an upper bound of the delays seen.
    delays: (Span, Span),
    /// The clocks' offset is known to so much: what may have passed outside by that much counts as outside.
    clock_error: Span,
}

/// Time stamps of a capture are good to this much at best: the kernel stamps packets as an interrupt takes them in.
const CLOCK_NOISE: Span = Span::from_micros(100);

impl Coverage<'_> {
    pub fn new(clock: &Clock, side: Side, other: (i64, i64), largest_delay: Span) -> Coverage<'_> {
        let floor = clock.rtt_floor.unwrap_or(Span::ZERO) / 2;
        let clock_error = clock.residual + CLOCK_NOISE;
        Coverage { clock, side, other, delays: (floor, largest_delay), clock_error }
    }

    /// When it passed the other capture, at the earliest and at the latest. `leaves`: from this side to that.
    fn passing_times(&self, direction: &Direction, unmatched: &Unmatched, leaves: bool) -> (Time, Time) {
        let (least, most) = self.delays;
        let most = if direction.matched > 0 { Span(direction.largest_delay) } else { most };
        let there = self.clock.to(self.side.other(), Time(unmatched.time));
        if leaves { (there + least, there + most) } else { (there - most, there - least) }
    }
    /// May it have passed the other capture before that began? On a path that keeps packets in order it did not if one that
    /// was sent before it is in both.
    pub fn before(&self, direction: &Direction, unmatched: &Unmatched, leaves: bool) -> bool {
        let behind_one = !direction.reorders && direction.first_matched[self.side as usize] <= unmatched.time;
        !behind_one
            && self.passing_times(direction, unmatched, leaves).0 - self.clock_error < Time(self.other.0)
    }
    /// May it have passed the other capture after that ended? On a path that keeps packets in order it did not if one that
    /// was sent after it is in both.
    pub fn after(&self, direction: &Direction, unmatched: &Unmatched, leaves: bool) -> bool {
        let before_one = !direction.reorders && direction.last_matched[self.side as usize] >= unmatched.time;
        !before_one
            && self.passing_times(direction, unmatched, leaves).1 + self.clock_error > Time(self.other.1)
    }
    /// Either.
    pub fn outside(&self, direction: &Direction, unmatched: &Unmatched, leaves: bool) -> bool {
        self.before(direction, unmatched, leaves) || self.after(direction, unmatched, leaves)
    }
}

/// Hosts that this capture shows sending after the last packet of the capture next to them: that capture was stopped. If
/// instead a host is silent for a round trip and a delayed ACK, what was sent to it is taken as lost, which assumes that not
/// all its answers were.
pub(super) struct Heard {
    hosts: FxHashSet<Host>,
    /// The last time of this side's capture, on its clock.
    end: i64,
}

impl Heard {
    pub fn new(span: Option<(i64, i64)>) -> Heard {
        Heard { hosts: FxHashSet::default(), end: span.map_or(i64::MIN, |(_, last)| last) }
    }
    /// A packet of that direction came after the other capture's last packet.
    pub fn note(&mut self, directions: &Directions, direction: u32) {
        self.hosts.extend(directions.tuple(direction).map(|t| t.src.host));
    }
    /// Data that may have passed the other capture after its end, and that was answered by nothing. `canonical`: where its
    /// direction's matches are counted.
    pub fn is_unanswered(
        &self,
        directions: &Directions,
        canonical: u32,
        unmatched: &Unmatched,
        coverage: &Coverage,
    ) -> bool {
        let (there, back) = (directions.get(canonical), directions.get(canonical ^ 1));
        // Both captures show both directions; else no answer would be seen anyway.
        let seen = there.matched > 0 && back.matched > 0;
        let round = there.largest_delay.saturating_add(back.largest_delay);
        let answered_by = unmatched.time.saturating_add(round).saturating_add(DELAYED_ACK.0);
        let host = directions.tuple(unmatched.direction).map(|t| t.dst.host);
        unmatched.len > 0
            && seen
            && answered_by <= self.end
            && host.is_some_and(|h| !self.hosts.contains(&h))
            && !coverage.before(there, unmatched, true)
    }
}
