//! HyStart as Linux 2.6.29 to 2.6.37 have it (net/ipv4/tcp_cubic.c, hystart_update; Ha and Rhee 2008): times are
//! counted in jiffies, so a train may have gaps of one, and an RTT that grew by a sixteenth is enough, if that is
//! two jiffies or more.

use crate::congestion::{AckFacts, Window};

/// Below this window, segments, nothing is looked at (hystart_low_window).
const LOW_WINDOW: u32 = 16;
/// Jiffies between the ACKs of a train: two milliseconds, rounded up.
const TRAIN_GAP: i64 = 1;
/// So many samples of a round trip before its RTT is believed (HYSTART_MIN_SAMPLES).
const SAMPLES: u32 = 8;
/// HYSTART_DELAY_MIN and HYSTART_DELAY_MAX, jiffies times 8.
const RISE8_MIN: u32 = 2 << 3;
const RISE8_MAX: u32 = 16 << 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HyStart {
    /// The round trip is over when data beyond this offset is acknowledged.
    round_end: u64,
    /// Jiffies, of the round trip and of the last ACK of the train.
    round_start: i64,
    last_ack: i64,
    /// Smallest RTT of the first samples of this round trip, jiffies times 8, and how many there were.
    smallest8: u32,
    samples: u32,
    /// Slow start was ended, for as long as there is no timeout.
    found: bool,
}

impl HyStart {
    /// Before the first ACK.
    pub(super) fn new() -> HyStart {
        HyStart::begin(i64::MIN / 4, 0)
    }

    /// A round trip begins at `now`, jiffies, and ends when more than `end` is acknowledged.
    pub(super) fn begin(now: i64, end: u64) -> HyStart {
        HyStart { round_end: end, round_start: now, last_ack: now, smallest8: 0, samples: 0, found: false }
    }

    /// An RTT sample at `now`, jiffies, in slow start. Sets ssthresh to cwnd if slow start is to end.
    pub(super) fn on_sample(&mut self, w: &mut Window, now: i64, delay8: u32, delay_min8: u32) {
        if self.found || w.segments() < LOW_WINDOW {
            return;
        }
        self.found = self.train_is_long(now, delay_min8) | self.delay_grew(delay8, delay_min8);
        if self.found {
            w.ssthresh = w.cwnd;
        }
    }

    /// An ACK by which the window may grow: it may begin a round trip. After the sample, as in the kernel.
    pub(super) fn on_ack(&mut self, a: &AckFacts, now: i64) {
        if a.una > self.round_end {
            *self = HyStart { found: self.found, ..HyStart::begin(now, a.nxt) };
        }
    }

    /// Without pacing data left within no time at all, so half a round trip of ACKs is a full path.
    fn train_is_long(&mut self, now: i64, delay_min8: u32) -> bool {
        if now - self.last_ack > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        now - self.round_start >= i64::from(delay_min8 >> 4)
    }

    fn delay_grew(&mut self, delay8: u32, delay_min8: u32) -> bool {
        if self.samples < SAMPLES {
            self.smallest8 = if self.samples == 0 { delay8 } else { self.smallest8.min(delay8) };
            self.samples += 1;
            return false;
        }
        self.smallest8 > delay_min8 + (delay_min8 >> 4).clamp(RISE8_MIN, RISE8_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{SMSS, segment_acked};
    use wire::Time;

    /// 25 jiffies of 4 ms: 100 ms.
    const LONG8: u32 = 25 << 3;

    fn window(segments: u32) -> Window {
        Window { cwnd: segments * SMSS, ssthresh: u32::MAX, smss: SMSS }
    }
    /// In a round trip that began at jiffy 0, and lasts.
    fn begun() -> HyStart {
        let mut h = HyStart::new();
        h.on_ack(&segment_acked(Time(0), 1, 1000), 0);
        h
    }

    #[test]
    fn a_train_of_acks_for_half_a_round_trip_ends_slow_start() {
        let (mut h, mut w) = (begun(), window(40));
        for now in 1..12 {
            h.on_sample(&mut w, now, LONG8, LONG8);
            assert_eq!(w.ssthresh, u32::MAX, "jiffy {now}: half of 25 is 12");
        }
        h.on_sample(&mut w, 12, LONG8, LONG8);
        assert_eq!(w.ssthresh, 40 * SMSS);
    }

    #[test]
    fn a_gap_of_two_jiffies_breaks_the_train() {
        let (mut h, mut w) = (begun(), window(40));
        for now in [1, 2, 4, 5, 12, 13, 24] {
            h.on_sample(&mut w, now, LONG8, LONG8);
        }
        assert_eq!(w.ssthresh, u32::MAX);
    }

    #[test]
    fn an_rtt_that_grew_by_two_jiffies_or_a_sixteenth_ends_slow_start_at_the_ninth_sample() {
        // 100 ms: a sixteenth is less than two jiffies. 400 ms: 6.25 jiffies, and one of 8 parts more.
        for (from, to, ends) in [
            (LONG8, LONG8 + 16, false),
            (LONG8, LONG8 + 24, true),
            (100 << 3, (100 << 3) + 50, false),
            (100 << 3, (100 << 3) + 51, true),
        ] {
            let (mut h, mut w) = (begun(), window(40));
            for k in 0..9 {
                assert_eq!(w.ssthresh, u32::MAX);
                h.on_sample(&mut w, 10 + 3 * k, to, from);
            }
            assert_eq!(w.ssthresh < u32::MAX, ends, "from {from} to {to}");
        }
    }

    #[test]
    fn only_the_first_samples_of_a_round_trip_tell_its_rtt() {
        let (mut h, mut w) = (begun(), window(40));
        for k in 0..7 {
            h.on_sample(&mut w, 10 + 3 * k, LONG8 * 2, LONG8);
        }
        h.on_sample(&mut w, 40, LONG8, LONG8);
        h.on_sample(&mut w, 50, LONG8 * 2, LONG8);
        assert_eq!(w.ssthresh, u32::MAX, "the eighth was small");
        h.on_ack(&segment_acked(Time(0), 1001, 2000), 60);
        (0..9).for_each(|k| h.on_sample(&mut w, 70 + 3 * k, LONG8 * 2, LONG8));
        assert_eq!(w.ssthresh, 40 * SMSS, "a new round trip, in which none was");
    }

    #[test]
    fn small_windows_are_left_alone() {
        let (mut h, mut w) = (begun(), window(15));
        (0..30).for_each(|now| h.on_sample(&mut w, now, LONG8 * 2, LONG8));
        assert_eq!(w.ssthresh, u32::MAX);
    }
}
