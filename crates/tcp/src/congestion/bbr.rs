//! BBR (version 1) as Linux 6 has it: cwnd and pacing rate from a model of the path, the largest delivery rate of ten round
//! trips and the smallest RTT of ten seconds (net/ipv4/tcp_bbr.c; Cardwell et al., ACM Queue 14(5), 2016).

mod aggregation;
mod policer;

use super::cubic_linux::Hz;
use super::draw::Draw;
use super::units::{self, UNIT, us};
use super::windowed_max::WindowedMax;
use super::{AckFacts, Driving, LossFacts, Window, WindowRule};
use crate::sampler::rate::{Progress, RateSample};
use crate::sender::Phase;
use aggregation::Aggregation;
use params::keys::{Kind, POSITIVE_TIME, key};
use policer::{Look, Policer, Verdict};
use wire::{Span, Time};

params::params! {
    /// Linux 6's BBR.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "bbr", "BBR version 1, as Linux 6 has it. It paces, and sets cwnd while losses are repaired, too: the recovery rule \
         is not asked." {
        min_rtt_window: Span = key("min_rtt_window", POSITIVE_TIME, "The smallest RTT is of so long, and then measured anew.").default("10s");
        probe_rtt_time: Span = key("probe_rtt_time", POSITIVE_TIME, "To measure it, four segments are in flight for so long, and a round trip, at least.").default("200ms");
        hz: Hz = key("hz", Kind::Choice(Hz::WORDS), "Jiffies a second, in which these two times are counted.").default("250");
    }
}

/// 2 / ln 2: the smallest gain that doubles the rate each round trip; and its inverse.
const HIGH_GAIN: u32 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u32 = UNIT * 1000 / 2885;
const CWND_GAIN: u32 = UNIT * 2;
/// Probe for more, drain what that left, cruise.
const CYCLE: [u32; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// The cycle begins at any phase but the draining one.
const CYCLE_STARTS: u32 = 7;
/// Round trips of the bandwidth's filter.
const BW_ROUNDS: u32 = 10;
/// Segments.
const LEAST_CWND: u32 = 4;
const INITIAL_CWND: u32 = 10;
/// The pipe is full after three round trips in which the bandwidth grew by less than a quarter.
const FULL_ROUNDS: u32 = 3;
const MARGIN_PERCENT: u64 = 1;
/// Bursts of one segment below, bytes a second.
const SINGLE_BELOW: u64 = 1_200_000 / 8;
/// Before there is an RTT sample.
const NOMINAL_RTT_US: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// What the model says, for tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) mode: Mode,
    pub(crate) pacing_gain: u32,
    pub(crate) bw: u64,
    pub(crate) min_rtt_us: Option<u64>,
    pub(crate) policed: bool,
    pub(crate) rounds: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bbr {
    params: Params,
    draw: Draw,
    mode: Mode,
    bw: WindowedMax,
    /// Round trips, by what was delivered; the next ends with what leaves once that much is delivered.
    rounds: u32,
    round_ends: u64,
    round_began: bool,
    /// Jiffies.
    min_rtt_us: Option<u64>,
    min_rtt_at: i64,
    /// When PROBE_RTT may end (jiffies), once in flight has come down; and whether a round trip has passed since.
    probe_rtt_ends: Option<i64>,
    probe_rtt_round: bool,
    /// cwnd to come back to, segments.
    prior_cwnd: u32,
    prior_phase: Phase,
    conserves: bool,
    restarted: bool,
    seen_rtt: bool,
    full_bw: u64,
    full_rounds: u32,
    full: bool,
    cycle: usize,
    cycle_at: Time,
    pacing_gain: u32,
    cwnd_gain: u32,
    policer: Policer,
    aggregation: Aggregation,
}

impl Bbr {
    fn jiffies(&self, t: Time) -> i64 {
        t.0.div_euclid(1_000_000_000 / self.params.hz.per_second())
    }
    fn in_jiffies(&self, span: Span) -> i64 {
        let tick = 1_000_000_000 / self.params.hz.per_second();
        (span.0 + tick - 1) / tick
    }

    fn bandwidth(&self) -> u64 {
        self.policer.rate().unwrap_or(self.bw.get())
    }

    #[cfg(test)]
    pub(super) fn told(&self) -> Told {
        Told {
            mode: self.mode,
            pacing_gain: self.pacing_gain,
            bw: self.bandwidth(),
            min_rtt_us: self.min_rtt_us,
            policed: self.policer.rate().is_some(),
            rounds: self.rounds,
        }
    }

    // ---- pacing ----

    fn pace_by_rtt(&mut self, w: &Window, d: &mut Driving<'_>) {
        let rtt = d.srtt.map(|srtt| us(srtt).max(1));
        self.seen_rtt = rtt.is_some();
        let bw = units::bandwidth(w.segments().into(), rtt.unwrap_or(NOMINAL_RTT_US));
        d.pacing.set_rate(units::bytes_per_s(bw, w.smss, HIGH_GAIN, MARGIN_PERCENT));
    }

    fn pace(&mut self, w: &Window, d: &mut Driving<'_>, gain: u32) {
        if !self.seen_rtt && d.srtt.is_some() {
            self.pace_by_rtt(w, d);
        }
        let rate = units::bytes_per_s(self.bandwidth(), w.smss, gain, MARGIN_PERCENT);
        // Before the pipe is full the rate never goes down.
        if self.full || rate > d.pacing.rate() {
            d.pacing.set_rate(rate);
        }
    }

    // ---- what the path holds ----

    /// Segments.
    fn bdp(&self, bw: u64, gain: u32) -> u32 {
        self.min_rtt_us.map_or(INITIAL_CWND, |rtt| units::product(bw, rtt, gain))
    }

    /// Room for three bursts in the ends, an even number, and two more while probing.
    fn with_room(&self, cwnd: u32, w: &Window, d: &Driving<'_>) -> u32 {
        let even = (cwnd + 3 * d.pacing.goal(w.smss)).next_multiple_of(2);
        if self.mode == Mode::ProbeBw && self.cycle == 0 { even + 2 } else { even }
    }

    fn target_in_flight(&self, bw: u64, gain: u32, w: &Window, d: &Driving<'_>) -> u32 {
        self.with_room(self.bdp(bw, gain), w, d)
    }

    /// What of `in_flight` will be in the network as the next burst leaves.
    fn in_network_then(&self, in_flight: u32, w: &Window, d: &Driving<'_>) -> u32 {
        let until = us(d.pacing.next().max(d.now) - d.now);
        let delivered = units::delivered_in(self.bandwidth(), until);
        let more = if self.pacing_gain > UNIT { d.pacing.goal(w.smss) } else { 0 };
        u64::from(in_flight + more).saturating_sub(delivered) as u32
    }

    // ---- the model ----

    fn note_bandwidth(&mut self, w: &Window, s: &RateSample, d: &mut Driving<'_>) {
        self.round_began = false;
        let (Some(delivered), Some(interval)) = (s.delivered, s.interval) else { return };
        if s.prior_delivered >= self.round_ends {
            self.round_ends = d.so_far.delivered;
            self.rounds += 1;
            self.round_began = true;
            self.conserves = false;
        }
        self.look_for_policer(w.smss, s.newly_lost > 0, s.app_limited, &d.so_far);
        let bw = units::bandwidth(delivered, us(interval));
        if !s.app_limited || bw >= self.bw.get() {
            self.bw.note(BW_ROUNDS, self.rounds, bw);
        }
    }

    fn look_for_policer(&mut self, smss: u32, lost: bool, app_limited: bool, so_far: &Progress) {
        let look = Look {
            so_far,
            lost,
            app_limited,
            round_began: self.round_began,
            probing_bw: self.mode == Mode::ProbeBw,
            smss,
            margin_percent: MARGIN_PERCENT,
        };
        match self.policer.look(&look) {
            Verdict::Nothing => {}
            Verdict::Policed => self.pacing_gain = UNIT,
            Verdict::Over => self.probe_bandwidth(so_far),
        }
    }

    fn next_phase_is_due(&self, w: &Window, s: &RateSample, d: &Driving<'_>) -> bool {
        let lasted = us(d.so_far.delivered_at - self.cycle_at) > self.min_rtt_us.unwrap_or(u64::MAX);
        if self.pacing_gain == UNIT {
            return lasted;
        }
        let in_flight = self.in_network_then(s.prior_in_flight, w, d);
        let bw = self.bw.get();
        if self.pacing_gain > UNIT {
            // Probes until what it asks for is in flight, unless that does not fit.
            lasted && (s.newly_lost > 0 || in_flight >= self.target_in_flight(bw, self.pacing_gain, w, d))
        } else {
            lasted || in_flight <= self.target_in_flight(bw, UNIT, w, d)
        }
    }

    fn next_phase(&mut self, so_far: &Progress) {
        self.cycle = (self.cycle + 1) % CYCLE.len();
        self.cycle_at = so_far.delivered_at;
    }

    fn probe_bandwidth(&mut self, so_far: &Progress) {
        self.mode = Mode::ProbeBw;
        self.cycle = CYCLE.len() - 1 - self.draw.below(CYCLE_STARTS) as usize;
        self.next_phase(so_far);
    }

    fn look_for_full_pipe(&mut self, s: &RateSample) {
        if self.full || !self.round_began || s.app_limited {
            return;
        }
        if self.bw.get() >= self.full_bw * 5 / 4 {
            (self.full_bw, self.full_rounds) = (self.bw.get(), 0);
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    fn drain(&mut self, w: &mut Window, d: &Driving<'_>) {
        let bdp = |b: &Bbr, w: &Window| b.target_in_flight(b.bw.get(), UNIT, w, d);
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            w.ssthresh = bdp(self, w).saturating_mul(w.smss);
        }
        if self.mode == Mode::Drain && self.in_network_then(d.in_flight, w, d) <= bdp(self, w) {
            self.probe_bandwidth(&d.so_far);
        }
    }

    fn note_rtt(&mut self, w: &mut Window, s: &RateSample, d: &mut Driving<'_>) {
        let now = self.jiffies(d.now);
        let old = now > self.min_rtt_at + self.in_jiffies(self.params.min_rtt_window);
        if let Some(rtt) = s.rtt.map(us)
            && (self.min_rtt_us.is_none_or(|least| rtt <= least) || (old && !s.ack_delayed))
        {
            (self.min_rtt_us, self.min_rtt_at) = (Some(rtt), now);
        }
        if old && !self.restarted && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(w);
            self.probe_rtt_ends = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(w, now, d);
        }
        if s.delivered.is_some_and(|n| n > 0) {
            self.restarted = false;
        }
    }

    fn probe_rtt(&mut self, w: &mut Window, now: i64, d: &mut Driving<'_>) {
        // Four segments in flight say nothing of the bandwidth.
        d.limit_to_application = true;
        if self.probe_rtt_ends.is_none() {
            if d.in_flight <= LEAST_CWND {
                self.probe_rtt_ends = Some(now + self.in_jiffies(self.params.probe_rtt_time));
                self.probe_rtt_round = false;
                self.round_ends = d.so_far.delivered;
            }
            return;
        }
        self.probe_rtt_round |= self.round_began;
        if self.probe_rtt_round {
            self.end_probe_rtt(w, now, &d.so_far);
        }
    }

    fn end_probe_rtt(&mut self, w: &mut Window, now: i64, so_far: &Progress) {
        if self.probe_rtt_ends.is_none_or(|ends| now <= ends) {
            return;
        }
        self.min_rtt_at = now;
        w.set_segments(w.segments().max(self.prior_cwnd));
        if self.full {
            self.probe_bandwidth(so_far);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn set_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.policer.rate().is_some() => (UNIT, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    // ---- cwnd ----

    /// The last one that was not cut by a recovery or by PROBE_RTT.
    fn save_cwnd(&mut self, w: &Window) {
        let cwnd = w.segments();
        let whole = self.prior_phase == Phase::Open && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if whole { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// The first round trip of a recovery sends what is delivered and no more; after it cwnd comes back. Segments, and
    /// whether that is all.
    fn repair(&mut self, cwnd: u32, s: &RateSample, d: &Driving<'_>) -> (u32, bool) {
        let mut cwnd = if s.newly_lost > 0 { cwnd.saturating_sub(s.newly_lost).max(1) } else { cwnd };
        if d.phase == Phase::Recovery && self.prior_phase != Phase::Recovery {
            self.conserves = true;
            self.round_ends = d.so_far.delivered;
            cwnd = d.in_flight + s.newly_delivered;
        } else if d.phase == Phase::Open && self.prior_phase != Phase::Open {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        self.prior_phase = d.phase;
        if self.conserves { (cwnd.max(d.in_flight + s.newly_delivered), true) } else { (cwnd, false) }
    }

    fn size(&mut self, w: &mut Window, s: &RateSample, d: &Driving<'_>) {
        let mut cwnd = w.segments();
        if s.newly_delivered > 0 {
            let conserved;
            (cwnd, conserved) = self.repair(cwnd, s, d);
            if !conserved {
                cwnd = self.towards_target(cwnd, s, w, d);
            }
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(LEAST_CWND);
        }
        w.set_segments(cwnd);
    }

    fn towards_target(&self, cwnd: u32, s: &RateSample, w: &Window, d: &Driving<'_>) -> u32 {
        let bw = self.bandwidth();
        let extra = if self.full { self.aggregation.allowance(bw) } else { 0 };
        let target = self.with_room(self.bdp(bw, self.cwnd_gain) + extra, w, d);
        let grown = cwnd.saturating_add(s.newly_delivered);
        let cwnd = if self.full {
            grown.min(target)
        } else if cwnd < target || d.so_far.delivered < u64::from(INITIAL_CWND) {
            grown
        } else {
            cwnd
        };
        cwnd.max(LEAST_CWND)
    }
}

impl WindowRule for Bbr {
    type Params = Params;
    fn drives(&self) -> bool {
        true
    }

    fn new(params: &Params) -> Bbr {
        Bbr {
            params: *params,
            draw: Draw::new(0),
            mode: Mode::Startup,
            bw: WindowedMax::default(),
            rounds: 0,
            round_ends: 0,
            round_began: false,
            min_rtt_us: None,
            min_rtt_at: 0,
            probe_rtt_ends: None,
            probe_rtt_round: false,
            prior_cwnd: 0,
            prior_phase: Phase::Open,
            conserves: false,
            restarted: false,
            seen_rtt: false,
            full_bw: 0,
            full_rounds: 0,
            full: false,
            cycle: 0,
            cycle_at: Time::ZERO,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            policer: Policer::default(),
            aggregation: Aggregation::new(Time::ZERO),
        }
    }

    fn begin(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        self.draw = Draw::new(d.seed);
        self.min_rtt_us = d.min_rtt.map(us);
        self.min_rtt_at = self.jiffies(d.now);
        self.aggregation = Aggregation::new(d.now);
        d.pacing.single_below(SINGLE_BELOW);
        self.pace_by_rtt(w, d);
    }

    fn drive(&mut self, w: &mut Window, s: &RateSample, d: &mut Driving<'_>) {
        self.note_bandwidth(w, s, d);
        let (bw, cwnd) = (self.bandwidth(), w.segments());
        self.aggregation.note(s, self.round_began, bw, d.so_far.delivered_at, cwnd);
        if self.mode == Mode::ProbeBw && self.next_phase_is_due(w, s, d) {
            self.next_phase(&d.so_far);
        }
        self.look_for_full_pipe(s);
        self.drain(w, d);
        self.note_rtt(w, s, d);
        self.set_gains();
        self.pace(w, d, self.pacing_gain);
        self.size(w, s, d);
    }

    /// Data leaves after nothing was in flight because there was none to send: at the bandwidth, not faster.
    fn restart(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        if !d.so_far.app_limited {
            return;
        }
        self.restarted = true;
        self.aggregation.restart(d.now);
        match self.mode {
            Mode::ProbeBw => self.pace(w, d, UNIT),
            Mode::ProbeRtt => self.end_probe_rtt(w, self.jiffies(d.now), &d.so_far),
            Mode::Startup | Mode::Drain => {}
        }
    }

    /// All is in `drive`.
    fn avoid(&mut self, _w: &mut Window, _a: &AckFacts, _acked: u32) {}

    fn ssthresh(&mut self, w: &Window, _l: &LossFacts) -> u32 {
        self.save_cwnd(w);
        w.ssthresh
    }

    fn timed_out(&mut self, w: &Window, _l: &LossFacts, so_far: &Progress) {
        self.prior_phase = Phase::Loss;
        self.full_bw = 0;
        // Like the end of a round trip.
        self.round_began = true;
        self.look_for_policer(w.smss, true, false, so_far);
    }

    /// The repair was needless: the pipe may not have been full. cwnd comes back as the next ACK is seen.
    fn taken_back(&mut self, _w: &mut Window, _cwnd: u32) {
        self.full_bw = 0;
        self.full_rounds = 0;
        self.policer.forget();
    }
}

#[cfg(test)]
mod tests;
