//! What a copy found in both captures tells: of clocks, of sides, of the order of arrival.

use super::copy::Copy;
use super::ways::Turn;
use super::{Joiner, Side};

impl Joiner {
    /// The same copy at both sides: `a` at the sender's, `b` at the receiver's.
    #[inline]
    pub(super) fn met(&mut self, a: &Copy, b: &Copy) {
        let (a_way, b_way) = (a.way, b.way);
        if a_way != b_way && self.ways.peer(a_way).is_none() {
            self.pair_up(a_way, b_way);
        }
        self.matched += 1;
        let difference = b.time.saturating_sub(a.time);
        let (least, greatest) = self.differences;
        self.differences = (least.min(difference), greatest.max(difference));
        let back = self.ways.get(a_way ^ 1);
        let (answered, inward) = (back.matched > 0, back.last_difference);
        let way = self.ways.get_mut(a_way);
        way.matched += 1;
        way.last_difference = difference;
        for (i, t) in [a.time, b.time].into_iter().enumerate() {
            way.first_matched[i] = way.first_matched[i].min(t);
            way.last_matched[i] = way.last_matched[i].max(t);
        }
        // Outward differences exceed inward ones by a round trip, whatever the offset.
        if answered && difference != inward {
            self.ways.vote(a_way, (difference > inward) == (a_way & 1 == 0));
        }
        let outward = self.ways.outward(a_way);
        self.pace.follow(outward, a.time, difference);
        self.comparison.sample(outward, a.time, difference);
        let way = self.ways.get_mut(a_way);
        way.slowest = way.slowest.max(difference.saturating_sub(self.pace.offset).saturating_abs());
        if let Some(outward) = outward {
            self.note_order(outward, a, b);
        }
    }

    /// A copy is late if one that was sent after it came before it.
    #[inline]
    fn note_order(&mut self, outward: bool, a: &Copy, b: &Copy) {
        let (from, sent, came) = if outward { (Side::Sender, a, b) } else { (Side::Receiver, b, a) };
        let this = (Turn::of(sent), Turn::of(came));
        let way = self.ways.get_mut(a.way);
        let late = match way.newest {
            Some((sent, came)) if this.0.is_before(sent) => came.is_before(this.1).then_some(this.0),
            before => {
                way.newest = Some(this);
                before.and_then(|(sent, came)| this.1.is_before(came).then_some(sent))
            }
        };
        if let Some(late) = late {
            way.reorders = true;
            if sent.len > 0 {
                self.records[from as usize].late.push(late.packet);
            }
        }
    }

    /// What waits for a way of the receiver's capture counts under that of the sender's from here on.
    pub(super) fn pair_up(&mut self, a: u32, b: u32) {
        self.ways.pair_up(a, b);
        for (a, b) in [(a, b), (a ^ 1, b ^ 1)] {
            if self.ways.get(b).waiting[1] > 0 {
                let waiting = std::mem::take(&mut self.ways.get_mut(b).waiting[1]);
                self.ways.get_mut(a).waiting[1] += waiting;
            }
        }
    }
}
