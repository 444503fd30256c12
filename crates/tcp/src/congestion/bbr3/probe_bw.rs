//! The cycle of ProbeBW: down, cruise, refill, up (draft-ietf-ccwg-bbr, section 5.3.3).

use super::{Ack, Bbr3, INFINITE, LEAST_CWND, State, UNIT};
use wire::{Span, Time};

/// After so many round trips, or a BDP's worth of them, the next probe is due: Reno would have grown by a loss's worth.
const RENO_ROUNDS: u32 = 63;
const LEAST_WAIT: Span = Span::from_secs(2);

/// What the ACKs at hand tell of the probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Acks {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    acks: Acks,
    /// What is acknowledged was sent while probing.
    pub(super) samples: bool,
    began: Time,
    wait: Span,
    /// Since the last probe.
    pub(super) rounds: u32,
    up_rounds: u32,
    up_acked: u32,
    /// Segments acknowledged for each by which the long-term bound grows.
    acked_per_more: u32,
    /// The last probe lost too much; the one before went down early for that.
    pub(super) too_high: bool,
    pub(super) precautionary: bool,
}

impl Bbr3 {
    pub(super) fn start_down(&mut self, now: Time) {
        self.bounds.forget_signals();
        self.cycle.acked_per_more = INFINITE;
        self.cycle.rounds = self.draw.below(2);
        self.cycle.wait = LEAST_WAIT + Span::from_micros(i64::from(self.draw.below(1_000_001)));
        self.cycle.began = now;
        self.stop_feedback();
        self.state = State::Down;
    }

    /// The round trip in which the last of a probe is acknowledged.
    pub(super) fn stop_feedback(&mut self) {
        self.cycle.acks = Acks::Stopping;
        self.begin_round();
    }

    pub(super) fn start_refill(&mut self) {
        self.bounds.forget_short_term();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0;
        self.cycle.precautionary = false;
        self.cycle.acks = Acks::Refilling;
        self.begin_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self, a: &Ack<'_>) {
        self.cycle.acks = Acks::Starting;
        self.begin_round();
        self.reset_plateau(a.rate);
        self.state = State::Up;
        self.steepen(a.cwnd);
    }

    /// UpdateProbeBWCyclePhase.
    pub(super) fn step_cycle(&mut self, a: &Ack<'_>) {
        if !self.full || self.adapt_long_term(a) {
            return;
        }
        if self.state == State::Up && self.is_time_to_go_down(a) {
            self.cycle.too_high = false;
            self.start_down(a.now);
            return;
        }
        match self.state {
            State::Down if self.is_time_to_probe(a) => self.start_refill(),
            State::Down if self.is_time_to_cruise(a) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(a) => self.start_refill(),
            State::Refill if self.rounds.began => {
                self.cycle.samples = true;
                self.start_up(a);
            }
            _ => {}
        }
    }

    fn is_time_to_probe(&self, a: &Ack<'_>) -> bool {
        let as_reno = self.target_in_flight(a.cwnd).min(RENO_ROUNDS);
        a.now > self.cycle.began + self.cycle.wait || self.cycle.rounds >= as_reno
    }

    fn is_time_to_cruise(&self, a: &Ack<'_>) -> bool {
        a.in_flight <= self.with_headroom() && a.in_flight <= self.in_flight_for(UNIT, a)
    }

    fn is_time_to_go_down(&mut self, a: &Ack<'_>) -> bool {
        // In flight as the ACK came: after it there is always room below cwnd, which the bound holds.
        if self.cycle.too_high && a.s.prior_in_flight >= self.bounds.long_term {
            self.cycle.precautionary = true;
            return true;
        }
        if self.is_cwnd_limited() && a.cwnd >= self.bounds.long_term {
            // It is the bound that limits the bandwidth.
            self.reset_plateau(a.rate);
            return false;
        }
        self.plateau.now
    }

    /// InflightWithHeadroom: 15% of the bound is left to others.
    pub(super) fn with_headroom(&self) -> u32 {
        let bound = self.bounds.long_term;
        if bound == INFINITE {
            return INFINITE;
        }
        let headroom = (u64::from(bound) * 15 / 100).max(1) as u32;
        bound.saturating_sub(headroom).max(LEAST_CWND)
    }

    /// RaiseInflightLongtermSlope.
    fn steepen(&mut self, cwnd: u32) {
        let growth = 1_u32 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.acked_per_more = (cwnd / growth).max(1);
    }

    /// ProbeInflightLongtermUpward.
    fn raise_long_term(&mut self, a: &Ack<'_>) {
        if !self.is_cwnd_limited() || a.cwnd < self.bounds.long_term {
            return;
        }
        self.cycle.up_acked += a.s.newly_delivered;
        let more = self.cycle.up_acked / self.cycle.acked_per_more;
        self.cycle.up_acked -= more * self.cycle.acked_per_more;
        self.bounds.long_term = self.bounds.long_term.saturating_add(more);
        if self.rounds.began {
            self.steepen(a.cwnd);
        }
    }

    /// AdaptLongTermModel: true if it decided on a state.
    fn adapt_long_term(&mut self, a: &Ack<'_>) -> bool {
        if self.cycle.acks == Acks::Starting && self.rounds.began {
            self.cycle.acks = Acks::Feedback;
        }
        if self.cycle.acks == Acks::Stopping && self.rounds.began {
            self.cycle.samples = false;
            self.cycle.acks = Acks::Init;
            if self.state.is_probe_bw() {
                if !a.s.app_limited {
                    self.advance_max_bw();
                }
                if self.cycle.precautionary && !self.cycle.too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        let safe = !self.is_in_flight_too_high(a.s.lost_since, a.s.in_flight_then);
        if safe && self.bounds.long_term < INFINITE {
            self.bounds.long_term = self.bounds.long_term.max(a.s.in_flight_then);
            if self.state == State::Up {
                self.raise_long_term(a);
            }
        }
        false
    }

    /// AdvanceMaxBwFilter: this cycle is the last one, unless nothing was measured in it.
    fn advance_max_bw(&mut self) {
        if self.max_bw[1] > 0 {
            self.max_bw = [self.max_bw[1], 0];
        }
    }
}
