//! The retransmission timer, rebuilt: what each rule would have set, and which explains the timeouts seen.
//!
//! Every rule is a page of its own. All are fed with the same RTT samples; at a timeout the time that passed
//! since the timer was last started is compared with each rule's RTO.

pub mod bsd;
pub mod linux;
pub mod linux22;
pub mod rfc6298;
pub mod smoothed;

use crate::rows::{self, RtoRule};
use linux::Linux;
use linux22::Linux22;
use smoothed::Smoothed;
use wire::Span;

/// In the order in which a tie is decided.
const RULES: [RtoRule; 4] = [RtoRule::Linux, RtoRule::Bsd, RtoRule::Rfc6298, RtoRule::Linux22];

/// A timer fires at the clock tick after its time, so up to this late (HZ = 100; Linux today: 4 ms or 1 ms).
const TICK: Span = Span::from_millis(10);

/// A rule that misses by more than this on average explains nothing.
const WORST_ERROR: f64 = 0.3;

/// `ns` times 2^`backoff`, at most `max`.
#[inline]
pub(crate) fn doubled(ns: i64, backoff: u32, max: Span) -> Span {
    let shift = backoff.min(16);
    Span(ns.min(max.0) << shift).min(max)
}

/// The timer of one data direction under every rule at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timers {
    smoothed: Smoothed,
    linux: Linux,
    linux22: Linux22,
    compared: u32,
    /// Sum of relative errors, in the order of `RULES`.
    errors: [f64; RULES.len()],
}

/// How far a timeout lies from a rule's, beyond what its clock explains.
fn miss(rule: RtoRule, observed: Span, expected: Span) -> i64 {
    let late = (observed - expected).0;
    if late <= 0 {
        return -late;
    }
    // Linux's timer wheel (since 4.8) is an eighth of the interval coarse and rounds up. That much counts, but
    // only a quarter, so that a rule which hits exactly is still preferred.
    let coarse = if rule == RtoRule::Linux { expected.0 / 8 } else { 0 };
    let beyond = (late - TICK.0).max(0);
    let explained = beyond.min(coarse);
    explained / 4 + (beyond - explained)
}

impl Timers {
    pub fn new() -> Timers {
        Timers::default()
    }

    /// An RTT sample by Karn's rule or from timestamps. `una`, `nxt`: offsets of the first byte not acknowledged
    /// and of the next byte to be sent, after the ACK that gave it.
    #[inline]
    pub fn on_rtt(&mut self, rtt: Span, una: u64, nxt: u64) {
        self.smoothed.on_rtt(rtt);
        self.linux.on_rtt(rtt, una, nxt);
    }

    /// One of several that an ACK tells of; which of them Linux takes, [`Timers::on_own_rtt`] is told.
    #[inline]
    pub fn on_any_rtt(&mut self, rtt: Span) {
        self.smoothed.on_rtt(rtt);
    }
    #[inline]
    pub fn on_own_rtt(&mut self, rtt: Span, una: u64, nxt: u64) {
        self.linux.on_rtt(rtt, una, nxt);
    }
    /// SRTT and RTO as Linux has them, if there was a sample.
    pub fn linux(&self) -> Option<(Span, Span)> {
        self.linux.srtt().map(|srtt| (srtt, self.linux.rto(0)))
    }

    /// The cumulative ACK advanced, whether or not it gave a sample.
    #[inline]
    pub fn on_progress(&mut self, una: u64, nxt: u64) {
        self.linux22.on_ack(una < nxt);
    }

    /// The timer fired. `observed`: since it was last started, which is the last of: the ACK that advanced, the
    /// first data sent into an empty flight, the tail-loss probe, the timeout before. `backoff`: timeouts before
    /// this one without progress since.
    pub fn on_timeout(&mut self, observed: Span, backoff: u32) {
        if self.smoothed.srtt().is_some() && observed > Span::ZERO {
            self.compared += 1;
            for (at, rule) in RULES.into_iter().enumerate() {
                // Linux 2.2 takes its own back-off, which survives progress.
                let expected = self.rto_backed_off(rule, backoff);
                let error = miss(rule, observed, expected);
                // One timeout that was none must not outweigh the others.
                self.errors[at] += (error as f64 / expected.0 as f64).min(1.0);
            }
        }
        self.linux22.on_timeout();
    }

    /// The RTO that the rule would set now, without back-off (but with Linux 2.2's surviving one).
    pub fn rto(&self, rule: RtoRule) -> Option<Span> {
        self.smoothed.srtt().map(|_| self.rto_backed_off(rule, 0))
    }

    /// The RTO behind so many timeouts in a row.
    pub fn rto_backed_off(&self, rule: RtoRule, backoff: u32) -> Span {
        match rule {
            RtoRule::Rfc6298 => rfc6298::rto(&self.smoothed, backoff),
            RtoRule::Linux => self.linux.rto(backoff),
            RtoRule::Linux22 => self.linux22.rto(&self.smoothed),
            RtoRule::Bsd => bsd::rto(&self.smoothed, backoff),
        }
    }

    pub fn srtt(&self) -> Option<Span> {
        self.smoothed.srtt()
    }
    pub fn rttvar(&self, rule: RtoRule) -> Option<Span> {
        self.srtt().map(|_| match rule {
            RtoRule::Linux => self.linux.rttvar(),
            _ => self.smoothed.rttvar(),
        })
    }

    /// The rule that fits best is named only if it fits; its error is given all the same.
    pub fn report(&self) -> rows::Timers {
        let mut nearest = None;
        if self.compared > 0 {
            for (rule, sum) in RULES.iter().zip(self.errors) {
                let error = sum / f64::from(self.compared);
                if nearest.is_none_or(|(_, least)| error < least) {
                    nearest = Some((*rule, error));
                }
            }
        }
        let best = nearest.filter(|(_, error)| *error <= WORST_ERROR).map(|(rule, _)| rule);
        let shown = best.unwrap_or(RtoRule::Linux);
        rows::Timers {
            compared: self.compared,
            best,
            error: nearest.map(|(_, error)| error),
            srtt: self.srtt(),
            rttvar: self.rttvar(shown),
            rto: self.rto(shown),
        }
    }
}
