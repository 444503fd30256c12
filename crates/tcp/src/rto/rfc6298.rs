//! RFC 6298: SRTT and RTTVAR, doubled at each timeout, collapsed by the next sample.

use super::{Bounds, RttSample, TimerRule, doubled};
use wire::Span;

/// Integer nanoseconds, rounded towards zero.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rfc6298 {
    smoothed: Option<Smoothed>,
    backoff: u32,
    /// A whole number of the clock's units: samples of a timestamp clock repeat, and need no division then.
    whole: Span,
}

#[derive(Clone, Copy, Debug)]
struct Smoothed {
    srtt: Span,
    rttvar: Span,
}

/// RFC 6298 (5.7).
const AFTER_A_LATE_HANDSHAKE: Span = Span::from_secs(3);

impl Rfc6298 {
    /// (5.7): a SYN that timed out with an RTO below 3 s re-initialises it to 3 s when data begin.
    pub(super) fn on_late_handshake(&mut self, b: &mut Bounds) {
        if self.smoothed.is_none() {
            b.initial = b.initial.max(AFTER_A_LATE_HANDSHAKE).min(b.max);
            self.backoff = 0;
        }
    }
}

impl TimerRule for Rfc6298 {
    fn on_sample(&mut self, b: &Bounds, s: &RttSample) {
        let rtt = if s.rtt == self.whole { s.rtt } else { Span(b.measured_units(s) * b.unit()) };
        if rtt == s.rtt {
            self.whole = rtt;
        }
        self.smoothed = Some(match self.smoothed {
            // (2.2)
            None => Smoothed { srtt: rtt, rttvar: rtt / 2 },
            // (2.3): RTTVAR first, with the old SRTT; alpha = 1/8, beta = 1/4.
            Some(s) => Smoothed {
                rttvar: (s.rttvar * 3 + Span((s.srtt - rtt).0.abs())) / 4,
                srtt: (s.srtt * 7 + rtt) / 8,
            },
        });
        // §5, last paragraphs: a new measurement computes the RTO anew, which collapses a backed-off one.
        self.backoff = 0;
    }

    /// (5.5)
    fn on_timeout(&mut self, _b: &Bounds) {
        self.backoff = self.backoff.saturating_add(1);
    }

    fn rto(&self, b: &Bounds) -> Span {
        let base = match self.smoothed {
            // (2.1); an initial value below the minimum stands.
            None => b.initial,
            // (2.2) and (2.3) with K = 4; (2.4).
            Some(s) => (s.srtt + (s.rttvar * 4).max(b.granularity)).max(b.min),
        };
        // (5.5) with the maximum of (2.5).
        doubled(base, self.backoff, b.max)
    }
    fn backoff(&self) -> u32 {
        self.backoff
    }
    fn srtt(&self, _b: &Bounds) -> Option<Span> {
        self.smoothed.map(|s| s.srtt)
    }
    fn rttvar(&self, _b: &Bounds) -> Option<Span> {
        self.smoothed.map(|s| s.rttvar)
    }
}
