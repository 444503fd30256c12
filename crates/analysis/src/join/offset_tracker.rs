//! The offset of the two clocks as far as it is known while the captures are read: good enough to take packets in the
//! order of one clock. The offset that users see is worked out at the end, by [`super::clock`].

pub(super) const SECOND: i64 = 1_000_000_000;

/// A copy without counterpart waits this long, or three times the largest deviation if that is longer.
const WAIT_LIMIT: i64 = 10 * SECOND;
/// Two clocks drift apart by at most one part in this many, which is 200 ppm.
const DRIFT_DIVISOR: i64 = 5_000;

#[derive(Debug, Default)]
pub(super) struct OffsetTracker {
    /// Receiver's clock less sender's.
    pub offset: i64,
    /// Largest distance of a difference from the offset: at most a one-way delay plus half a round trip.
    pub largest_deviation: i64,
    /// The smallest outward difference and the largest inward one, and when they were seen. A later difference replaces them
    /// if drift since then may explain it.
    outward: Option<(i64, i64)>,
    inward: Option<(i64, i64)>,
}

impl OffsetTracker {
    /// A packet was seen at `time` on the sender's clock, `difference` later on the receiver's.
    #[inline]
    pub fn update(&mut self, outward: Option<bool>, time: i64, difference: i64) {
        let slack = |seen: i64| time.saturating_sub(seen).max(0) / DRIFT_DIVISOR;
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
        self.largest_deviation =
            self.largest_deviation.max(difference.saturating_sub(self.offset).saturating_abs());
    }

    pub fn wait_limit(&self) -> i64 {
        WAIT_LIMIT.max(self.largest_deviation.saturating_mul(3))
    }

    /// What `side`'s clock shows when the other side's shows `time`.
    pub fn to_clock_of(&self, side: super::Side, time: i64) -> i64 {
        match side {
            super::Side::Sender => time.saturating_sub(self.offset),
            super::Side::Receiver => time.saturating_add(self.offset),
        }
    }
}
