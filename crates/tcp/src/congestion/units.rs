//! Rates and gains as whole numbers, as Linux has them, so that every machine rounds alike.

use wire::Span;

/// A bandwidth is segments a microsecond, times this.
const BW_BITS: u32 = 24;
const BW_UNIT: u64 = 1 << BW_BITS;
/// A gain of one.
pub(super) const UNIT: u32 = 256;

/// Whole microseconds.
pub(super) fn us(span: Span) -> u64 {
    (span.0 / 1000).max(0) as u64
}

/// `segments` in `us`, rounded down.
pub(super) fn bandwidth(segments: u64, us: u64) -> u64 {
    (segments << BW_BITS) / us.max(1)
}

/// Segments in `us` at `bw`, times `gain`, rounded up.
pub(super) fn product(bw: u64, us: u64, gain: u32) -> u32 {
    let scaled = (u128::from(bw) * u128::from(us) * u128::from(gain)) / u128::from(UNIT);
    scaled.div_ceil(u128::from(BW_UNIT)).min(u128::from(u32::MAX / 4)) as u32
}

/// Whole segments in `us` at `bw`.
pub(super) fn delivered_in(bw: u64, us: u64) -> u64 {
    ((u128::from(bw) * u128::from(us)) >> BW_BITS) as u64
}

/// Bytes a second at `bw` times `gain`, `margin_percent` below: a pacing rate a little below what the path carries keeps
/// the queue short.
pub(super) fn bytes_per_s(bw: u64, smss: u32, gain: u32, margin_percent: u64) -> u64 {
    let rate = u128::from(bw) * u128::from(smss) * u128::from(gain) / u128::from(UNIT);
    ((rate * u128::from(10_000 * (100 - margin_percent))) >> BW_BITS) as u64
}
