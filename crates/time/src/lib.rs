//! Time as integer nanoseconds: a point ([`Time`]) and a difference ([`Span`]).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// A point in time, nanoseconds since an epoch: the Unix epoch for captures, the start for simulations.
///
/// Arithmetic wraps: within `FAR_PAST..FAR_FUTURE` (73 years either way) no difference or sum can overflow, and
/// readers of files keep what they read inside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub i64);

/// A signed difference of two times, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span(pub i64);

impl Time {
    pub const ZERO: Time = Time(0);
    /// Earlier than anything that can be seen.
    pub const FAR_PAST: Time = Time(i64::MIN / 4);
    pub const FAR_FUTURE: Time = Time(i64::MAX / 4);

    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.wrapping_sub(earlier.0))
    }
}

impl Span {
    pub const ZERO: Span = Span(0);
    pub const MAX: Span = Span(i64::MAX / 4);

    pub const fn from_nanos(ns: i64) -> Span {
        Span(ns)
    }
    pub const fn from_micros(us: i64) -> Span {
        Span(us * 1_000)
    }
    pub const fn from_millis(ms: i64) -> Span {
        Span(ms * 1_000_000)
    }
    pub const fn from_secs(s: i64) -> Span {
        Span(s * 1_000_000_000)
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
    /// Scaled by a factor, rounded towards zero.
    pub fn scale(self, factor: f64) -> Span {
        Span((self.0 as f64 * factor) as i64)
    }
}

impl Sub for Time {
    type Output = Span;
    fn sub(self, o: Time) -> Span {
        Span(self.0.wrapping_sub(o.0))
    }
}
impl Add<Span> for Time {
    type Output = Time;
    fn add(self, o: Span) -> Time {
        Time(self.0.wrapping_add(o.0))
    }
}
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, o: Span) {
        *self = *self + o;
    }
}
impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, o: Span) -> Time {
        Time(self.0.wrapping_sub(o.0))
    }
}
impl Add for Span {
    type Output = Span;
    fn add(self, o: Span) -> Span {
        Span(self.0.wrapping_add(o.0))
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, o: Span) {
        *self = *self + o;
    }
}
impl Sub for Span {
    type Output = Span;
    fn sub(self, o: Span) -> Span {
        Span(self.0.wrapping_sub(o.0))
    }
}
impl SubAssign for Span {
    fn sub_assign(&mut self, o: Span) {
        *self = *self - o;
    }
}
impl Neg for Span {
    type Output = Span;
    fn neg(self) -> Span {
        Span(self.0.wrapping_neg())
    }
}
impl Mul<i64> for Span {
    type Output = Span;
    fn mul(self, k: i64) -> Span {
        Span(self.0.wrapping_mul(k))
    }
}
impl Div<i64> for Span {
    type Output = Span;
    fn div(self, k: i64) -> Span {
        Span(self.0 / k)
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
