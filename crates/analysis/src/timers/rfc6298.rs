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
