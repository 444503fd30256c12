//! A distribution kept in 40 bytes: count, extremes, mean and deviation, one value at a time.

use crate::rows::Summary;

/// Welford's running mean and sum of squared deviations, which stays exact where a plain sum of squares
/// loses digits (RTTs of 40 ms that differ by microseconds).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Accumulator {
    n: u64,
    min: f64,
    max: f64,
    mean: f64,
    squares: f64,
}

impl Accumulator {
    pub fn new() -> Accumulator {
        Accumulator::default()
    }
    /// A value that is not a number, or infinite, is left out.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        if self.n == 0 {
            *self = Accumulator { n: 1, min: value, max: value, mean: value, squares: 0.0 };
            return;
        }
        self.n += 1;
        // Seldom either, and never both.
        if value < self.min {
            self.min = value;
        } else if value > self.max {
            self.max = value;
        }
        let off = value - self.mean;
        self.mean += off / self.n as i64 as f64; // signed: one instruction
        self.squares += off * (value - self.mean);
    }
    pub fn n(&self) -> u64 {
        self.n
    }
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then_some(self.mean)
    }
    pub fn min(&self) -> Option<f64> {
        (self.n > 0).then_some(self.min)
    }
    pub fn max(&self) -> Option<f64> {
        (self.n > 0).then_some(self.max)
    }
    /// The deviation is that of a sample (n − 1); 0 for fewer than two values, as all figures are for none.
    pub fn summary(&self) -> Summary {
        let stddev = if self.n < 2 { 0.0 } else { (self.squares / (self.n - 1) as f64).sqrt() };
        Summary { n: self.n, min: self.min, mean: self.mean, stddev, max: self.max }
    }
}
