//! When does the retransmission timer fire?
//!
//! Each rule is one page that turns RTT samples and timeouts into a time-out; grain and slop are applied here,
//! once. Nothing here knows the timer itself. [`ticks`] stands apart: ns-2's one-way agents use it.

mod bsd;
mod linux;
mod linux22;
mod ns320;
mod rfc6298;
pub mod ticks;
pub mod wheel;

use crate::sampler::Samples;
use crate::stack::{RtoKind, RtoRule};
use bsd::Bsd;
use linux::Linux;
use linux22::Linux22;
use ns320::Ns320;
use rfc6298::Rfc6298;
use wire::{Span, Time};

/// One RTT sample and what the sender looked like when it was taken.
#[derive(Clone, Copy, Debug)]
pub struct RttSample {
    pub rtt: Span,
    pub now: Time,
    /// SND.UNA after, and SND.NXT at, the ACK that gave the sample (stream offsets).
    pub una: u64,
    pub nxt: u64,
    /// From the timestamp option, so never ambiguous (RFC 6298 §3).
    pub from_timestamp: bool,
}

/// One page each. Times are integers; what a rule keeps in the clock's grain, it keeps in `Bounds::unit`.
trait TimerRule {
    fn on_sample(&mut self, b: &Bounds, s: &RttSample);
    fn on_timeout(&mut self, b: &Bounds);
    /// SND.UNA advanced to `una`; the window is `cwnd_segments` after that.
    fn on_ack_advance(&mut self, _b: &Bounds, _una: u64, _nxt: u64, _cwnd_segments: u32) {}
    /// With back-off and bounds, without slop.
    fn rto(&self, b: &Bounds) -> Span;
    fn backoff(&self) -> u32;
    fn srtt(&self, b: &Bounds) -> Option<Span>;
    fn rttvar(&self, b: &Bounds) -> Option<Span>;
    /// The wait for an answer to the `nth` SYN (from 0), where the handshake has a timer of its own that this rule
    /// knows nothing of: neither its round trip nor its timeouts.
    fn handshake_apart(&self, _nth: u32) -> Option<Span> {
        None
    }
    fn samples(&self) -> Samples {
        Samples::Stamped
    }
}

/// The retransmission time-out of one connection. Enum dispatch, and it clones flat (undo).
#[derive(Clone, Debug)]
pub struct Rto {
    rule: Rule,
    bounds: Bounds,
}

#[derive(Clone, Debug)]
enum Rule {
    Rfc6298(Rfc6298),
    Linux(Linux),
    Linux22(Linux22),
    Ns320(Ns320),
    Bsd(Bsd),
}

/// The same call on whichever rule it is.
macro_rules! on_rule {
    ($rule:expr, $r:ident => $call:expr) => {
        match $rule {
            Rule::Rfc6298($r) => $call,
            Rule::Linux($r) => $call,
            Rule::Linux22($r) => $call,
            Rule::Ns320($r) => $call,
            Rule::Bsd($r) => $call,
        }
    };
}

impl Rto {
    pub fn new(spec: &RtoRule) -> Rto {
        let bounds = Bounds::new(spec);
        let rule = match spec.rule {
            RtoKind::Rfc6298 => Rule::Rfc6298(Rfc6298::default()),
            RtoKind::Linux => Rule::Linux(Linux::in_ticks(&bounds)),
            RtoKind::LinuxMicroseconds => Rule::Linux(Linux::in_microseconds(&bounds)),
            RtoKind::Linux22 => Rule::Linux22(Linux22::new(&bounds, false)),
            RtoKind::Linux22Cured => Rule::Linux22(Linux22::new(&bounds, true)),
            RtoKind::Ns320 => Rule::Ns320(Ns320::new(&bounds)),
            RtoKind::Bsd => Rule::Bsd(Bsd::default()),
        };
        Rto { rule, bounds }
    }

    #[inline]
    pub fn on_sample(&mut self, s: &RttSample) {
        on_rule!(&mut self.rule, r => r.on_sample(&self.bounds, s));
    }

    /// The timer fired: one more back-off.
    pub fn on_timeout(&mut self) {
        on_rule!(&mut self.rule, r => r.on_timeout(&self.bounds));
    }

    /// Does the rule want to hear of ACKs that advance? Most look at samples only.
    #[inline]
    pub fn follows_acks(&self) -> bool {
        matches!(self.rule, Rule::Linux22(_))
    }

    /// SND.UNA advanced to `una` (SND.NXT is `nxt`), whether or not a sample came of it: to be called after
    /// `on_sample`, and after the window has grown to `cwnd_segments`.
    #[inline]
    pub fn on_ack_advance(&mut self, una: u64, nxt: u64, cwnd_segments: u32) {
        on_rule!(&mut self.rule, r => r.on_ack_advance(&self.bounds, una, nxt, cwnd_segments));
    }

    /// Other bounds than the stack's, from now on (Linux: TCP_RTO_MIN_US and TCP_RTO_MAX_MS of a socket).
    pub fn set_bounds(&mut self, min: Span, max: Span) {
        self.bounds.max = max.clamp(Span(1), LONGEST);
        self.bounds.min = min.clamp(Span::ZERO, self.bounds.max);
        self.bounds.min_in_ticks = self.bounds.up_to_tick(self.bounds.min);
        if let Rule::Linux(r) = &mut self.rule {
            r.set_floor(&self.bounds);
        }
    }
    pub fn bounds(&self) -> (Span, Span) {
        (self.bounds.min, self.bounds.max)
    }

    /// The handshake is over, and its SYN had timed out: RFC 6298 (5.7) wants 3 s for the first data.
    pub fn on_late_handshake(&mut self) {
        if let Rule::Rfc6298(r) = &mut self.rule {
            r.on_late_handshake(&mut self.bounds);
        }
    }

    /// The time-out to set the timer to: with back-off, bounds and slop.
    #[inline]
    pub fn rto(&self) -> Span {
        let rto = on_rule!(&self.rule, r => r.rto(&self.bounds));
        // Zero would fire for ever: possible where the minimum is zero and the path takes no time.
        self.bounds.in_ticks(rto.max(Span(1))) + self.bounds.slop
    }

    /// Rounded up to the grain in which timers are set.
    #[inline]
    pub fn in_ticks(&self, wait: Span) -> Span {
        self.bounds.in_ticks(wait)
    }

    /// When a timer fires that is set at `now` to wait for so long.
    #[inline]
    pub fn fires_at(&self, now: Time, wait: Span) -> Time {
        if self.bounds.wheel { wheel::fires_at(now, wait, self.bounds.granularity) } else { now + wait }
    }

    /// Times that the timer has fired and doubled the time-out, as far as the rule still counts them.
    pub fn backoff(&self) -> u32 {
        on_rule!(&self.rule, r => r.backoff())
    }

    /// The time-out of the `nth` SYN, from 0.
    pub fn handshake_rto(&self, nth: u32) -> Span {
        self.handshake_apart(nth).unwrap_or_else(|| self.rto())
    }
    fn handshake_apart(&self, nth: u32) -> Option<Span> {
        on_rule!(&self.rule, r => r.handshake_apart(nth))
    }
    pub fn on_handshake_timeout(&mut self) {
        if self.handshake_apart(0).is_none() {
            self.on_timeout();
        }
    }
    pub fn on_handshake_sample(&mut self, s: &RttSample) {
        if self.handshake_apart(0).is_none() {
            self.on_sample(s);
        }
    }

    /// Which samples the rule wants.
    #[inline]
    pub fn samples(&self) -> Samples {
        on_rule!(&self.rule, r => r.samples())
    }

    /// `None` before the first sample.
    #[inline(always)]
    pub fn srtt(&self) -> Option<Span> {
        on_rule!(&self.rule, r => r.srtt(&self.bounds))
    }

    /// The deviation as the rule has it: RTTVAR of RFC 6298, a quarter of what Linux adds to SRTT.
    pub fn rttvar(&self) -> Option<Span> {
        on_rule!(&self.rule, r => r.rttvar(&self.bounds))
    }
}

/// What every rule is given.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    initial: Span,
    min: Span,
    max: Span,
    granularity: Span,
    slop: Span,
    wheel: bool,
    /// `min` in the grain of timers: what most time-outs are, and no division then.
    min_in_ticks: Span,
    /// 2^64 over the granularity, rounded up: what to multiply with in the place of a division.
    per_tick: u64,
}

/// Longer samples count as this; no sum of a rule overflows with it.
const LONGEST_SAMPLE: Span = Span::from_secs(3600);
/// No bound is longer: more than a year.
const LONGEST: Span = Span::from_secs(1 << 25);

impl Bounds {
    fn new(spec: &RtoRule) -> Bounds {
        let max = spec.max.clamp(Span(1), LONGEST);
        let mut bounds = Bounds {
            min_in_ticks: Span::ZERO,
            per_tick: 0,
            initial: spec.initial.clamp(Span(1), max),
            min: spec.min.clamp(Span::ZERO, max),
            max,
            granularity: spec.granularity.clamp(Span::ZERO, LONGEST),
            slop: spec.slop.clamp(Span::ZERO, LONGEST),
            wheel: spec.wheel,
        };
        bounds.per_tick = (u64::MAX / bounds.unit() as u64).wrapping_add(1);
        bounds.min_in_ticks = bounds.up_to_tick(bounds.min);
        bounds
    }

    /// The grain in which a rule counts, nanoseconds, at least 1.
    fn unit(&self) -> i64 {
        self.granularity.0.max(1)
    }

    fn within_an_hour(&self, rtt: Span) -> i64 {
        rtt.0.clamp(0, LONGEST_SAMPLE.0)
    }

    /// The sample as a clock of this grain reads it: difference of two readings, each rounded down.
    fn measured_units(&self, s: &RttSample) -> i64 {
        let rtt = self.within_an_hour(s.rtt);
        let g = self.unit();
        if g == 1 {
            return rtt;
        }
        s.now.0.div_euclid(g) - (s.now.0 - rtt).div_euclid(g)
    }

    /// Rounded up to the grain in which timers are set.
    #[inline]
    fn in_ticks(&self, rto: Span) -> Span {
        if rto == self.min { self.min_in_ticks } else { self.up_to_tick(rto) }
    }
    fn up_to_tick(&self, rto: Span) -> Span {
        let g = self.unit();
        if g == 1 {
            return rto;
        }
        let n = rto.0 + g - 1;
        // Each ACK asks twice. The product is exact where n times the granularity is below 2^64.
        if n >= 0 && (n as u64).leading_zeros() + (g as u64).leading_zeros() > 64 {
            let ticks = (u128::from(n as u64) * u128::from(self.per_tick)) >> 64;
            return Span(ticks as i64 * g);
        }
        Span(n / g * g)
    }
}

/// `base` times 2^`backoff`, at most `max`.
fn doubled(base: Span, backoff: u32, max: Span) -> Span {
    let base = base.0.max(1);
    if backoff + 1 >= base.leading_zeros() {
        return max;
    }
    Span(base << backoff).min(max)
}

#[cfg(test)]
mod tests;
