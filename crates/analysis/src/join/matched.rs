//! What a copy found in both captures tells: of clocks, of sides, of the order of arrival.

use super::copy::Copy;
use super::directions::{InBoth, Turn};
use super::{Joiner, Side};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// A copy that came after this many that were sent behind it is not looked for, where arrivals waited for their senders' copies.
const OVERTAKEN_AT_MOST: usize = 256;
/// Of all directions together so many are kept.
const WAITED_AT_MOST: usize = 1 << 16;

/// Matched copies whose arrival was read before their departure, by direction, in the order in which they left; none of
/// them was overtaken yet, so it is the order in which they came as well.
#[derive(Debug, Default)]
pub(super) struct Waited {
    by_direction: FxHashMap<u32, VecDeque<InBoth>>,
    len: usize,
}

impl Waited {
    pub fn held(&self) -> u64 {
        let lists = self.by_direction.len() * size_of::<(u32, VecDeque<InBoth>)>();
        (lists + self.len * size_of::<InBoth>()) as u64
    }
    /// Takes out the copies that left before `this` and came after it.
    fn overtaken_by(&mut self, direction: u32, this: InBoth) -> Vec<InBoth> {
        let Some(list) = self.by_direction.get_mut(&direction) else { return Vec::new() };
        let before = list.partition_point(|copy| !this.came.is_before(copy.came));
        self.len -= list.len() - before;
        list.split_off(before).into()
    }
    fn add(&mut self, direction: u32, this: InBoth) {
        if self.len >= WAITED_AT_MOST {
            *self = Waited::default();
        }
        let list = self.by_direction.entry(direction).or_default();
        list.push_back(this);
        self.len += 1;
        if list.len() > OVERTAKEN_AT_MOST {
            list.pop_front();
            self.len -= 1;
        }
    }
    fn forget(&mut self, direction: u32) {
        if let Some(list) = self.by_direction.remove(&direction) {
            self.len -= list.len();
        }
    }
}

impl Joiner {
    /// The same copy at both sides: `a` in the sender's capture, `b` in the receiver's, whichever way it went. `last`: whose
    /// was read last.
    #[inline]
    pub(super) fn found_in_both(&mut self, last: Side, a: &Copy, b: &Copy) {
        let (a_direction, b_direction) = (a.direction, b.direction);
        if a_direction != b_direction && self.directions.peer(a_direction).is_none() {
            self.pair_up(a_direction, b_direction);
        }
        self.matched += 1;
        let difference = b.time.saturating_sub(a.time);
        let (least, greatest) = self.differences;
        self.differences = (least.min(difference), greatest.max(difference));
        let back = self.directions.get(a_direction ^ 1);
        let (answered, inward) = (back.matched > 0, back.last_difference);
        let direction = self.directions.get_mut(a_direction);
        direction.matched += 1;
        direction.last_difference = difference;
        for (i, t) in [a.time, b.time].into_iter().enumerate() {
            direction.first_matched[i] = direction.first_matched[i].min(t);
            direction.last_matched[i] = direction.last_matched[i].max(t);
        }
        // Outward differences exceed inward ones by a round trip, whatever the offset.
        if answered && difference != inward {
            self.directions.vote(a_direction, (difference > inward) == (a_direction & 1 == 0));
        }
        let outward = self.directions.outward(a_direction);
        self.pace.follow(outward, a.time, difference);
        self.comparison.sample(outward, a.time, difference);
        let direction = self.directions.get_mut(a_direction);
        direction.slowest =
            direction.slowest.max(difference.saturating_sub(self.pace.offset).saturating_abs());
        if let Some(outward) = outward {
            self.note_order(outward, last, a, b);
        }
    }

    /// A packet is reordered if one that was sent after it came before it (RFC 4737).
    #[inline]
    fn note_order(&mut self, outward: bool, last: Side, a: &Copy, b: &Copy) {
        let (from, sent, came) = if outward { (Side::Sender, a, b) } else { (Side::Receiver, b, a) };
        let this = InBoth { sent: Turn::of(sent), came: Turn::of(came), has_data: sent.len > 0, outward };
        let direction = self.directions.get_mut(a.direction);
        // What was noted while the direction was taken for the other one is of no use: it has its turns the wrong way round.
        let latest = direction.latest_sent.filter(|latest| latest.outward == outward);
        if direction.latest_sent.is_some() && latest.is_none() {
            self.waited.forget(a.direction);
        }
        let mut overtaken = Vec::new();
        match latest {
            Some(latest) if this.sent.is_before(latest.sent) => {
                overtaken.extend(latest.came.is_before(this.came).then_some(this));
            }
            _ => {
                direction.latest_sent = Some(this);
                overtaken.extend(latest.filter(|latest| this.came.is_before(latest.came)));
                // Arrivals are read after departures, and copies are matched in the order in which they came, unless the clock
                // at their receiver is behind.
                if last == from {
                    overtaken.extend(self.waited.overtaken_by(a.direction, this));
                    self.waited.add(a.direction, this);
                }
            }
        }
        direction.reorders |= !overtaken.is_empty();
        let data = overtaken.iter().filter(|copy| copy.has_data).map(|copy| copy.sent.packet);
        self.records[from as usize].late.extend(data);
    }

    /// What waits for a way of the receiver's capture counts under that of the sender's from here on.
    pub(super) fn pair_up(&mut self, a: u32, b: u32) {
        self.directions.pair_up(a, b);
        for (a, b) in [(a, b), (a ^ 1, b ^ 1)] {
            if self.directions.get(b).waiting[1] > 0 {
                let waiting = std::mem::take(&mut self.directions.get_mut(b).waiting[1]);
                self.directions.get_mut(a).waiting[1] += waiting;
            }
        }
    }
}
