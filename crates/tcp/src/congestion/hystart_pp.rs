//! HyStart++, RFC 9406: an RTT that grows makes slow start conservative, and if it stays grown for five round trips, ends
//! it.

use super::{AckFacts, Window};
use wire::Span;

/// RFC 9406 §4.3.
const RTT_THRESH_MIN: Span = Span::from_millis(4);
const RTT_THRESH_MAX: Span = Span::from_millis(16);
const MIN_RTT_DIVISOR: i64 = 8;
const SAMPLES: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;

#[derive(Clone, Copy, Debug)]
pub(super) struct HyStartPlusPlus {
    /// windowEnd: the round trip is over when data beyond this offset is acknowledged.
    round_end: u64,
    samples: u32,
    /// currentRoundMinRTT and lastRoundMinRTT; `Span::MAX` is infinity.
    current: Span,
    last: Span,
    css: Option<Css>,
}

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// cssBaselineMinRtt.
    baseline: Span,
    /// Round trips begun in it, the one in which it began included.
    rounds: u32,
}

impl Default for HyStartPlusPlus {
    fn default() -> HyStartPlusPlus {
        HyStartPlusPlus { round_end: 0, samples: 0, current: Span::MAX, last: Span::MAX, css: None }
    }
}

impl HyStartPlusPlus {
    /// An ACK in the initial slow start, of which the window may grow by `growth` bytes. Returns the growth that is
    /// left; sets ssthresh to cwnd where slow start ends.
    pub(super) fn on_ack(&mut self, w: &mut Window, a: &AckFacts, growth: u32) -> u32 {
        // §4.2: only the first slow start, in which ssthresh is arbitrarily high.
        if w.ssthresh != u32::MAX {
            return growth;
        }
        if a.una > self.round_end {
            self.begin_round(w, a.nxt);
        }
        if let Some(rtt) = a.rtt {
            self.current = self.current.min(rtt);
            self.samples += 1;
        }
        if self.samples >= SAMPLES {
            self.look();
        }
        if self.css.is_some() { growth / CSS_GROWTH_DIVISOR } else { growth }
    }

    fn begin_round(&mut self, w: &mut Window, nxt: u64) {
        self.round_end = nxt;
        self.samples = 0;
        self.last = self.current;
        self.current = Span::MAX;
        if let Some(css) = &mut self.css {
            css.rounds += 1;
            if css.rounds > CSS_ROUNDS {
                w.ssthresh = w.cwnd;
            }
        }
    }

    fn look(&mut self) {
        match self.css {
            None if self.last < Span::MAX => {
                let thresh = Span(self.last.0 / MIN_RTT_DIVISOR).min(RTT_THRESH_MAX).max(RTT_THRESH_MIN);
                if self.current >= self.last + thresh {
                    self.css = Some(Css { baseline: self.current, rounds: 1 });
                }
            }
            // The delay was jitter: slow start goes on.
            Some(css) if self.current < css.baseline => self.css = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{SMSS, segment_acked};
    use wire::Time;

    /// Ten ACKs of a round trip of `rtt_ms`; the growth of the last one.
    fn round(h: &mut HyStartPlusPlus, w: &mut Window, k: u64, rtt_ms: i64) -> u32 {
        let mut growth = 0;
        for i in 0..10 {
            let a = AckFacts {
                rtt: Some(Span::from_millis(rtt_ms)),
                ..segment_acked(Time(0), k * 10 + i + 1, (k + 1) * 10)
            };
            growth = h.on_ack(w, &a, SMSS);
        }
        growth
    }
    fn fresh() -> (HyStartPlusPlus, Window) {
        (HyStartPlusPlus::default(), Window { cwnd: 20 * SMSS, ssthresh: u32::MAX, smss: SMSS })
    }

    #[test]
    fn an_rtt_that_grew_by_an_eighth_makes_growth_a_quarter() {
        // §4.2 and §4.3: clamped to 4 and 16 ms.
        for (first, second, grown) in [
            (80, 89, false),
            (80, 90, true),
            (16, 19, false),
            (16, 20, true),
            (400, 415, false),
            (400, 416, true),
        ] {
            let (mut h, mut w) = fresh();
            assert_eq!(round(&mut h, &mut w, 0, first), SMSS);
            let growth = round(&mut h, &mut w, 1, second);
            assert_eq!(growth == SMSS / 4, grown, "{first} ms, then {second} ms");
        }
    }

    #[test]
    fn five_such_rounds_end_slow_start() {
        let (mut h, mut w) = fresh();
        round(&mut h, &mut w, 0, 40);
        for k in 1..=5 {
            round(&mut h, &mut w, k, 60);
            assert_eq!(w.ssthresh, u32::MAX, "round {k} of conservative slow start");
        }
        round(&mut h, &mut w, 6, 60);
        assert_eq!(w.ssthresh, 20 * SMSS);
    }

    #[test]
    fn jitter_does_not_end_it() {
        let (mut h, mut w) = fresh();
        round(&mut h, &mut w, 0, 40);
        assert_eq!(round(&mut h, &mut w, 1, 60), SMSS / 4);
        assert_eq!(round(&mut h, &mut w, 2, 59), SMSS, "below the baseline: slow start goes on");
        assert_eq!(w.ssthresh, u32::MAX);
    }

    #[test]
    fn seven_samples_say_nothing_and_later_slow_starts_are_plain() {
        let (mut h, mut w) = fresh();
        round(&mut h, &mut w, 0, 40);
        for i in 0..7 {
            let a = AckFacts { rtt: Some(Span::from_millis(99)), ..segment_acked(Time(0), 11 + i, 30) };
            assert_eq!(h.on_ack(&mut w, &a, SMSS), SMSS);
        }
        w.ssthresh = 100 * SMSS;
        assert_eq!(round(&mut h, &mut w, 3, 99), SMSS);
    }
}
