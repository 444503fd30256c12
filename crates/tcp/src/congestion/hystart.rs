//! HyStart as of Linux 4.x to 6.x (Ha and Rhee 2011; net/ipv4/tcp_cubic.c, hystart_update): slow start ends before it
//! overflows a queue, when the ACKs of a round trip come for longer than half of the smallest RTT, or when the RTT
//! grows by an eighth.

use super::{AckFacts, LossFacts, Window};
use crate::packet;
use wire::{Span, Time};

/// Below this window, segments, nothing is looked at (hystart_low_window).
const LOW_WINDOW: u32 = 16;
/// ACKs this close make a train (hystart_ack_delta_us).
const TRAIN_GAP: Span = Span::from_millis(2);
/// What aggregation of segments on this host may add to a train: the time of four of the largest packets at the rate of the
/// window, at most this (hystart_ack_delay).
const MOST_TRAIN_DELAY: Span = Span::from_millis(1);
const TRAIN_DELAY_PACKETS: u64 = 4;
/// So many samples of a round trip before its RTT is believed (HYSTART_MIN_SAMPLES).
const SAMPLES: u32 = 8;
/// HYSTART_DELAY_MIN and HYSTART_DELAY_MAX.
const RISE_MIN: Span = Span::from_millis(4);
const RISE_MAX: Span = Span::from_millis(16);

params::words! {
    /// What HyStart counts time in.
    #[derive(Default)]
    pub enum Clock {
        #[default]
        Microseconds = "microseconds", "microseconds; a train lasts longer by what aggregation may add (Linux since 5.6)";
        Milliseconds = "milliseconds", "milliseconds (Linux 2.6.39 to 5.5)";
    }
}

const MILLISECOND: i64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    clock: Clock,
    /// The round trip is over when data beyond this offset is acknowledged.
    round_end: u64,
    round_start: Time,
    /// The last ACK of the train.
    last_ack: Time,
    /// Smallest RTT of this round trip, and samples of it.
    smallest: Span,
    samples: u32,
    /// Slow start was ended, for as long as there is no timeout.
    found: bool,
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart {
            clock: Clock::Microseconds,
            round_end: 0,
            round_start: Time::FAR_PAST,
            last_ack: Time::FAR_PAST,
            smallest: Span::MAX,
            samples: 0,
            found: false,
        }
    }
}

impl HyStart {
    pub(super) fn new(clock: Clock) -> HyStart {
        HyStart { clock, ..HyStart::default() }
    }

    /// With this one's clock, before the next ACK.
    pub(super) fn anew(&self) -> HyStart {
        HyStart::new(self.clock)
    }

    /// With this one's clock, after a timeout: a round trip begins there, and ends when more than all that had left is
    /// acknowledged (bictcp_hystart_reset, from cubictcp_state). Until then no ACK is near enough to make a train.
    pub(super) fn after_timeout(&self, l: &LossFacts) -> HyStart {
        self.begin(self.shown(l.now), l.nxt)
    }

    /// A round trip begins at `now` as the clock shows it, and ends when more than `end` is acknowledged.
    fn begin(&self, now: Time, end: u64) -> HyStart {
        HyStart { round_end: end, round_start: now, last_ack: now, ..self.anew() }
    }

    /// As the clock shows it.
    fn shown(&self, now: Time) -> Time {
        match self.clock {
            Clock::Microseconds => now,
            Clock::Milliseconds => Time(now.0.div_euclid(MILLISECOND) * MILLISECOND),
        }
    }

    /// An ACK in slow start with an RTT sample. Sets ssthresh to cwnd if it is to end.
    pub(super) fn on_ack(&mut self, w: &mut Window, a: &AckFacts, rtt: Span, smallest_ever: Span) {
        if self.found {
            return;
        }
        let now = self.shown(a.now);
        if a.una > self.round_end {
            *self = self.begin(now, a.nxt);
        }
        if w.segments() < LOW_WINDOW {
            return;
        }
        self.found = self.train_is_long(now, w, a, smallest_ever) | self.delay_grew(rtt, smallest_ever);
        if self.found {
            w.ssthresh = w.cwnd;
        }
    }

    fn train_is_long(&mut self, now: Time, w: &Window, a: &AckFacts, smallest_ever: Span) -> bool {
        if now - self.last_ack > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        // Without pacing data left within no time at all, so half a round trip of ACKs is a full path.
        let longest = match self.clock {
            Clock::Microseconds if a.paced => smallest_ever + train_delay(w, a),
            Clock::Microseconds => Span((smallest_ever + train_delay(w, a)).0 / 2),
            Clock::Milliseconds => Span(smallest_ever.0 / 2),
        };
        now - self.round_start > longest
    }

    fn delay_grew(&mut self, rtt: Span, smallest_ever: Span) -> bool {
        self.smallest = self.smallest.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = Span(smallest_ever.0 / 8).max(RISE_MIN).min(RISE_MAX);
        self.smallest > smallest_ever + rise
    }
}

fn train_delay(w: &Window, a: &AckFacts) -> Span {
    let bytes = TRAIN_DELAY_PACKETS * packet::LINUX.most_bytes;
    packet::rate_of_window(w.cwnd, w.ssthresh, a.flight, a.srtt)
        .map_or(Span::ZERO, |rate| Span((bytes * 1_000_000_000 / rate) as i64).min(MOST_TRAIN_DELAY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{SMSS, segment_acked};

    const LONG: Span = Span::from_millis(100);

    fn ack(ms: i64, una: u64, nxt: u64) -> AckFacts {
        AckFacts { srtt: Some(LONG), ..segment_acked(Time(ms * 1_000_000), una, nxt) }
    }
    fn window(segments: u32) -> Window {
        Window { cwnd: segments * SMSS, ssthresh: u32::MAX, smss: SMSS }
    }

    #[test]
    fn a_train_of_acks_for_half_a_round_trip_ends_slow_start() {
        let (mut h, mut w) = (HyStart::default(), window(40));
        for ms in (0..=50).step_by(2) {
            h.on_ack(&mut w, &ack(ms, 1 + ms as u64, 1000), LONG, LONG);
            assert_eq!(w.ssthresh, u32::MAX, "{ms} ms: half of 100 ms and 1 ms are not over");
        }
        h.on_ack(&mut w, &ack(51, 60, 1000), LONG, LONG);
        assert_eq!(w.ssthresh, 40 * SMSS);
    }

    #[test]
    fn a_paced_train_may_last_a_round_trip() {
        // Linux 6.18, hystart_update: pacing may have delayed packets up to half of the RTT, so the threshold is not halved.
        let (mut h, mut w) = (HyStart::default(), window(40));
        let paced = |ms| AckFacts { paced: true, ..ack(ms, 1 + ms as u64, 1000) };
        for ms in (0..=100).step_by(2) {
            h.on_ack(&mut w, &paced(ms), LONG, LONG);
            assert_eq!(w.ssthresh, u32::MAX, "{ms} ms");
        }
        h.on_ack(&mut w, &paced(102), LONG, LONG);
        assert_eq!(w.ssthresh, 40 * SMSS);
    }

    #[test]
    fn a_train_may_last_longer_by_four_packets_at_the_rate_of_the_window() {
        // hystart_ack_delay: 4 * 64 KiB at 2 * 40 * 1000 bytes in 100 µs are 328 µs, and 1 ms at most.
        let w = window(40);
        let at = |srtt| train_delay(&w, &AckFacts { srtt, flight: 0, ..ack(0, 1, 1000) });
        assert_eq!(at(Some(Span::from_micros(100))), Span(327_680));
        assert_eq!(at(Some(LONG)), Span::from_millis(1));
        assert_eq!(at(None), Span::ZERO);
    }

    /// An outage of 3 s, three timeouts, the last of them taken back by F-RTO, and a recovery: the ACKs behind it came each
    /// 0.5 ms for half of an RTT and more. Linux 6.18's ssthresh stayed at 79, as tcp_probe showed.
    #[test]
    fn behind_a_timeout_no_train_begins_before_what_was_out_then_is_acknowledged() {
        let lost = LossFacts { now: Time(0), flight: 0, una: 1, nxt: 1000, timeout: true };
        for (una, ends) in [(500, false), (1001, true)] {
            let (mut h, mut w) = (HyStart::default().after_timeout(&lost), window(40));
            for ms in 80..140 {
                h.on_ack(&mut w, &ack(ms, una, 1200), LONG, LONG);
            }
            assert_eq!(w.ssthresh < u32::MAX, ends, "{una}");
        }
    }

    #[test]
    fn a_gap_breaks_the_train() {
        let (mut h, mut w) = (HyStart::default(), window(40));
        for ms in [0, 2, 4, 7, 9, 60, 99] {
            h.on_ack(&mut w, &ack(ms, 1 + ms as u64, 1000), LONG, LONG);
        }
        assert_eq!(w.ssthresh, u32::MAX);
    }

    #[test]
    fn an_rtt_that_grew_by_an_eighth_ends_slow_start_at_the_ninth_sample() {
        for (rtt_ms, ends) in [(112, false), (113, true)] {
            let (mut h, mut w) = (HyStart::default(), window(40));
            for k in 0..9 {
                assert_eq!(w.ssthresh, u32::MAX);
                h.on_ack(&mut w, &ack(k * 10, 1 + k as u64, 1000), Span::from_millis(rtt_ms), LONG);
            }
            assert_eq!(w.ssthresh < u32::MAX, ends, "{rtt_ms} ms");
        }
    }

    #[test]
    fn one_small_sample_in_a_round_trip_is_enough_to_go_on_and_small_windows_are_left_alone() {
        let (mut h, mut w) = (HyStart::default(), window(40));
        for k in 0..20 {
            let rtt = if k == 3 { LONG } else { LONG * 2 };
            h.on_ack(&mut w, &ack(k * 10, 1 + k as u64, 1000), rtt, LONG);
        }
        assert_eq!(w.ssthresh, u32::MAX);
        let (mut h, mut w) = (HyStart::default(), window(15));
        for k in 0..20 {
            h.on_ack(&mut w, &ack(k * 10, 1 + k as u64, 1000), LONG * 2, LONG);
        }
        assert_eq!(w.ssthresh, u32::MAX);
    }

    #[test]
    fn in_milliseconds_a_train_need_not_last_longer_by_what_aggregation_adds() {
        // Linux 4.9, hystart_update: the train is over half of the smallest RTT; 49.5 ms here, and 50 ms with hystart_ack_delay.
        let smallest = Span::from_millis(99);
        for (clock, ends) in [(Clock::Milliseconds, true), (Clock::Microseconds, false)] {
            let (mut h, mut w) = (HyStart::new(clock), window(40));
            for ms in (0..=50).step_by(2) {
                assert_eq!(w.ssthresh, u32::MAX, "{ms} ms");
                h.on_ack(&mut w, &ack(ms, 1 + ms as u64, 1000), smallest, smallest);
            }
            assert_eq!(w.ssthresh < u32::MAX, ends, "{clock:?}");
        }
    }
}
