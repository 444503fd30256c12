//! RFC 6298: SRTT and RTTVAR, doubled at each timeout, collapsed by the next sample.

use super::{Bounds, doubled};
use wire::time::Span;

/// Integer nanoseconds, rounded towards zero; two samples of the same length always give the same RTO.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rfc6298 {
    smoothed: Option<Smoothed>,
    backoff: u32,
}

#[derive(Clone, Copy, Debug)]
struct Smoothed {
    srtt: Span,
    rttvar: Span,
}

impl Rfc6298 {
    pub(super) fn on_sample(&mut self, rtt: Span) {
        self.smoothed = Some(match self.smoothed {
            // (2.2)
            None => Smoothed { srtt: rtt, rttvar: rtt / 2 },
            // (2.3): RTTVAR first, with the old SRTT; alpha = 1/8, beta = 1/4.
            Some(s) => Smoothed {
                rttvar: (s.rttvar * 3 + Span((s.srtt - rtt).0.abs())) / 4,
                srtt: (s.srtt * 7 + rtt) / 8,
            },
        });
        // §5, last paragraph: a new measurement may collapse the RTO after it was backed off.
        self.backoff = 0;
    }

    /// (5.5)
    pub(super) fn on_timeout(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    pub(super) fn rto(&self, b: &Bounds) -> Span {
        match self.smoothed {
            // (2.1)
            None => doubled(b.initial, self.backoff, b.max),
            // (2.2) and (2.3), K = 4; (2.4) and (2.5) are the bounds.
            Some(s) => b.backed_off(s.srtt + (s.rttvar * 4).max(b.granularity), self.backoff),
        }
    }
    pub(super) fn backoff(&self) -> u32 {
        self.backoff
    }
    pub(super) fn srtt(&self) -> Option<Span> {
        self.smoothed.map(|s| s.srtt)
    }
    pub(super) fn rttvar(&self) -> Option<Span> {
        self.smoothed.map(|s| s.rttvar)
    }
}
