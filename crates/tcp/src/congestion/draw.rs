//! Random numbers of a window rule, from the connection's initial sequence number, which the run's seed gave: no stream
//! of its own, and the same connection draws the same.

#[derive(Clone, Copy, Debug)]
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u32) -> Draw {
        Draw(u64::from(seed))
    }

    /// Evenly below `n` (SplitMix64, Steele, Lea and Flood 2014).
    pub(super) fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * u128::from(n)) >> 64) as u32
    }
}
