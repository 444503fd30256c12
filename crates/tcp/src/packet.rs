//! How much leaves as one packet, which is cut into segments below TCP: segmentation offload.
//!
//! As Linux sizes packets (tcp_update_pacing_rate, tcp_tso_autosize): what is sent in about a millisecond, and more the
//! nearer the peer is.

use wire::Span;

/// A packet is this fraction of a second's data: 2^-10 (sk_pacing_shift).
pub(crate) const SHIFT: u32 = 10;
/// Short paths get a part of the most there is besides, halved with each 512 µs of RTT (tcp_tso_rtt_log).
const RTT_STEP: Span = Span::from_micros(512);

/// What a packet holds at most, bytes, and at least, segments (sk_gso_max_size, tcp_min_tso_segs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packets {
    pub most_bytes: u64,
    pub least_segments: u32,
}

/// GSO_LEGACY_MAX_SIZE, and Linux's default of the least.
pub(crate) const LINUX: Packets = Packets { most_bytes: 65_536, least_segments: 2 };

impl Packets {
    /// Segments of a packet at `rate`, bytes a second.
    pub fn segments(&self, rate: u64, smss: u32, min_rtt: Option<Span>) -> u32 {
        // Where a capture's time goes back, a round trip may be negative.
        let steps = min_rtt.map_or(0, |rtt| rtt.0.max(0) / RTT_STEP.0);
        let near = if steps < 32 { self.most_bytes >> steps } else { 0 };
        self.held_by((rate >> SHIFT).saturating_add(near), smss)
    }

    /// Segments of about a millisecond's data.
    pub(crate) fn in_a_millisecond(&self, rate: u64, smss: u32) -> u32 {
        self.held_by(rate >> SHIFT, smss)
    }

    fn held_by(&self, bytes: u64, smss: u32) -> u32 {
        ((bytes.min(self.most_bytes) / u64::from(smss.max(1))) as u32).max(self.least_segments)
    }
}

/// Bytes a second of a window rule that has no rate of its own: twice cwnd an SRTT in slow start below half of ssthresh,
/// else a fifth more than cwnd (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio). `None` before an RTT is known.
pub fn rate_of_window(cwnd: u32, ssthresh: u32, out: u32, srtt: Option<Span>) -> Option<u64> {
    let srtt = srtt.filter(|s| s.0 > 0)?;
    let percent = if cwnd < ssthresh / 2 { 200 } else { 120 };
    // At most 2^32 * 2 * 10^9: no overflow.
    let bytes = u64::from(cwnd.max(out)) * percent / 100;
    Some((bytes * 1_000_000_000 / srtt.0 as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_rules_pace_is_twice_cwnd_in_slow_start_and_a_fifth_more_after_it() {
        // tcp_update_pacing_rate.
        let rate = |ssthresh, out| rate_of_window(10_000, ssthresh, out, Some(Span::from_millis(100)));
        assert_eq!(rate(u32::MAX, 0), Some(200_000));
        assert_eq!(rate(20_000, 0), Some(120_000), "from half of ssthresh on");
        assert_eq!(rate(20_000, 50_000), Some(600_000), "more is out than cwnd");
        assert_eq!(rate_of_window(1, 1, 1, None), None);
    }

    #[test]
    fn a_negative_round_trip_counts_as_none() {
        let segments = |rtt| LINUX.segments(1_000_000, 1448, Some(Span(rtt)));
        assert_eq!([segments(-1_000_000_000), segments(i64::MIN)], [segments(0); 2]);
    }

    #[test]
    fn the_largest_window_overflows_nothing() {
        assert_eq!(rate_of_window(u32::MAX, u32::MAX, 0, Some(Span(1))), Some(5_153_960_754_000_000_000));
    }
}
