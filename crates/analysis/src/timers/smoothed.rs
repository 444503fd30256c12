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
    #[cfg(test)]
    pub(super) fn from_millis(srtt: i64, rttvar: i64) -> Smoothed {
        Smoothed { srtt8: srtt * 8_000_000, rttvar4: rttvar * 4_000_000 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_6298_section_2_by_hand() {
        let mut s = Smoothed::default();
        assert_eq!(s.srtt(), None);
        s.on_rtt(Span::from_millis(100));
        assert_eq!((s.srtt(), s.rttvar()), (Some(Span::from_millis(100)), Span::from_millis(50)));
        // RTTVAR = 3/4 * 50 + 1/4 * |100 - 180| = 57.5; SRTT = 7/8 * 100 + 1/8 * 180 = 110
        s.on_rtt(Span::from_millis(180));
        assert_eq!((s.srtt(), s.rttvar()), (Some(Span::from_millis(110)), Span::from_micros(57_500)));
        // RTTVAR = 3/4 * 57.5 + 1/4 * |110 - 30| = 63.125; SRTT = 7/8 * 110 + 1/8 * 30 = 100
        s.on_rtt(Span::from_millis(30));
        assert_eq!((s.srtt(), s.rttvar()), (Some(Span::from_millis(100)), Span::from_micros(63_125)));
    }

    #[test]
    fn absurd_samples_do_not_overflow() {
        let mut s = Smoothed::default();
        for rtt in [Span(i64::MAX), Span(-5), Span(i64::MAX), Span(0)] {
            s.on_rtt(rtt);
        }
        assert!(s.sum() > 0);
    }
}
