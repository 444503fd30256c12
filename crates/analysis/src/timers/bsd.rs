//! The timer of FreeBSD and of xnu (OS X, iOS): Jacobson's sum plus 200 ms of slop.

use super::{doubled, smoothed::Smoothed};
use wire::Span;

/// Added last, after the back-off, for delayed ACKs and a busy processor.
pub const SLOP: Span = Span::from_millis(200);
/// The smallest SRTT + 4 RTTVAR that counts: with the slop nothing fires before 230 ms.
pub const MIN: Span = Span::from_millis(30);
pub const MAX: Span = Span::from_secs(64);

#[inline]
pub fn rto(s: &Smoothed, backoff: u32) -> Span {
    Span((doubled(s.sum().max(MIN.0), backoff, MAX) + SLOP).0.min(MAX.0))
}
