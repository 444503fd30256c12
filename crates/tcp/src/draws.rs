//! Random numbers for the tests of strategies, which draw nothing else.

/// Each call gives a number below its argument (xorshift, Marsaglia 2003).
pub(crate) fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |n| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % n
    }
}
