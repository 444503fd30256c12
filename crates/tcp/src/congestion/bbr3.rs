//! BBR version 3 (draft-ietf-ccwg-bbr): like version 1 a model of the path, with bounds from loss. What is in flight is
//! bounded by what a probe found too much (long term) and by what was delivered while something was lost (short term).
//!
//! Data is counted in segments of one SMSS. The phases of ProbeBW are states of their own, as in the draft.

mod loss;
mod probe_bw;
mod probe_rtt;

use super::draw::Draw;
use super::units::{self, UNIT, us};
use super::windowed_max::WindowedMax;
use super::{AckFacts, Driving, LossFacts, Window, WindowRule};
use crate::sampler::rate::{Progress, RateSample};
use crate::sender::Phase;
use loss::Bounds;
use params::keys::{POSITIVE_TIME, key};
use probe_bw::Cycle;
use probe_rtt::Rtt;
use wire::{Span, Time};

params::params! {
    /// BBR of the IETF's draft.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "bbr3", "BBR version 3 (draft-ietf-ccwg-bbr). It paces, and sets cwnd while losses are repaired, too: the recovery rule \
         is not asked." {
        min_rtt_window: Span = key("min_rtt_window", POSITIVE_TIME, "The smallest RTT is of so long (MinRTTFilterLen).").default("10s");
        probe_rtt_interval: Span = key("probe_rtt_interval", POSITIVE_TIME, "It is measured anew when it was not seen for so long (ProbeRTTInterval).").default("5s");
        probe_rtt_time: Span = key("probe_rtt_time", POSITIVE_TIME, "With half of a BDP in flight for so long, and a round trip, at least (ProbeRTTDuration).").default("200ms");
    }
}

/// Segments (MinPipeCwnd).
const LEAST_CWND: u32 = 4;
const MARGIN_PERCENT: u64 = 1;
/// Round trips of the filter of what is acknowledged at once, after Startup.
const AGGREGATION_ROUNDS: u32 = 10;
const NOMINAL_RTT_US: u64 = 1000;
/// No bound.
const INFINITE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }
    /// Of pace and of cwnd (section 5.6.1, the table).
    fn gains(self) -> (u32, u32) {
        match self {
            State::Startup => (UNIT * 277 / 100, 2 * UNIT),
            State::Drain => (UNIT / 2, 2 * UNIT),
            State::Down => (UNIT * 9 / 10, 2 * UNIT),
            State::Cruise | State::Refill => (UNIT, 2 * UNIT),
            State::Up => (UNIT * 5 / 4, UNIT * 9 / 4),
            State::ProbeRtt => (UNIT, UNIT / 2),
        }
    }
}

/// Round trips, by what was delivered (section 5.5.1).
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    count: u32,
    ends: u64,
    /// The ACK at hand began one.
    began: bool,
    /// cwnd was fully used in this one, and in the one before.
    limited: [bool; 2],
}

/// Has the bandwidth stopped to grow (section 5.3.1.2)?
#[derive(Clone, Copy, Debug, Default)]
struct Plateau {
    bw: u64,
    rounds: u32,
    now: bool,
}

/// What is acknowledged at a time beyond what the bandwidth explains (section 5.5.9).
#[derive(Clone, Copy, Debug, Default)]
struct Aggregation {
    since: Time,
    delivered: u64,
    most: WindowedMax,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bbr3 {
    params: Params,
    draw: Draw,
    state: State,
    rounds: Rounds,
    plateau: Plateau,
    /// The pipe was full once.
    full: bool,
    drain_began: u32,
    /// The largest delivery rate of the last cycle of ProbeBW, and of this one.
    max_bw: [u64; 2],
    /// The bandwidth to go by.
    bw: u64,
    bounds: Bounds,
    cycle: Cycle,
    rtt: Rtt,
    aggregation: Aggregation,
    prior_cwnd: u32,
    prior_phase: Phase,
    restarted: bool,
    seen_rtt: bool,
    initial_cwnd: u32,
    has_sack: bool,
    /// As of the last ACK.
    delivered: u64,
}

/// One ACK.
struct Ack<'a> {
    s: &'a RateSample,
    /// Its delivery rate; 0 where it gave none.
    rate: u64,
    now: Time,
    in_flight: u32,
    cwnd: u32,
    quantum: u32,
}

impl Bbr3 {
    fn max_bw(&self) -> u64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    fn begin_round(&mut self) {
        self.rounds.ends = self.delivered;
    }

    // ---- the model ----

    /// UpdateRound, UpdateMaxBw.
    fn note_rate(&mut self, a: &Ack<'_>) {
        self.rounds.began = a.s.delivered.is_some() && a.s.prior_delivered >= self.rounds.ends;
        if self.rounds.began {
            self.begin_round();
            self.rounds.count += 1;
            self.cycle.rounds += 1;
            self.rounds.limited = [false, self.rounds.limited[0]];
        }
        if a.rate > 0 && (a.rate >= self.max_bw() || !a.s.app_limited) {
            self.max_bw[1] = self.max_bw[1].max(a.rate);
        }
    }

    fn is_cwnd_limited(&self) -> bool {
        self.rounds.limited[0] || self.rounds.limited[1]
    }

    fn reset_plateau(&mut self, bw: u64) {
        self.plateau = Plateau { bw, ..Plateau::default() };
    }

    /// CheckFullBWReached.
    fn look_for_plateau(&mut self, a: &Ack<'_>) {
        if self.plateau.now || !self.rounds.began || a.s.app_limited {
            return;
        }
        if a.rate >= self.plateau.bw * 5 / 4 {
            self.reset_plateau(a.rate);
            return;
        }
        self.plateau.rounds += 1;
        self.plateau.now = self.plateau.rounds >= 3;
        self.full |= self.plateau.now;
    }

    /// UpdateACKAggregation.
    fn note_aggregation(&mut self, a: &Ack<'_>) {
        let mut expected = units::delivered_in(self.bw, us(a.now - self.aggregation.since));
        if self.aggregation.delivered <= expected {
            self.aggregation.delivered = 0;
            self.aggregation.since = a.now;
            expected = 0;
        }
        self.aggregation.delivered += u64::from(a.s.newly_delivered);
        let extra = (self.aggregation.delivered - expected).min(a.cwnd.into());
        let window = if self.full { AGGREGATION_ROUNDS } else { 1 };
        self.aggregation.most.note(window, self.rounds.count, extra);
    }

    // ---- states ----

    fn enter_drain(&mut self) {
        self.state = State::Drain;
        self.drain_began = self.rounds.count;
    }

    /// CheckStartupDone, CheckDrainDone.
    fn leave_startup_and_drain(&mut self, a: &Ack<'_>) {
        self.look_for_high_loss(a);
        if self.state == State::Startup && self.full {
            self.enter_drain();
        }
        if self.state == State::Drain
            && (a.in_flight <= self.in_flight_for(UNIT, a) || self.rounds.count > self.drain_began + 3)
        {
            self.start_down(a.now);
        }
    }

    // ---- what to have in flight ----

    /// BDPMultiple, segments.
    fn bdp(&self, gain: u32) -> u32 {
        self.rtt.min_us.map_or(self.initial_cwnd, |rtt| units::product(self.bw, rtt, gain))
    }

    /// QuantizationBudget: three bursts in the ends, and two segments more to probe with.
    fn with_room(&self, in_flight: u32, quantum: u32) -> u32 {
        let more = if self.state == State::Up { 2 } else { 0 };
        in_flight.max(3 * quantum).max(LEAST_CWND) + more
    }

    fn in_flight_for(&self, gain: u32, a: &Ack<'_>) -> u32 {
        self.with_room(self.bdp(gain), a.quantum)
    }

    /// Our estimated BDP, unless congestion cut cwnd.
    fn target_in_flight(&self, cwnd: u32) -> u32 {
        self.bdp(UNIT).min(cwnd)
    }

    // ---- control ----

    fn pace_by_rtt(&mut self, d: &mut Driving<'_>, smss: u32) {
        let rtt = d.srtt.map(|srtt| us(srtt).max(1));
        self.seen_rtt = rtt.is_some();
        let bw = units::bandwidth(self.initial_cwnd.into(), rtt.unwrap_or(NOMINAL_RTT_US));
        d.pacing.set_rate(units::bytes_per_s(bw, smss, State::Startup.gains().0, 0));
    }

    fn pace(&mut self, d: &mut Driving<'_>, smss: u32, gain: u32) {
        if !self.seen_rtt && d.srtt.is_some() {
            self.pace_by_rtt(d, smss);
        }
        let rate = units::bytes_per_s(self.bw, smss, gain, MARGIN_PERCENT);
        if self.full || rate > d.pacing.rate() {
            d.pacing.set_rate(rate);
        }
    }

    fn save_cwnd(&mut self, cwnd: u32) {
        let whole = self.prior_phase == Phase::Open && self.state != State::ProbeRtt;
        self.prior_cwnd = if whole { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// SetCwnd.
    fn size(&self, mut cwnd: u32, a: &Ack<'_>) -> u32 {
        let extra = self.aggregation.most.get() as u32;
        let most = self.with_room(self.bdp(self.state.gains().1) + extra, a.quantum);
        let grown = cwnd.saturating_add(a.s.newly_delivered);
        if self.full {
            cwnd = grown.min(most);
        } else if cwnd < most || self.delivered < u64::from(self.initial_cwnd) {
            cwnd = grown;
        }
        cwnd = cwnd.max(LEAST_CWND);
        if self.state == State::ProbeRtt {
            cwnd = cwnd.min(self.probe_rtt_cwnd());
        }
        cwnd.min(self.cap())
    }

    /// BoundCwndForModel.
    fn cap(&self) -> u32 {
        let long_term = match self.state {
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Down | State::Refill | State::Up => self.bounds.long_term,
            State::Startup | State::Drain => INFINITE,
        };
        long_term.min(self.bounds.short_term).max(LEAST_CWND)
    }

    #[cfg(test)]
    pub(super) fn told(&self) -> Told {
        Told {
            state: self.state,
            max_bw: self.max_bw(),
            bw: self.bw,
            min_rtt_us: self.rtt.min_us,
            long_term: self.bounds.long_term,
            short_term: self.bounds.short_term,
            rounds: self.rounds.count,
            plateau_rounds: self.plateau.rounds,
            full: self.full,
            restarted: self.restarted,
            precautionary: self.cycle.precautionary,
        }
    }
}

/// What the model says, for tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) state: State,
    pub(crate) max_bw: u64,
    pub(crate) bw: u64,
    pub(crate) min_rtt_us: Option<u64>,
    pub(crate) long_term: u32,
    pub(crate) short_term: u32,
    pub(crate) rounds: u32,
    pub(crate) plateau_rounds: u32,
    pub(crate) full: bool,
    pub(crate) restarted: bool,
    pub(crate) precautionary: bool,
}

impl WindowRule for Bbr3 {
    type Params = Params;
    fn drives(&self) -> bool {
        true
    }

    fn new(params: &Params) -> Bbr3 {
        Bbr3 {
            params: *params,
            draw: Draw::new(0),
            state: State::Startup,
            rounds: Rounds::default(),
            plateau: Plateau::default(),
            full: false,
            drain_began: 0,
            max_bw: [0; 2],
            bw: 0,
            bounds: Bounds::default(),
            cycle: Cycle::default(),
            rtt: Rtt::default(),
            aggregation: Aggregation::default(),
            prior_cwnd: 0,
            prior_phase: Phase::Open,
            restarted: false,
            seen_rtt: false,
            initial_cwnd: LEAST_CWND,
            has_sack: true,
            delivered: 0,
        }
    }

    /// OnInit.
    fn begin(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        self.draw = Draw::new(d.seed);
        self.initial_cwnd = w.segments();
        self.has_sack = d.has_sack;
        self.rtt = Rtt::new(d.min_rtt.map(us), d.now);
        self.aggregation.since = d.now;
        self.pace_by_rtt(d, w.smss);
    }

    /// UpdateOnACK (section 5.2.3).
    fn drive(&mut self, w: &mut Window, s: &RateSample, d: &mut Driving<'_>) {
        self.delivered = d.so_far.delivered;
        self.rounds.limited[0] |= d.limited;
        let rate = match (s.delivered, s.interval) {
            (Some(n), Some(interval)) => units::bandwidth(n, us(interval)),
            _ => 0,
        };
        let a = Ack {
            s,
            rate,
            now: d.now,
            in_flight: d.in_flight,
            cwnd: w.segments(),
            quantum: d.pacing.goal(w.smss),
        };
        for lost in d.lost {
            self.handle_lost(lost, &a);
        }
        self.note_latest(&a);
        self.note_rate(&a);
        self.respond_to_congestion(a.cwnd);
        self.note_aggregation(&a);
        self.look_for_plateau(&a);
        self.leave_startup_and_drain(&a);
        self.step_cycle(&a);
        let mut cwnd = a.cwnd;
        if d.phase == Phase::Open && self.prior_phase != Phase::Open {
            cwnd = cwnd.max(self.prior_cwnd);
        }
        cwnd = self.note_rtt(cwnd, &a, d);
        self.advance_latest(&a);
        self.bw = self.max_bw().min(self.bounds.bw_short_term);
        self.pace(d, w.smss, self.state.gains().0);
        w.set_segments(self.size(cwnd, &a));
        self.prior_phase = d.phase;
    }

    /// HandleRestartFromIdle (section 5.4.1).
    fn restart(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        if !d.so_far.app_limited {
            return;
        }
        self.restarted = true;
        self.aggregation.since = d.now;
        if self.state.is_probe_bw() {
            self.pace(d, w.smss, UNIT);
        } else if self.state == State::ProbeRtt {
            let cwnd = self.end_probe_rtt(w.segments(), d.now);
            w.set_segments(cwnd);
        }
    }

    /// All is in `drive`.
    fn avoid(&mut self, _w: &mut Window, _a: &AckFacts, _acked: u32) {}

    /// OnEnterFastRecovery, OnEnterRTO (section 5.6.4.4).
    fn ssthresh(&mut self, w: &Window, _l: &LossFacts) -> u32 {
        self.save_cwnd(w.segments());
        self.bounds.save();
        w.ssthresh
    }

    fn timed_out(&mut self, _w: &Window, _l: &LossFacts, _so_far: &Progress) {
        self.prior_phase = Phase::Loss;
    }

    /// HandleSpuriousLossDetection (section 5.5.11.2); cwnd comes back as the next ACK is seen.
    fn taken_back(&mut self, w: &mut Window, _cwnd: u32) {
        w.set_segments(w.segments().max(self.prior_cwnd));
        self.reset_plateau(0);
        let left = self.bounds.take_back();
        if left == Some(State::Startup) && self.state != State::Startup {
            self.full = false;
            if self.state != State::ProbeRtt {
                self.state = State::Startup;
            }
        } else if left == Some(State::Up) && !matches!(self.state, State::Up | State::ProbeRtt) {
            self.start_refill();
        }
    }
}
