//! 4.4BSD's timer: small integers on the ticks of a slow clock (500 ms there).
//!
//! Wright and Stevens, TCP/IP Illustrated vol. 2, §25.7 and §25.11; Jacobson 1988, appendix A.

use super::{Bounds, RttSample, TimerRule, doubled};
use wire::Span;

/// Mean times 8, deviation times 4, in ticks of the clock's grain.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bsd {
    srtt8: i64,
    rttvar4: i64,
    sampled: bool,
    /// Without back-off, ticks.
    current: i64,
    backoff: u32,
}

/// The table of back-offs ends at 64.
const MOST_BACKOFF: u32 = 6;
/// Beyond this many timeouts the mean is forgotten (a quarter of the 12 that are allowed): the next sample starts
/// afresh, from the deviation that held it meanwhile.
const FORGETS_AFTER: u32 = 3;

impl TimerRule for Bsd {
    fn on_sample(&mut self, b: &Bounds, s: &RttSample) {
        // The kernel's counter starts at 1; a first sample takes it as it is, later ones less that 1.
        let ticks = b.measured_units(s);
        if self.srtt8 == 0 {
            let counter = ticks + 1;
            (self.srtt8, self.rttvar4) = (counter << 3, counter << 1);
        } else {
            let error = ticks - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            self.rttvar4 = (self.rttvar4 + error.abs() - (self.rttvar4 >> 2)).max(1);
        }
        self.current = (self.srtt8 >> 3) + self.rttvar4;
        self.sampled = true;
        self.backoff = 0;
    }

    fn on_timeout(&mut self, _b: &Bounds) {
        self.backoff = self.backoff.saturating_add(1);
        if self.backoff > FORGETS_AFTER && self.srtt8 != 0 {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    fn rto(&self, b: &Bounds) -> Span {
        let base = if self.sampled { Span(self.current * b.unit()) } else { b.initial };
        // The shift comes first and the bounds last: a minimum is not doubled.
        doubled(base, self.backoff.min(MOST_BACKOFF), b.max).max(b.min)
    }
    fn backoff(&self) -> u32 {
        self.backoff
    }
    fn srtt(&self, b: &Bounds) -> Option<Span> {
        (self.srtt8 != 0).then(|| Span((self.srtt8 >> 3) * b.unit()))
    }
    fn rttvar(&self, b: &Bounds) -> Option<Span> {
        self.sampled.then(|| Span(self.rttvar4 * b.unit() / 4))
    }
}
