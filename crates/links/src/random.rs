//! Random numbers: one stream for each component and purpose, the same on every platform.
//!
//! The generator is xoshiro256++ (Blackman and Vigna 2021), seeded by SplitMix64 from the run's seed and the
//! stream's name. Logarithms and powers are libm's, which are the same everywhere.

use instant::Span;

/// A stream of random numbers. Two streams of other names share nothing, so that adding one shifts no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    state: [u64; 4],
}

impl Stream {
    pub fn new(seed: u64, component: &str, purpose: &str) -> Stream {
        let mut mix = SplitMix(seed ^ fnv1a(component, purpose).rotate_left(17));
        // One step between seed and name, so that neighbouring seeds do not give neighbouring states.
        mix.0 ^= SplitMix(fnv1a(purpose, component)).next();
        Stream { state: [mix.next(), mix.next(), mix.next(), mix.next()] }
    }

    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform over [0, 1), in steps of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform over 0..n; zero for n = 0. Biased by less than n / 2^64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((self.next_u64() as u128 * n as u128) >> 64) as u64
    }

    /// True with this probability; one draw whatever the outcome.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Pareto with this mean and this shape, which must be above one; the least value is `mean * (shape - 1) / shape`.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale / libm::pow(1.0 - self.uniform(), 1.0 / shape)
    }

    /// Normal, by Box and Muller; always two draws.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        mean + deviation * radius * libm::cos(core::f64::consts::TAU * self.uniform())
    }

    /// Uniform over [0, `end`).
    pub fn uniform_span(&mut self, end: Span) -> Span {
        Span((self.uniform() * end.0 as f64) as i64)
    }
    pub fn exponential_span(&mut self, mean: Span) -> Span {
        span(self.exponential(mean.0 as f64))
    }
    pub fn pareto_span(&mut self, mean: Span, shape: f64) -> Span {
        span(self.pareto(mean.0 as f64, shape))
    }
}

/// Rounded to the nanosecond, and never so long that sums of it could overflow.
fn span(ns: f64) -> Span {
    Span((libm::round(ns) as i64).min(Span::MAX.0 / 1024))
}

struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// FNV-1a over both names, a byte that no UTF-8 text has between them.
fn fnv1a(a: &str, b: &str) -> u64 {
    let step = |h: u64, byte: u8| (h ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3);
    let h = a.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    b.bytes().fold(step(h, 0xff), step)
}

#[cfg(test)]
mod tests;
