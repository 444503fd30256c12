//! Sequence numbers: 32 bits that wrap (RFC 9293 §3.4), and their unwrapping into 64-bit stream offsets.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Sub};

/// A TCP sequence or acknowledgment number. Ordered only relative to another: see [`Seq::before`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seq(pub u32);

impl Seq {
    /// True if `self` precedes `o` in the half of the number space behind it (RFC 9293 §3.4).
    pub fn before(self, o: Seq) -> bool {
        (self.0.wrapping_sub(o.0) as i32) < 0
    }
    pub fn at_or_before(self, o: Seq) -> bool {
        !o.before(self)
    }
}

impl Add<u32> for Seq {
    type Output = Seq;
    fn add(self, n: u32) -> Seq {
        Seq(self.0.wrapping_add(n))
    }
}

/// The signed distance, `-2^31 ..< 2^31`.
impl Sub for Seq {
    type Output = i32;
    fn sub(self, o: Seq) -> i32 {
        self.0.wrapping_sub(o.0) as i32
    }
}

/// Turns wrapping sequence numbers of one direction into offsets that never wrap.
///
/// The offset nearest to the last one seen is meant, so a stream of any length is followed as long as no two
/// numbers seen in a row lie 2 GiB apart. Offsets start at 2^32 + the first number: there is room below for
/// data that is older than the first packet seen.
#[derive(Clone, Copy, Debug)]
pub struct Unwrapper {
    last: u64,
}

impl Unwrapper {
    pub fn new(first: Seq) -> Unwrapper {
        Unwrapper { last: (1 << 32) + u64::from(first.0) }
    }
    /// The offset of `seq`; moves the reference forward, never back.
    pub fn offset(&mut self, seq: Seq) -> u64 {
        let at = self.peek(seq);
        self.last = self.last.max(at);
        at
    }
    /// Moves the reference forward to an offset.
    #[inline]
    pub fn reach(&mut self, at: u64) {
        self.last = self.last.max(at);
    }
    /// The offset of `seq`, without moving the reference.
    pub fn peek(&self, seq: Seq) -> u64 {
        let step = i64::from(seq - Seq(self.last as u32));
        // Begun at 2^32 and moved by less than 2^31 each time: no capture is long enough to leave 64 bits.
        self.last.wrapping_add_signed(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_wraps_around_zero() {
        // RFC 9293 §3.4: arithmetic modulo 2^32
        assert!(Seq(u32::MAX).before(Seq(5)));
        assert!(!Seq(5).before(Seq(u32::MAX)));
        assert_eq!(Seq(3) - Seq(u32::MAX), 4);
        assert!(Seq(7).at_or_before(Seq(7)));
    }

    #[test]
    fn offsets_never_wrap() {
        let mut u = Unwrapper::new(Seq(u32::MAX - 1));
        let start = u.offset(Seq(u32::MAX - 1));
        assert_eq!(u.offset(Seq(3)), start + 5);
        // an old retransmission is placed behind, and does not pull the reference back
        assert_eq!(u.offset(Seq(u32::MAX)), start + 1);
        assert_eq!(u.offset(Seq(1 << 30)), start + 2 + (1 << 30));
    }
}
