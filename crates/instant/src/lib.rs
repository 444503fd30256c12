//! Time as integer nanoseconds: a point ([`Time`]) and a difference ([`Span`]).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// What saturates is rare: a branch that is never taken costs less than working out the bound each time.
#[cold]
#[inline(never)]
const fn bound(up: bool) -> i64 {
    if up { i64::MAX } else { i64::MIN }
}
#[inline(always)]
const fn sum(a: i64, b: i64) -> i64 {
    match a.checked_add(b) {
        Some(n) => n,
        None => bound(b > 0),
    }
}
#[inline(always)]
const fn difference(a: i64, b: i64) -> i64 {
    match a.checked_sub(b) {
        Some(n) => n,
        None => bound(b < 0),
    }
}
#[inline(always)]
const fn product(a: i64, b: i64) -> i64 {
    match a.checked_mul(b) {
        Some(n) => n,
        None => bound((a < 0) == (b < 0)),
    }
}

/// A point in time, nanoseconds since an epoch: the Unix epoch for captures, the start for simulations.
///
/// Arithmetic saturates, for times and spans alike. Between two times within `FAR_PAST..=FAR_FUTURE` (146 years either
/// way) no difference does, and readers of files keep what they read inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64);

/// A signed difference of two times, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span(pub i64);

impl Time {
    pub const ZERO: Time = Time(0);
    /// Earlier than anything that can be seen.
    pub const FAR_PAST: Time = Time(i64::MIN / 2);
    pub const FAR_FUTURE: Time = Time(i64::MAX / 2);

    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }
    pub fn since(self, earlier: Time) -> Span {
        self - earlier
    }
    /// No earlier than anything that can be seen, no later than that.
    pub fn within_reach(self) -> Time {
        self.clamp(Time(Time::FAR_PAST.0 + 1), Time(Time::FAR_FUTURE.0 - 1))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);
    pub const MAX: Span = Span(i64::MAX / 4);

    pub const fn from_nanos(ns: i64) -> Span {
        Span(ns)
    }
    pub const fn from_micros(us: i64) -> Span {
        Span(us.saturating_mul(1_000))
    }
    pub const fn from_millis(ms: i64) -> Span {
        Span(ms.saturating_mul(1_000_000))
    }
    pub const fn from_secs(s: i64) -> Span {
        Span(s.saturating_mul(1_000_000_000))
    }
    /// Rounded to the nearest nanosecond; saturates.
    pub fn from_secs_f64(s: f64) -> Span {
        Span((s * 1e9).round() as i64)
    }
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }
    pub fn as_millis(self) -> f64 {
        self.0 as f64 / 1e6
    }
    /// How long it is, whichever way it goes.
    #[inline]
    pub fn abs(self) -> Span {
        Span(self.0.saturating_abs())
    }
    /// Scaled by a factor, rounded towards zero.
    pub fn scale(self, factor: f64) -> Span {
        Span((self.0 as f64 * factor) as i64)
    }
}

impl Sub for Time {
    type Output = Span;
    #[inline(always)]
    fn sub(self, o: Time) -> Span {
        Span(difference(self.0, o.0))
    }
}
impl Add<Span> for Time {
    type Output = Time;
    #[inline(always)]
    fn add(self, o: Span) -> Time {
        Time(sum(self.0, o.0))
    }
}
impl AddAssign<Span> for Time {
    #[inline(always)]
    fn add_assign(&mut self, o: Span) {
        *self = *self + o;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    #[inline(always)]
    fn sub(self, o: Span) -> Time {
        Time(difference(self.0, o.0))
    }
}
impl Add for Span {
    type Output = Span;
    #[inline(always)]
    fn add(self, o: Span) -> Span {
        Span(sum(self.0, o.0))
    }
}
impl AddAssign for Span {
    #[inline(always)]
    fn add_assign(&mut self, o: Span) {
        *self = *self + o;
    }
}
impl Sub for Span {
    type Output = Span;
    #[inline(always)]
    fn sub(self, o: Span) -> Span {
        Span(difference(self.0, o.0))
    }
}
impl SubAssign for Span {
    #[inline(always)]
    fn sub_assign(&mut self, o: Span) {
        *self = *self - o;
    }
}
impl Neg for Span {
    type Output = Span;
    #[inline(always)]
    fn neg(self) -> Span {
        Span(self.0.saturating_neg())
    }
}
impl Mul<i64> for Span {
    type Output = Span;
    #[inline(always)]
    fn mul(self, k: i64) -> Span {
        Span(product(self.0, k))
    }
}
impl Div<i64> for Span {
    type Output = Span;
    #[inline(always)]
    fn div(self, k: i64) -> Span {
        // Written so that a division by a constant stays a shift or a multiplication.
        if k == -1 { -self } else { Span(self.0 / k) }
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0.div_euclid(1_000_000_000), self.0.rem_euclid(1_000_000_000))
    }
}
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        match ns {
            0..1_000_000 => write!(f, "{sign}{:.1} us", ns as f64 / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{sign}{:.1} ms", ns as f64 / 1e6),
            _ => write!(f, "{sign}{:.3} s", ns as f64 / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        let (first, last) = (Time(i64::MIN), Time(i64::MAX));
        assert_eq!((last - first, first - last), (Span(i64::MAX), Span(i64::MIN)));
        assert_eq!((last + Span(1), first - Span(1)), (last, first));
        let (least, most) = (Span(i64::MIN), Span(i64::MAX));
        assert_eq!((most + Span(1), least - Span(1), most * 3, most * -3), (most, least, most, least));
        assert_eq!((-least, least.abs(), least / -1), (most, most, most));
        assert_eq!((Span::from_secs(i64::MAX), Span::from_millis(i64::MIN)), (most, least));
        assert_eq!(
            (most.scale(1e9), Span::from_secs_f64(-1e300), Span::ZERO.scale(f64::NAN)),
            (most, least, Span::ZERO)
        );
    }

    #[test]
    fn what_can_be_read_is_always_between_what_cannot() {
        let (first, last) = (Time(i64::MIN).within_reach(), Time(i64::MAX).within_reach());
        assert!(Time::FAR_PAST < first && last < Time::FAR_FUTURE);
        assert_eq!((last - first) + (first - last), Span::ZERO);
        assert!(last - Time::FAR_PAST < Span(i64::MAX));
        // The last second that pcap can write, in 2106.
        let written = Time(i64::from(u32::MAX) * 1_000_000_000);
        assert_eq!(written.within_reach(), written);
    }
}
