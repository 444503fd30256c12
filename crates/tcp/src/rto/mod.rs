//! When does the retransmission timer fire?
//!
//! Each rule is one page that turns RTT samples and timeouts into a time-out; bounds, grain and slop are applied
//! here, once. Nothing here knows the timer itself.

mod rfc6298;
pub mod ticks;

use crate::stack::{RtoKind, RtoRule};
use rfc6298::Rfc6298;
use wire::time::{Span, Time};

/// One RTT sample and what the sender looked like when it was taken.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    pub rtt: Span,
    pub now: Time,
    /// SND.UNA after, and SND.NXT at, the ACK that gave the sample (stream offsets).
    pub una: u64,
    pub nxt: u64,
    pub cwnd_segments: u32,
    /// From the timestamp option, so never ambiguous (RFC 6298 §3).
    pub from_timestamp: bool,
    /// Retransmissions are still unacknowledged after this ACK.
    pub retransmits_outstanding: bool,
    /// Segments in flight after this ACK.
    pub in_flight_segments: u32,
}

/// The retransmission time-out of one connection. Enum dispatch, and it clones flat (undo).
#[derive(Clone, Debug)]
pub struct Rto {
    rule: Rule,
    bounds: Bounds,
}

/// What every rule is given.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    initial: Span,
    min: Span,
    max: Span,
    granularity: Span,
    slop: Span,
}

#[derive(Clone, Debug)]
enum Rule {
    Rfc6298(Rfc6298),
}

impl Rto {
    pub fn new(spec: &RtoRule) -> Rto {
        let bounds = Bounds {
            initial: spec.initial.clamp(Span(1), Span::MAX),
            min: spec.min.clamp(Span::ZERO, Span::MAX),
            max: spec.max.clamp(spec.min.max(Span(1)), Span::MAX),
            granularity: spec.granularity.max(Span::ZERO),
            slop: spec.slop.clamp(Span::ZERO, Span::MAX),
        };
        let rule = match spec.rule {
            RtoKind::Rfc6298 => Rule::Rfc6298(Rfc6298::default()),
            _ => todo!(),
        };
        Rto { rule, bounds }
    }

    pub fn on_sample(&mut self, s: &RttSample) {
        match &mut self.rule {
            Rule::Rfc6298(r) => r.on_sample(self.bounds.measured(s)),
        }
    }

    /// The timer fired: one more back-off. `cwnd_segments` after the timeout.
    pub fn on_timeout(&mut self, _cwnd_segments: u32) {
        match &mut self.rule {
            Rule::Rfc6298(r) => r.on_timeout(),
        }
    }

    /// SND.UNA advanced to `una`, whether or not a sample came of it; called after `on_sample`.
    pub fn on_ack_advance(&mut self, _una: u64, _cwnd_segments: u32) {
        match &mut self.rule {
            Rule::Rfc6298(_) => {}
        }
    }

    /// The time-out to set the timer to: with back-off, bounds and slop.
    pub fn rto(&self) -> Span {
        let rto = match &self.rule {
            Rule::Rfc6298(r) => r.rto(&self.bounds),
        };
        self.bounds.in_ticks(rto) + self.bounds.slop
    }

    /// Times in a row that the timer has fired, as far as the rule remembers them.
    pub fn backoff(&self) -> u32 {
        match &self.rule {
            Rule::Rfc6298(r) => r.backoff(),
        }
    }

    pub fn srtt(&self) -> Option<Span> {
        match &self.rule {
            Rule::Rfc6298(r) => r.srtt(),
        }
    }

    pub fn rttvar(&self) -> Option<Span> {
        match &self.rule {
            Rule::Rfc6298(r) => r.rttvar(),
        }
    }
}

impl Bounds {
    /// The sample as a clock of this grain reads it: difference of two readings, each rounded down.
    fn measured(&self, s: &RttSample) -> Span {
        let g = self.granularity.0;
        let rtt = s.rtt.0.clamp(0, LONGEST_SAMPLE.0);
        if g <= 1 {
            return Span(rtt);
        }
        let (end, start) = (s.now.0.div_euclid(g), (s.now.0 - rtt).div_euclid(g));
        Span((end - start) * g)
    }

    /// Rounded up to the grain in which timers are set.
    fn in_ticks(&self, rto: Span) -> Span {
        let g = self.granularity.0;
        if g <= 1 {
            return rto;
        }
        Span((rto.0 + g - 1) / g * g)
    }

    /// Doubled `backoff` times, then bounded.
    fn backed_off(&self, base: Span, backoff: u32) -> Span {
        doubled(base.max(self.min), backoff, self.max)
    }
}

/// Longer samples count as this; no sum of a rule overflows with it.
const LONGEST_SAMPLE: Span = Span::from_secs(3600);

/// `base` times 2^`backoff`, at most `max`.
fn doubled(base: Span, backoff: u32, max: Span) -> Span {
    let base = base.0.max(0);
    if backoff >= base.leading_zeros().saturating_sub(1) {
        return if base == 0 { Span::ZERO } else { max };
    }
    Span(base << backoff).min(max)
}

#[cfg(test)]
mod tests;
