//! The timer of RFC 6298, to the letter.

use super::{doubled, smoothed::Smoothed};
use wire::Span;

/// "Whenever RTO is computed, if it is less than 1 second, then the RTO SHOULD be rounded up to 1 second" (2.4).
pub const MIN: Span = Span::from_secs(1);
/// "A maximum value MAY be placed on RTO provided it is at least 60 seconds" (2.5).
pub const MAX: Span = Span::from_secs(60);

/// RTO = SRTT + 4 RTTVAR, at least a second, doubled at each expiry (2.3, 2.4, 5.5). The clock granularity G of
/// the RFC matters only where 4 RTTVAR is smaller than it, and there the minimum rules.
#[inline]
pub fn rto(s: &Smoothed, backoff: u32) -> Span {
    doubled(s.sum().max(MIN.0), backoff, MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rtts_after_the_first_sample_and_never_below_a_second() {
        assert_eq!(rto(&Smoothed::from_millis(800, 400), 0), Span::from_millis(2400));
        assert_eq!(rto(&Smoothed::from_millis(40, 20), 0), Span::from_secs(1));
    }

    #[test]
    fn doubles_at_each_expiry_up_to_a_minute() {
        let s = Smoothed::from_millis(800, 400);
        assert_eq!(rto(&s, 2), Span::from_millis(9600));
        assert_eq!(rto(&s, 5), Span::from_secs(60));
        assert_eq!(rto(&s, u32::MAX), Span::from_secs(60));
    }
}
