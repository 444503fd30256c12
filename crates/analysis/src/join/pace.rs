//! How far apart the two captures are while they are read: good enough to take packets in the order of one
//! clock. The offset that users see is worked out at the end, by [`super::clock`].

pub(super) const SECOND: i64 = 1_000_000_000;

/// A copy without counterpart waits so long, or three times the largest delay seen if that is longer.
const PATIENCE: i64 = 10 * SECOND;
/// The fastest that two clocks are let drift apart: one part in so many, 200 ppm.
const DRIFT: i64 = 5_000;

#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Receiver's clock less sender's.
    pub offset: i64,
    /// Largest distance of a difference from the offset: a delay and half a round trip at most.
    pub largest_delay: i64,
    /// The smallest outward difference and the largest inward one, and when they were seen.
    outward: Option<(i64, i64)>,
    inward: Option<(i64, i64)>,
}

impl Pace {
    /// A packet was seen at `time` on the sender's clock, `difference` later on the receiver's.
    #[inline]
    pub fn follow(&mut self, outward: Option<bool>, time: i64, difference: i64) {
        let slack = |seen: i64| time.saturating_sub(seen).max(0) / DRIFT;
        // Each envelope gives way as slowly as clocks drift.
        match outward {
            Some(true) if self.outward.is_none_or(|(d, t)| difference <= d.saturating_add(slack(t))) => {
                self.outward = Some((difference, time));
            }
            Some(false) if self.inward.is_none_or(|(d, t)| difference >= d.saturating_sub(slack(t))) => {
                self.inward = Some((difference, time));
            }
            _ => {}
        }
        self.offset = match (self.outward, self.inward) {
            (Some((a, _)), Some((b, _))) => a.midpoint(b),
            (Some((d, _)), None) | (None, Some((d, _))) => d,
            (None, None) => difference,
        };
        self.largest_delay = self.largest_delay.max(difference.saturating_sub(self.offset).saturating_abs());
    }

    pub fn patience(&self) -> i64 {
        PATIENCE.max(self.largest_delay.saturating_mul(3))
    }

    /// What `side`'s clock shows when the other side's shows `time`.
    pub fn on_clock_of(&self, side: super::Side, time: i64) -> i64 {
        match side {
            super::Side::Sender => time.saturating_sub(self.offset),
            super::Side::Receiver => time.saturating_add(self.offset),
        }
    }
}
