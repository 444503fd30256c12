//! How large is the window, apart from what recovery does with it?
//!
//! Slow start and the window rule are composed here, so each rule is one page that knows nothing of the others.
//! Nothing here detects a loss or knows a clock. Undo is `clone` before, assign back after.

mod aimd;
mod slow_start;

use crate::stack::{self, InitialWindow, WindowRuleKind};
use aimd::Aimd;
use slow_start::SlowStart;
use wire::time::{Span, Time};

/// The congestion window as every rule publishes it, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub cwnd: u32,
    /// `u32::MAX` is unbounded (RFC 5681 §3.1: "arbitrarily high").
    pub ssthresh: u32,
    pub smss: u32,
}

/// What an ACK that advanced SND.UNA told.
#[derive(Clone, Copy, Debug)]
pub struct AckFacts {
    pub now: Time,
    /// Bytes newly acknowledged cumulatively.
    pub acked: u32,
    /// Bytes newly acknowledged cumulatively or by SACK.
    pub delivered: u32,
    /// Segments newly acknowledged cumulatively; a part of one counts as one (Linux).
    pub segments: u32,
    /// RTT sample of this ACK, if it gave one.
    pub rtt: Option<Span>,
    /// Smallest RTT of the connection.
    pub min_rtt: Option<Span>,
    pub srtt: Option<Span>,
    /// FlightSize before this ACK, bytes.
    pub flight: u32,
    /// SND.UNA after, and SND.NXT at, this ACK (stream offsets).
    pub una: u64,
    pub nxt: u64,
    /// The congestion window was what limited sending.
    pub limited: bool,
}

/// What was known when a loss was found.
#[derive(Clone, Copy, Debug)]
pub struct LossFacts {
    pub now: Time,
    /// FlightSize, bytes (RFC 5681 (4)).
    pub flight: u32,
    pub una: u64,
    pub nxt: u64,
    /// Found by the retransmission timer, not by ACKs.
    pub timeout: bool,
}

/// One page each: growth in congestion avoidance, and what a loss leaves of the window.
trait WindowRule {
    /// Looks at every ACK that advances, in recovery too, whether or not the window may grow.
    fn measure(&mut self, _w: &Window, _a: &AckFacts) {}
    /// Whether this ACK belongs to slow start (RFC 5681 §3.1: either may be used when they are equal).
    fn in_slow_start(&self, w: &Window) -> bool {
        w.cwnd < w.ssthresh
    }
    /// Congestion avoidance; `acked` are the bytes that slow start did not use.
    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32);
    /// The new ssthresh, bytes; forgets what belonged to the time before the loss.
    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32;
    fn on_recovery_end(&mut self, _w: &mut Window, _now: Time) {}
    /// Nothing was in flight for a while, up to `now`.
    fn after_idle(&mut self, _w: &Window, _now: Time) {}
}

/// The window rule of one connection. Enum dispatch: one indirect call less at every ACK, and it clones flat.
#[derive(Clone, Debug)]
pub struct Congestion {
    rule: Rule,
    slow_start: SlowStart,
    /// Bytes.
    initial_window: u32,
    restart_after_idle: bool,
    grows_only_when_limited: bool,
}

#[derive(Clone, Debug)]
enum Rule {
    Aimd(Aimd),
}

/// The same call on whichever rule it is.
macro_rules! on_rule {
    ($self:expr, $rule:ident => $call:expr) => {
        match &mut $self.rule {
            Rule::Aimd($rule) => $call,
        }
    };
}

impl Congestion {
    pub fn new(spec: &stack::Congestion, smss: u32) -> (Congestion, Window) {
        let smss = smss.max(1);
        let initial_window = initial_window(spec.initial_window, smss);
        let window =
            Window { cwnd: initial_window, ssthresh: spec.initial_ssthresh_bytes.unwrap_or(u32::MAX), smss };
        let congestion = Congestion {
            rule: Rule::new(&spec.rule),
            slow_start: SlowStart::new(spec.slow_start),
            initial_window,
            restart_after_idle: spec.restart_after_idle,
            grows_only_when_limited: spec.grows_only_when_limited,
        };
        (congestion, window)
    }

    /// An ACK that advanced, outside recovery or in the slow start after a timeout.
    #[inline]
    pub fn on_ack(&mut self, w: &mut Window, a: &AckFacts) {
        on_rule!(self, rule => rule.measure(w, a));
        if self.grows_only_when_limited && !a.limited {
            return;
        }
        let mut acked = a.acked;
        if on_rule!(self, rule => rule.in_slow_start(w)) {
            acked = self.slow_start.on_ack(w, acked);
        }
        if acked > 0 {
            on_rule!(self, rule => rule.avoid(w, a, acked));
        }
        w.cwnd = w.cwnd.max(w.smss);
    }

    /// An ACK that advanced while recovery owns the window: measurements only.
    #[inline]
    pub fn on_ack_in_recovery(&mut self, w: &Window, a: &AckFacts) {
        on_rule!(self, rule => rule.measure(w, a));
    }

    /// A loss was found: the new ssthresh, bytes, at least 1 SMSS. The caller sets it, and cwnd by its recovery.
    pub fn ssthresh_on_loss(&mut self, w: &Window, l: &LossFacts) -> u32 {
        on_rule!(self, rule => rule.ssthresh(w, l)).max(w.smss)
    }

    /// Recovery is over and has left its window in `w`.
    pub fn on_recovery_end(&mut self, w: &mut Window, now: Time) {
        on_rule!(self, rule => rule.on_recovery_end(w, now));
        w.cwnd = w.cwnd.max(w.smss);
    }

    /// Nothing was in flight for longer than an RTO, and data is about to be sent at `now`.
    pub fn after_idle(&mut self, w: &mut Window, now: Time) {
        on_rule!(self, rule => rule.after_idle(w, now));
        if self.restart_after_idle {
            // RFC 5681 §4.1: RW = min(IW, cwnd).
            w.cwnd = w.cwnd.min(self.initial_window);
        }
    }
}

impl Rule {
    fn new(kind: &WindowRuleKind) -> Rule {
        match *kind {
            WindowRuleKind::Aimd { beta, count } => Rule::Aimd(Aimd::new(beta, count)),
            _ => todo!(),
        }
    }
}

/// Bytes.
fn initial_window(kind: InitialWindow, smss: u32) -> u32 {
    match kind {
        InitialWindow::Segments(n) => smss.saturating_mul(n.max(1)),
        // RFC 3390 (1).
        InitialWindow::Rfc3390 => smss.saturating_mul(4).min(4380.max(smss.saturating_mul(2))),
    }
}

#[cfg(test)]
mod tests;
