//! What losses say: bounds of what may be in flight and how fast (draft-ietf-ccwg-bbr, sections 5.3.1.3 and 5.5.10).

use super::{Ack, Bbr3, INFINITE, State};
use crate::sampler::rate::Lost;

/// Ranges of lost segments in a round trip that end Startup (BBRStartupFullLossCnt).
const STARTUP_RANGES: u32 = 6;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Segments: what a probe found to be just too much.
    pub(super) long_term: u32,
    /// Segments, and a bandwidth: what was delivered while something was lost, since the last probe.
    pub(super) short_term: u32,
    pub(super) bw_short_term: u64,
    /// One round trip's largest, and where it ends.
    bw_latest: u64,
    in_flight_latest: u64,
    round_ends: u64,
    round_began: bool,
    /// Something was lost in it, in so many ranges; the last of them ends here.
    lost_in_round: bool,
    ranges: u32,
    last_lost: u64,
    /// As they were before the first loss, and the state that it ended.
    saved: (u32, u32, u64),
    left: Option<State>,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            long_term: INFINITE,
            short_term: INFINITE,
            bw_short_term: u64::MAX,
            bw_latest: 0,
            in_flight_latest: 0,
            round_ends: 0,
            round_began: false,
            lost_in_round: false,
            ranges: 0,
            last_lost: u64::MAX,
            saved: (INFINITE, INFINITE, u64::MAX),
            left: None,
        }
    }
}

impl Bounds {
    /// SaveStateUponLoss.
    pub(super) fn save(&mut self) {
        self.saved = (self.long_term, self.short_term, self.bw_short_term);
        self.left = None;
    }

    /// The losses were none: at least what was saved, and the state that they ended.
    pub(super) fn take_back(&mut self) -> Option<State> {
        self.lost_in_round = false;
        self.long_term = self.long_term.max(self.saved.0);
        self.short_term = self.short_term.max(self.saved.1);
        self.bw_short_term = self.bw_short_term.max(self.saved.2);
        self.left.take()
    }

    /// ResetShortTermModel.
    pub(super) fn forget_short_term(&mut self) {
        (self.short_term, self.bw_short_term) = (INFINITE, u64::MAX);
    }

    /// ResetCongestionSignals.
    pub(super) fn forget_signals(&mut self) {
        self.lost_in_round = false;
        (self.bw_latest, self.in_flight_latest) = (0, 0);
    }
}

/// LossThresh, 2%.
fn is_too_much(lost: u64, in_flight: u32) -> bool {
    lost * 50 > u64::from(in_flight)
}

/// Beta, 0.7.
fn beta(n: u32) -> u32 {
    (u64::from(n) * 7 / 10) as u32
}

impl Bbr3 {
    // ---- each lost segment ----

    /// HandleLostPacket.
    pub(super) fn handle_lost(&mut self, lost: &Lost, a: &Ack<'_>) {
        if !self.bounds.lost_in_round {
            self.bounds.round_ends = self.delivered;
            self.bounds.save();
            self.save_cwnd(a.cwnd);
        }
        self.bounds.lost_in_round = true;
        self.bounds.ranges += u32::from(self.bounds.last_lost.checked_add(1) != Some(lost.number));
        self.bounds.last_lost = lost.number;
        if self.cycle.samples && self.is_in_flight_too_high(lost.since, lost.in_flight) {
            // At which segment did the losses cross the threshold? (lost_prev + x) / (inflight_prev + x) = 2%.
            let before = i64::from(lost.in_flight) - 1;
            let lost_before = lost.since as i64 - 1;
            let prefix = (2 * before - 100 * lost_before) / 98;
            let at_loss = (before + prefix).clamp(0, i64::from(INFINITE)) as u32;
            self.in_flight_was_too_high(at_loss, lost.app_limited, a);
        }
    }

    pub(super) fn is_in_flight_too_high(&self, lost: u64, in_flight: u32) -> bool {
        is_too_much(lost, in_flight) || (lost > 0 && !self.has_sack)
    }

    /// HandleInflightTooHigh.
    fn in_flight_was_too_high(&mut self, in_flight: u32, app_limited: bool, a: &Ack<'_>) {
        self.cycle.too_high = true;
        self.cycle.samples = false;
        if !app_limited {
            self.bounds.long_term = in_flight.max(beta(self.target_in_flight(a.cwnd)));
        }
        if self.state == State::Up {
            self.bounds.left = Some(State::Up);
            self.start_down(a.now);
        }
    }

    // ---- once a round trip ----

    /// UpdateLatestDeliverySignals.
    pub(super) fn note_latest(&mut self, a: &Ack<'_>) {
        let b = &mut self.bounds;
        b.bw_latest = b.bw_latest.max(a.rate);
        b.in_flight_latest = b.in_flight_latest.max(a.s.delivered.unwrap_or(0));
        b.round_began = a.s.delivered.is_some() && a.s.prior_delivered >= b.round_ends;
        if b.round_began {
            b.round_ends = self.delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest(&mut self, a: &Ack<'_>) {
        if self.bounds.round_began {
            self.bounds.bw_latest = a.rate;
            self.bounds.in_flight_latest = a.s.delivered.unwrap_or(0);
        }
    }

    /// UpdateCongestionSignals, AdaptLowerBoundsFromCongestion. Losses of Startup are looked at before they are forgotten.
    pub(super) fn respond_to_congestion(&mut self, cwnd: u32) {
        if !self.bounds.round_began {
            return;
        }
        let probes = matches!(self.state, State::Startup | State::Refill | State::Up);
        let max_bw = self.max_bw();
        let b = &mut self.bounds;
        if b.lost_in_round && !probes {
            let (in_flight, bw) = (b.short_term, b.bw_short_term);
            let in_flight = if in_flight == INFINITE { cwnd } else { in_flight };
            let bw = if bw == u64::MAX { max_bw } else { bw };
            let latest = b.in_flight_latest.min(u64::from(INFINITE)) as u32;
            b.short_term = latest.max(beta(in_flight));
            b.bw_short_term = b.bw_latest.max((u128::from(bw) * 7 / 10) as u64);
        }
        b.lost_in_round = false;
    }

    /// CheckStartupHighLoss, at the end of a round trip that was all recovery.
    pub(super) fn look_for_high_loss(&mut self, a: &Ack<'_>) {
        if !self.bounds.round_began {
            return;
        }
        let ranges = std::mem::take(&mut self.bounds.ranges);
        let recovers = self.prior_phase == crate::sender::Phase::Recovery;
        let enough = ranges >= STARTUP_RANGES || !self.has_sack;
        let much = self.is_in_flight_too_high(a.s.lost_since, a.s.in_flight_then);
        if self.state == State::Startup && recovers && enough && much {
            self.bounds.left = Some(State::Startup);
            self.full = true;
            self.plateau.now = true;
            let delivered = self.bounds.in_flight_latest.min(u64::from(INFINITE)) as u32;
            self.bounds.long_term = self.bdp(super::UNIT).max(delivered);
        }
    }
}
