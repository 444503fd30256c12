//! Jacobson's estimator: the smoothed RTT and its mean deviation (RFC 6298 §2).

use wire::Span;

/// SRTT kept times 8 and RTTVAR times 4, so that both gains are shifts; nanoseconds. RFC 6298, BSD and Linux
/// before 2.4 share it and differ in what they make of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Smoothed {
    srtt8: i64,
    rttvar4: i64,
}

/// Beyond this (13 days) a sample is an error of some clock; the limit keeps the shifts from overflowing.
pub(super) const LONGEST_SAMPLE: i64 = 1 << 50;

impl Smoothed {
    #[inline]
    pub fn on_rtt(&mut self, rtt: Span) {
        let r = rtt.0.clamp(1, LONGEST_SAMPLE);
        if self.srtt8 == 0 {
            // RFC 6298 (2.2): SRTT = R, RTTVAR = R/2.
            *self = Smoothed { srtt8: r << 3, rttvar4: r << 1 };
            return;
        }
        // RFC 6298 (2.3): the deviation is taken from the SRTT before this sample.
        let error = r - (self.srtt8 >> 3);
        self.srtt8 += error;
        self.rttvar4 += error.abs() - (self.rttvar4 >> 2);
    }
    /// `None` before the first sample.
    #[inline]
    pub fn srtt(&self) -> Option<Span> {
        (self.srtt8 != 0).then_some(Span(self.srtt8 >> 3))
    }
    #[inline]
    pub fn rttvar(&self) -> Span {
        Span(self.rttvar4 >> 2)
    }
    /// SRTT + 4 RTTVAR in nanoseconds, from which each stack computes its RTO with its own minimum and rounding.
    #[inline]
    pub(super) fn sum(&self) -> i64 {
        (self.srtt8 >> 3) + self.rttvar4
    }
    /// With these values at once.
    pub fn from_millis(srtt: i64, rttvar: i64) -> Smoothed {
        Smoothed { srtt8: srtt * 8_000_000, rttvar4: rttvar * 4_000_000 }
    }
}
