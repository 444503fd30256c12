//! Random numbers that are the same on every platform and in every version of this crate.

/// SplitMix64 (Steele, Lea, Flood 2014): a counter, mixed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }
    /// An independent stream for part `n` of what this one seeds.
    pub fn stream(seed: u64, n: u64) -> Random {
        let mut mixed = Random(seed ^ n.wrapping_mul(0xd134_2543_de82_ef95));
        Random(mixed.bits())
    }
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// Uniform in `0..n`; the bias of at most n / 2^64 matters to no benchmark.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }
    pub fn chance(&mut self, p: f64) -> bool {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64) < p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_published_generator() {
        // the first values for seed 0, as Java's SplittableRandom and the reference implementation give them
        let mut r = Random::new(0);
        assert_eq!([r.bits(), r.bits()], [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
    }

    #[test]
    fn a_chance_of_a_tenth_comes_true_once_in_ten() {
        let mut r = Random::stream(1, 2);
        let hits = (0..100_000).filter(|_| r.chance(0.1)).count();
        assert!((9_700..10_300).contains(&hits), "{hits}");
    }
}
