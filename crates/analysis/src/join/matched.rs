//! What a copy found in both captures tells: of clocks, of sides, of the order of arrival.

use super::copy::Copy;
use super::directions::Turn;
use super::{Joiner, Side};

impl Joiner {
    /// The same copy at both sides: `a` at the sender's, `b` at the receiver's.
    #[inline]
    pub(super) fn found_in_both(&mut self, a: &Copy, b: &Copy) {
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
            self.note_order(outward, a, b);
        }
    }

    /// A copy is late if one that was sent after it came before it.
    #[inline]
    fn note_order(&mut self, outward: bool, a: &Copy, b: &Copy) {
        let (from, sent, came) = if outward { (Side::Sender, a, b) } else { (Side::Receiver, b, a) };
        let this = (Turn::of(sent), Turn::of(came));
        let direction = self.directions.get_mut(a.direction);
        let late = match direction.newest {
            Some((sent, came)) if this.0.is_before(sent) => came.is_before(this.1).then_some(this.0),
            before => {
                direction.newest = Some(this);
                before.and_then(|(sent, came)| this.1.is_before(came).then_some(sent))
            }
        };
        if let Some(late) = late {
            direction.reorders = true;
            if sent.len > 0 {
                self.records[from as usize].late.push(late.packet);
            }
        }
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
