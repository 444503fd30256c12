//! A packet that is in both captures tells their clock offset, from which side its direction leaves, and whether it was reordered.

use super::captured::CapturedSegment;
use super::directions::{CapturePosition, InBoth};
use super::{Joiner, Side};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Where arrivals waited for the copies at their sender, a packet that overtook more than this many is not compared with
/// those before.
const OVERTAKEN_AT_MOST: usize = 256;
/// At most this many are kept of all directions together.
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
    pub(super) fn found_in_both(&mut self, last: Side, a: &CapturedSegment, b: &CapturedSegment) {
        let (a_direction, b_direction) = (a.direction, b.direction);
        if a_direction != b_direction && self.directions.translation(a_direction).is_none() {
            self.record_translation(a_direction, b_direction);
        }
        self.matched += 1;
        let difference = b.time.saturating_sub(a.time);
        let (least, greatest) = self.differences;
        self.differences = (least.min(difference), greatest.max(difference));
        let reverse = self.directions.get(a_direction ^ 1);
        let (reverse_has_matches, reverse_difference) = (reverse.matched > 0, reverse.last_difference);
        let direction = self.directions.get_mut(a_direction);
        direction.matched += 1;
        direction.last_difference = difference;
        for (i, t) in [a.time, b.time].into_iter().enumerate() {
            direction.first_matched[i] = direction.first_matched[i].min(t);
            direction.last_matched[i] = direction.last_matched[i].max(t);
        }
        // Outward differences exceed inward ones by a round trip, whatever the offset. The vote is on the even one.
        if reverse_has_matches && difference != reverse_difference {
            self.directions.vote(a_direction, (difference > reverse_difference) == (a_direction & 1 == 0));
        }
        let outward = self.directions.outward(a_direction);
        self.offset_tracker.update(outward, a.time, difference);
        self.clock_filter.sample(outward, a.time, difference);
        let direction = self.directions.get_mut(a_direction);
        direction.largest_delay = direction
            .largest_delay
            .max(difference.saturating_sub(self.offset_tracker.offset).saturating_abs());
        if let Some(outward) = outward {
            self.note_order(outward, last, a, b);
        }
    }

    /// A packet is reordered if one that was sent after it came before it (RFC 4737).
    #[inline]
    fn note_order(&mut self, outward: bool, last: Side, a: &CapturedSegment, b: &CapturedSegment) {
        let (from, sent, came) = if outward { (Side::Sender, a, b) } else { (Side::Receiver, b, a) };
        let this = InBoth {
            sent: CapturePosition::of(sent),
            came: CapturePosition::of(came),
            has_data: sent.len > 0,
            outward,
        };
        let direction = self.directions.get_mut(a.direction);
        // A position that was noted while the direction was taken for the reverse one has `sent` and `came` exchanged.
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
                // Arrivals are read after departures, and copies are matched in the order in which they came, unless
                // the clock at their receiver is behind.
                if last == from {
                    overtaken.extend(self.waited.overtaken_by(a.direction, this));
                    self.waited.add(a.direction, this);
                }
            }
        }
        direction.reorders |= !overtaken.is_empty();
        let data = overtaken.iter().filter(|copy| copy.has_data).map(|copy| copy.sent.packet);
        self.records[from as usize].reordered.extend(data);
    }

    /// `b` is `a` under translated addresses: copies of `b` that wait count under `a` from here on.
    pub(super) fn record_translation(&mut self, a: u32, b: u32) {
        self.directions.record_translation(a, b);
        for (a, b) in [(a, b), (a ^ 1, b ^ 1)] {
            if self.directions.get(b).waiting[1] > 0 {
                let waiting = std::mem::take(&mut self.directions.get_mut(b).waiting[1]);
                self.directions.get_mut(a).waiting[1] += waiting;
            }
        }
    }
}
