//! ns-2's retransmission timer: RTTs counted in ticks of a coarse clock, integers throughout.
//!
//! For the one-way agents, which time one packet at a time and hand its RTT in. The mean is kept times 8, the
//! deviation times 4 (`T_SRTT_BITS` 3, `T_RTTVAR_BITS` 2, `rttvar_exp_` 2 of ns-2.35's defaults); the least
//! time-out is clamped before the back-off multiplies it (`rfc2988_`, on since 2002), or after it. Checked against
//! every timeout of the ns-2.35 reference traces.
//!
//! ns-2.35 has a Tcl variable `updated_rttvar_` ("the variance of before 2006"), but nothing in its C++ reads it:
//! old and new variance are one and the same, so there is no parameter for it here.

use wire::{Span, Time};

#[derive(Clone, Copy, Debug)]
pub struct TickRto {
    /// Nanoseconds, at least 1.
    tick: i64,
    /// Where in a tick the clock stands at time 0 (`boot_time_`), nanoseconds, 0 ..< tick.
    boot: i64,
    min: Span,
    max: Span,
    /// Ticks, times 8; 0 before the first sample and after many back-offs.
    srtt8: i64,
    /// Ticks, times 4.
    rttvar4: i64,
    /// The last sample, ticks.
    rtt: i64,
    /// The time-out without back-off (`t_rtxcur_`).
    current: Span,
    /// What the time-out is multiplied with: 1, 2, 4, 8 ... (`t_backoff_`).
    backoff: i64,
    /// `rfc2988_`: the bound comes before the back-off, which may pass 64.
    min_before_backoff: bool,
}

/// `t_backoff_` doubles up to here, and further only while the time-out is below its maximum.
const BACKOFF_PLAIN: i64 = 64;
/// The multiplication stops here in any case, so that nothing overflows.
const BACKOFF_MOST: i64 = 1 << 30;
/// Beyond this back-off the mean is forgotten: the next sample starts afresh.
const BACKOFF_FORGETS: i64 = 8;

impl TickRto {
    /// `phase`: where in a tick the clock starts, as a fraction of a tick, 0 ..< 1.
    pub fn new(tick: Span, phase: f64, initial: Span, min: Span, max: Span) -> TickRto {
        let tick = tick.0.max(1);
        TickRto {
            tick,
            boot: ((tick as f64 * phase) as i64).clamp(0, tick - 1),
            min: min.max(Span::ZERO),
            max: max.clamp(Span(1), Span::MAX),
            srtt8: 0,
            rttvar4: 0,
            rtt: 0,
            current: initial.clamp(Span::ZERO, Span::MAX),
            backoff: 1,
            min_before_backoff: true,
        }
    }

    /// As before 2002: the least time-out bounds what the back-off has multiplied, and that ends at 64.
    pub fn bounded_after_backoff(self) -> TickRto {
        TickRto { min_before_backoff: false, ..self }
    }

    /// The packet that was timed is acknowledged at `now`, `rtt` after it was sent: ends the back-off, too.
    pub fn on_sample(&mut self, rtt: Span, now: Time) {
        self.end_backoff();
        self.rtt = self.in_ticks(rtt, now);
        self.smooth();
    }

    /// The RTT that a timestamp tells, exact and rounded to the nearest tick; the back-off stays.
    pub fn on_timestamp(&mut self, rtt: Span) {
        let rtt = rtt.0.clamp(0, super::LONGEST_SAMPLE.0);
        self.rtt = ((rtt + self.tick / 2) / self.tick).max(1);
        self.smooth();
    }

    /// Something sent since the last time-out is acknowledged, though it is no sample.
    pub fn end_backoff(&mut self) {
        self.backoff = 1;
    }

    fn smooth(&mut self) {
        if self.srtt8 == 0 {
            self.srtt8 = self.rtt << 3;
            self.rttvar4 = self.rtt << 1;
        } else {
            let error = self.rtt - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            self.rttvar4 = (self.rttvar4 + error.abs() - (self.rttvar4 >> 2)).max(1);
        }
        // SRTT + 4 RTTVAR, rounded down to whole ticks.
        self.current = Span((((self.rttvar4 << 3) + self.srtt8) >> 3) * self.tick);
    }

    /// The timer fired (a fast retransmit does not back off, Tahoe's neither).
    pub fn on_timeout(&mut self) {
        let on = self.min_before_backoff && self.rto() < self.max && self.backoff < BACKOFF_MOST;
        if self.backoff < BACKOFF_PLAIN || on {
            self.backoff <<= 1;
        }
        if self.backoff > BACKOFF_FORGETS {
            self.rttvar4 += self.srtt8 >> 3;
            self.srtt8 = 0;
        }
    }

    /// The time-out to set the timer to.
    pub fn rto(&self) -> Span {
        let multiplied = |base: Span| Span(base.0.saturating_mul(self.backoff));
        let rto = match self.min_before_backoff {
            true => multiplied(self.current.max(self.min)),
            false => multiplied(self.current).max(self.min),
        };
        rto.min(self.max).max(Span(2 * self.tick))
    }

    /// 1, 2, 4, 8 ... (`t_backoff_` of a state trace).
    pub fn backoff(&self) -> u32 {
        self.backoff as u32
    }
    /// The last sample, ticks (`t_rtt_` of a state trace).
    pub fn rtt_ticks(&self) -> u32 {
        self.rtt as u32
    }
    /// `None` before a sample, and while forgotten after many back-offs.
    pub fn srtt(&self) -> Option<Span> {
        (self.srtt8 != 0).then(|| Span((self.srtt8 >> 3) * self.tick))
    }
    pub fn rttvar(&self) -> Option<Span> {
        (self.srtt8 != 0).then_some(Span(self.rttvar4 * self.tick / 4))
    }

    /// Ticks of the clock between sending and `now`, at least 1; the clock is `boot` ahead of the time.
    fn in_ticks(&self, rtt: Span, now: Time) -> i64 {
        let rtt = rtt.0.clamp(0, super::LONGEST_SAMPLE.0);
        let into_tick = (now.0 - rtt + self.boot).rem_euclid(self.tick);
        ((rtt + into_tick) / self.tick).max(1)
    }
}

#[cfg(test)]
mod tests;
