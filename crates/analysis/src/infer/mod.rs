//! What the sender seems to be made of, told from what it does; "cannot tell" where it does not show.
//!
//! Everything is measured in round trips found from offsets alone: one starts with the next byte to be sent and
//! ends when that byte is acknowledged. State is of fixed size; the hooks for each packet are a few compares.

mod decrease;
mod growth;
mod initial;
mod recovery;

use crate::assumptions::probe_not_after;
use crate::prefetch;
use crate::rows::{Cause, Growth, Inference, Inferred, Vantage};
use decrease::Decrease;
use growth::{Stretch, Votes};
use initial::Initial;
use recovery::Repairs;
use std::mem::offset_of;
use wire::{Span, Time};

/// Every path takes as much in a segment (RFC 9293 §3.7.1).
pub(crate) const LEAST_MSS: u32 = 536;

/// A round trip under way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Round {
    /// It is over when a byte beyond this is acknowledged.
    end: u64,
    start: Time,
    flight_max: u64,
    /// A send came up against the advertised window.
    window_full: bool,
    /// The flight drained and the next data did not follow an ACK: the application had nothing.
    starved: bool,
    /// Repairs were going on: nothing about windows can be read from it.
    spoilt: bool,
}

/// What happens after a timeout tells F-RTO from slow start (RFC 5682 §2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum AfterTimeout {
    #[default]
    Nothing,
    /// Waits for the first ACK that advances; data up to here was sent before the timeout.
    Waiting(u64),
    /// It came and left something unacknowledged: what is sent next?
    Advanced,
    /// A hole was resent; evidence against F-RTO only if there was new data to send instead.
    Resent,
}

/// Watches one data direction. Fields in the order of their use: those before `stretch` for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
pub struct Inferrer {
    mss: u32,
    largest: u32,
    una: u64,
    nxt: u64,
    /// Right edge of the advertised window.
    edge: u64,
    last_ack: Time,
    last_send: Time,
    /// Duplicate ACKs since the last that advanced.
    duplicates: u32,
    sack: bool,
    in_episode: bool,
    round: Round,
    /// Largest flight and length of the last round trip that told something.
    last_flight: u64,
    rtt: Span,
    after_timeout: AfterTimeout,
    initial: Initial,
    repairs: Repairs,
    stretch: Stretch,
    stretch_start: Time,
    growth: Votes,
    decrease: Decrease,
    episode_start: Time,
    /// Since the last episode ended: the timer may fire just before an episode is known to begin.
    episode_timeouts: u32,
    /// Since the last whole round trip: a probe comes before the timeout of the tail that it probes.
    episode_probes: u32,
    /// The window before the last loss in segments, until the one after its repair is known.
    before: Option<f32>,
    probes: u32,
    /// Timeouts before which a tail-loss probe was due and did not come.
    probes_missing: u32,
    f_rto_yes: u32,
    f_rto_no: u32,
}

/// Without a handshake the largest payload stands in for the MSS, up to this (super-packets are larger).
const ETHERNET_MSS: u32 = 1460;

impl Inferrer {
    pub fn new() -> Inferrer {
        Inferrer {
            edge: u64::MAX,
            last_ack: Time::FAR_PAST,
            last_send: Time::FAR_PAST,
            stretch: Stretch::after_loss(0.0),
            ..Inferrer::default()
        }
    }

    /// A packet follows soon.
    #[inline]
    pub(crate) fn warm(&self) {
        prefetch::lines(self, 0, (offset_of!(Inferrer, stretch) - 1) / 64 + 1);
    }

    /// The connection's first packets were seen. `mss`: payload of a full segment, options deducted.
    pub fn on_handshake(&mut self, mss: u32, sack_permitted: bool) {
        self.mss = mss;
        self.sack = sack_permitted;
        self.initial.on_handshake();
    }
    /// Where the handshake was missed: what full segments turned out to carry, or SACK blocks to be in use.
    pub fn set_mss(&mut self, mss: u32) {
        self.mss = mss;
    }
    pub fn set_sack(&mut self, in_use: bool) {
        self.sack = in_use;
    }
    #[inline]
    fn mss(&self) -> u32 {
        if self.mss > 0 { self.mss } else { self.largest.clamp(LEAST_MSS, ETHERNET_MSS) }
    }

    /// New data (never sent before) left; `flight_bytes` counts it.
    #[inline(always)]
    pub fn on_new_data(&mut self, now: Time, end_offset: u64, bytes: u32, flight_bytes: u64) {
        let mss = u64::from(self.mss());
        let window_full = end_offset + mss > self.edge;
        // Without SACK each duplicate ACK stands for a segment that has left the network (RFC 6582 §3.2).
        let left = if self.sack { 0 } else { u64::from(self.duplicates) * mss };
        let flight_bytes = flight_bytes.saturating_sub(left);
        let round = &mut self.round;
        let flight_before = flight_bytes.saturating_sub(u64::from(bytes));
        if flight_before * 2 < round.flight_max.max(self.last_flight) && !round.starved {
            // An ACK for the whole flight (a stretch ACK) drains it too, but then data follows at once.
            let pause = now - self.last_ack.max(self.last_send);
            round.starved |= pause > Span((self.rtt.0 / 8).max(1_000_000)) && self.rtt > Span::ZERO;
        }
        round.flight_max = round.flight_max.max(flight_bytes);
        round.window_full |= window_full;
        self.largest = self.largest.max(bytes);
        self.nxt = self.nxt.max(end_offset);
        self.last_send = now;
        self.initial.on_new_data(now, bytes, window_full, mss as u32);
        if self.in_episode {
            self.repairs.on_new_data();
        }
        if matches!(self.after_timeout, AfterTimeout::Advanced | AfterTimeout::Resent) {
            match self.after_timeout {
                AfterTimeout::Advanced => self.f_rto_yes += 1,
                _ => self.f_rto_no += 1,
            }
            self.after_timeout = AfterTimeout::Nothing;
        }
    }

    /// The cumulative ACK advanced to `una`; `flight_bytes` is what is left, `window_bytes` what it advertises,
    /// scaled (`None` where the scale is not known).
    #[inline]
    pub fn on_cumulative_ack(&mut self, now: Time, una: u64, flight_bytes: u64, window_bytes: Option<u64>) {
        self.una = self.una.max(una);
        self.duplicates = 0;
        self.on_window(window_bytes);
        self.initial.on_ack(now, window_bytes);
        if una > self.round.end {
            self.close_round(now);
        }
        self.last_ack = now;
        if self.in_episode {
            self.repairs.on_progress();
        }
        if let AfterTimeout::Waiting(sent) = self.after_timeout {
            self.answered(sent, flight_bytes);
        }
    }

    /// The first ACK after a timeout that advances.
    #[cold]
    fn answered(&mut self, sent: u64, flight_bytes: u64) {
        // With nothing left in doubt, or no room for new data, both kinds of sender do the same.
        let room = self.nxt + u64::from(self.mss()) <= self.edge;
        self.after_timeout = match self.una < sent && flight_bytes > 0 && room {
            true => AfterTimeout::Advanced,
            false => AfterTimeout::Nothing,
        };
    }

    /// A duplicate ACK (RFC 5681 §2).
    #[inline]
    pub fn on_duplicate_ack(&mut self) {
        self.duplicates += 1;
    }

    /// A window advertised without progress: an update, a duplicate ACK, the SYN-ACK.
    #[inline]
    pub fn on_window(&mut self, window_bytes: Option<u64>) {
        // The right edge should not shrink (RFC 9293 §3.8.6); where it does the old one does not count.
        self.edge = window_bytes.map_or(u64::MAX, |w| self.una.saturating_add(w));
    }

    /// Once a round trip: kept out of the way of what runs for each packet.
    #[inline(never)]
    fn close_round(&mut self, now: Time) {
        let round = self.round;
        let mss = u64::from(self.mss());
        let first = self.round == Round::default();
        self.round = Round { end: self.nxt, start: now, spoilt: self.in_episode, ..Round::default() };
        if first || round.spoilt || self.in_episode {
            return;
        }
        self.episode_probes = 0;
        if round.flight_max == 0 {
            return;
        }
        self.rtt = now - round.start;
        self.last_flight = round.flight_max;
        if round.starved {
            self.before = None;
            return;
        }
        let at = (now - self.stretch_start).as_secs() as f32;
        let window = round.flight_max as f32 / mss as f32;
        // The repair ends at the new window, or (without SACK, after a timeout) slow start leads up to it.
        let knee = self.stretch.push(at, window);
        if round.window_full {
            self.before = None;
        }
        if let (Some(knee), Some(before)) = (knee, self.before) {
            self.decrease.add(before, knee);
            self.before = None;
        }
    }

    /// A segment was sent again, at offsets `start` to `end`; `segments` in units of the MSS.
    pub fn on_retransmission(&mut self, now: Time, cause: Cause, start: u64, end: u64, segments: u32) {
        self.initial.on_loss();
        self.repairs.on_retransmission(now, cause, start, end, segments, self.rtt);
        if self.after_timeout == AfterTimeout::Advanced && cause != Cause::Probe {
            self.after_timeout = AfterTimeout::Resent;
        }
        self.last_send = now;
    }

    /// The first repair of an episode is about to leave (call it before [`Inferrer::on_retransmission`]).
    pub fn on_episode_start(&mut self, now: Time) {
        if self.in_episode {
            return;
        }
        self.in_episode = true;
        self.episode_start = now;
        self.growth.add(self.stretch.votes());
        // A window that the sender does not fill, or may not, shows nothing of its own window.
        let own = !self.round.starved && !self.round.window_full;
        let flight = self.round.flight_max.max(self.last_flight);
        self.before = (own && flight > 0).then(|| flight as f32 / self.mss() as f32);
        self.round.spoilt = true;
    }

    /// The cumulative ACK passed everything sent before the episode's first repair.
    pub fn on_episode_end(&mut self, now: Time) {
        if !self.in_episode {
            return;
        }
        self.in_episode = false;
        self.repairs.close(self.sack);
        if matches!(self.after_timeout, AfterTimeout::Waiting(_)) {
            self.after_timeout = AfterTimeout::Nothing;
        }
        let before = self.before.unwrap_or(0.0);
        // A second timeout, or a repair of many round trips, may have cut the window twice.
        if self.episode_timeouts > 1 || (self.rtt > Span::ZERO && now - self.episode_start > self.rtt * 8) {
            self.before = None;
        }
        self.episode_timeouts = 0;
        self.episode_probes = 0;
        self.stretch = Stretch::after_loss(before);
        self.stretch_start = now;
        self.last_flight = 0;
        self.round = Round { end: self.nxt, start: now, ..Round::default() };
    }

    /// The retransmission timer fired (call it before [`Inferrer::on_retransmission`]).
    pub fn on_timeout(&mut self, now: Time) {
        if self.episode_timeouts == 0 && self.episode_probes == 0 && self.sack && self.repairs_not_begun() {
            let silent = now - self.last_ack.max(self.last_send);
            let due = probe_not_after(self.rtt, false);
            if self.rtt > Span::ZERO && self.round.flight_max > 2 * u64::from(self.mss()) && silent > due {
                self.probes_missing += 1;
            }
        }
        // F-RTO is for the first timeout of a flight that was not under repair (RFC 5682 §2.1, step 1).
        self.after_timeout = match self.episode_timeouts == 0 && self.repairs_not_begun() {
            true => AfterTimeout::Waiting(self.nxt),
            false => AfterTimeout::Nothing,
        };
        self.episode_timeouts += 1;
        self.repairs.on_timeout();
    }
    fn repairs_not_begun(&self) -> bool {
        !self.repairs.begun()
    }

    /// A tail-loss probe, with new data or old.
    pub fn on_probe(&mut self, _now: Time) {
        self.probes += 1;
        self.episode_probes += 1;
    }

    pub fn report(&self, vantage: Vantage) -> Inference {
        let decrease = self.decrease.report();
        let mut inference = Inference {
            recovery: self.repairs.report(self.sack),
            tail_loss_probes: self.tail_loss_probes(),
            f_rto: self.f_rto(),
            ..Inference::default()
        };
        // At the receiver's side the flight is not seen: data is acknowledged as it passes.
        if vantage == Vantage::Receiver {
            return inference;
        }
        // In the middle only the part of the flight beyond it is.
        let trust = if matches!(vantage, Vantage::Sender | Vantage::Both) { 1.0 } else { 0.6 };
        inference.growth = self.growth_shape(decrease).map(|(g, c)| (g, c * trust));
        inference.decrease_factor = decrease.map(|(f, c)| (f, c * trust));
        if trust == 1.0 {
            inference.initial_window_segments = self.initial.report();
        }
        inference
    }

    fn growth_shape(&self, decrease: Inferred<f64>) -> Inferred<Growth> {
        let mut votes = self.growth;
        if !self.in_episode {
            votes.add(self.stretch.votes());
        }
        // Half a segment a round trip is CUBIC's friendly region if the window is cut to 0.7, else Reno's.
        match decrease {
            Some((f, _)) if (f - 0.7).abs() < 0.08 => votes.cubic += votes.half,
            Some((f, _)) if (f - 0.5).abs() < 0.08 => votes.linear += votes.half,
            _ => votes.odd += votes.half,
        }
        let total = votes.linear + votes.cubic + votes.flat + votes.odd;
        let (shape, most) =
            [(Growth::Linear, votes.linear), (Growth::Cubic, votes.cubic), (Growth::Flat, votes.flat)]
                .into_iter()
                .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let confidence = if total > 0.0 { most / total * (most / (most + 8.0)) } else { 0.0 };
        (confidence >= 0.4).then_some((shape, confidence))
    }

    fn tail_loss_probes(&self) -> Inferred<bool> {
        let (yes, no) = (self.probes as f32, self.probes_missing as f32);
        match () {
            () if self.probes > 0 && yes > no => Some((true, (1.0 - 0.3 / yes) * yes / (yes + no))),
            () if self.probes == 0 && self.probes_missing >= 2 => Some((false, 1.0 - 1.0 / (no + 1.0))),
            () => None,
        }
    }

    fn f_rto(&self) -> Inferred<bool> {
        let (yes, no) = (self.f_rto_yes as f32, self.f_rto_no as f32);
        match () {
            () if self.f_rto_yes > 0 && yes >= 2.0 * no => Some((true, (1.0 - 0.3 / yes) * yes / (yes + no))),
            () if self.f_rto_yes == 0 && self.f_rto_no >= 2 => Some((false, 1.0 - 1.0 / (no + 1.0))),
            () => None,
        }
    }
}
