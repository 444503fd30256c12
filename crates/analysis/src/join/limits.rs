//! What the other capture must have seen, and where it may have ended: a capture does not say when it was stopped.

use super::clock::Clock;
use super::directions::{Direction, Directions};
use super::{Miss, Side};
use crate::assumptions::DELAYED_ACK;
use rustc_hash::FxHashSet;
use wire::{Host, Span, Time};

/// Which packets of one capture the other one must have seen, if nothing happened to them.
pub(super) struct Limits<'a> {
    clock: &'a Clock,
    side: Side,
    /// First and last time of the other capture, on its clock. Whether it went on after its last packet is not known.
    other: (i64, i64),
    /// The shortest and the longest that a copy takes.
    delays: (Span, Span),
    /// The clocks' offset is known to so much: what may have passed outside by that much counts as outside.
    clock_error: Span,
}

/// Time stamps of a capture are good to this much at best: the kernel stamps packets as an interrupt takes them in.
const CLOCK_NOISE: Span = Span::from_micros(100);

impl Limits<'_> {
    pub fn new(clock: &Clock, side: Side, other: (i64, i64), slowest: Span) -> Limits<'_> {
        let floor = clock.rtt_floor.unwrap_or(Span::ZERO) / 2;
        let clock_error = clock.residual + CLOCK_NOISE;
        Limits { clock, side, other, delays: (floor, slowest), clock_error }
    }

    /// When it passed the other capture, at the earliest and at the latest. `leaves`: from this side to that.
    fn passed(&self, direction: &Direction, miss: &Miss, leaves: bool) -> (Time, Time) {
        let (least, most) = self.delays;
        let most = if direction.matched > 0 { Span(direction.slowest) } else { most };
        let there = self.clock.to(self.side.other(), Time(miss.time));
        if leaves { (there + least, there + most) } else { (there - most, there - least) }
    }
    /// May it have passed the other capture before that began? Not on a path that keeps packets in order, behind one that
    /// was seen there.
    pub fn before(&self, direction: &Direction, miss: &Miss, leaves: bool) -> bool {
        let behind_one = !direction.reorders && direction.first_matched[self.side as usize] <= miss.time;
        !behind_one && self.passed(direction, miss, leaves).0 - self.clock_error < Time(self.other.0)
    }
    /// May it have passed there after its end?
    pub fn after(&self, direction: &Direction, miss: &Miss, leaves: bool) -> bool {
        let before_one = !direction.reorders && direction.last_matched[self.side as usize] >= miss.time;
        !before_one && self.passed(direction, miss, leaves).1 + self.clock_error > Time(self.other.1)
    }
    /// Either.
    pub fn outside(&self, direction: &Direction, miss: &Miss, leaves: bool) -> bool {
        self.before(direction, miss, leaves) || self.after(direction, miss, leaves)
    }
}

/// Who was heard of on this side after the other capture's end: that one had been stopped. Of whom nothing came for longer
/// than any answer takes, nothing reached him: his capture lacks what was sent to him because it was lost.
pub(super) struct Heard {
    hosts: FxHashSet<Host>,
    /// The last time of this side's capture, on its clock.
    end: i64,
}

impl Heard {
    pub fn new(span: Option<(i64, i64)>) -> Heard {
        Heard { hosts: FxHashSet::default(), end: span.map_or(i64::MIN, |(_, last)| last) }
    }
    /// A packet of that direction came after the end.
    pub fn note(&mut self, directions: &Directions, direction: u32) {
        self.hosts.extend(directions.tuple(direction).map(|t| t.src.host));
    }
    /// Data that may have passed the other capture after its end, and that was answered by nothing. `home`: where its
    /// direction's matches are counted.
    pub fn is_unanswered(&self, directions: &Directions, home: u32, miss: &Miss, limits: &Limits) -> bool {
        let (there, back) = (directions.get(home), directions.get(home ^ 1));
        // Both captures show both ways: else no answer would be seen either way.
        let seen = there.matched > 0 && back.matched > 0;
        let round = there.slowest.saturating_add(back.slowest);
        let answered_by = miss.time.saturating_add(round).saturating_add(DELAYED_ACK.0);
        let host = directions.tuple(miss.direction).map(|t| t.dst.host);
        miss.len > 0
            && seen
            && answered_by <= self.end
            && host.is_some_and(|h| !self.hosts.contains(&h))
            && !limits.before(there, miss, true)
    }
}
