//! ns-3.20's RttMeanDeviation: one gain for mean and deviation, whole milliseconds, a multiplier up to 64.
//!
//! Read in ns-3.20 and confirmed by its traces. What the sender has to do besides:
//! - A sample is taken of the *oldest* segment that is outstanding, when an ACK covers all of it and it was sent
//!   once: with delayed ACKs this is the first of the two, so the wait for the second counts in. A segment that
//!   was resent gives none, and when it is at the front, nothing behind it does at that ACK.
//! - The SYN is not timed. The SYN's own timer is apart: 3 s, doubled, at most 6 tries.
//! - The timer restarts at every ACK that advances; with `rto()` after that ACK's sample.
//! - A timeout doubles the multiplier before the segment is resent; a fast retransmit does not.

use super::{Bounds, LONGEST_SAMPLE, RttSample, TimerRule};
use wire::time::Span;

#[derive(Clone, Copy, Debug)]
pub(super) struct Ns320 {
    estimate: Span,
    deviation: Span,
    sampled: bool,
    /// The multiplier is 2^`backoff`.
    backoff: u32,
}

/// Attribute `Gain`.
const GAIN: f64 = 0.1;
/// Attribute `MaxMultiplier`: 2^6.
const MOST_BACKOFF: u32 = 6;
const MILLISECOND: i64 = 1_000_000;

impl Ns320 {
    /// `initial` is attribute `InitialEstimation` (1 s), an RTT with no deviation, which comes to the same.
    pub(super) fn new(b: &Bounds) -> Ns320 {
        Ns320 { estimate: b.initial, deviation: Span::ZERO, sampled: false, backoff: 0 }
    }
}

/// A difference times the gain, through seconds as a double, cut to whole nanoseconds.
fn gained(difference: Span) -> Span {
    Span((difference.as_secs() * GAIN * 1e9) as i64)
}

impl TimerRule for Ns320 {
    fn on_sample(&mut self, _b: &Bounds, s: &RttSample) {
        let rtt = Span(s.rtt.0.clamp(0, LONGEST_SAMPLE.0));
        if self.sampled {
            let error = rtt - self.estimate;
            self.estimate += gained(error);
            self.deviation += gained(Span(error.0.abs()) - self.deviation);
        } else {
            // The first deviation is the whole sample, not its half.
            (self.estimate, self.deviation) = (rtt, rtt);
            self.sampled = true;
        }
        self.backoff = 0;
    }

    fn on_timeout(&mut self, _b: &Bounds) {
        self.backoff = (self.backoff + 1).min(MOST_BACKOFF);
    }

    fn rto(&self, b: &Bounds) -> Span {
        // Each part is cut to whole milliseconds, and the minimum is raised to before the multiplier.
        let ms = self.estimate.0 / MILLISECOND + 4 * (self.deviation.0 / MILLISECOND);
        let base = Span(ms * MILLISECOND).max(b.min);
        (base * (1 << self.backoff)).min(b.max)
    }
    fn backoff(&self) -> u32 {
        self.backoff
    }
    fn srtt(&self, _b: &Bounds) -> Option<Span> {
        self.sampled.then_some(self.estimate)
    }
    fn rttvar(&self, _b: &Bounds) -> Option<Span> {
        self.sampled.then_some(self.deviation)
    }
}
