//! How large is the window, apart from what recovery does with it?
//!
//! Slow start and the window rule are composed here, so each rule is one page that knows nothing of the others.
//! Nothing here detects a loss or knows a clock. Undo is `clone` before, assign back after.

#[macro_use]
mod listed;

pub mod aimd;
pub mod bbr;
pub mod bbr3;
pub mod compound;
pub mod cubic;
pub mod cubic_linux;
pub mod cubic_linux26;
mod draw;
mod hystart;
mod hystart_pp;
mod own;
mod slow_start;
mod units;
pub mod vegas;
pub mod westwood;
mod windowed_max;

use crate::own::OwnWindow;
use crate::pacing::Pacing;
use crate::sampler::rate::{Lost, Progress, RateSample};
use crate::sender::Phase;
use crate::stack::{self, InitialWindow};
use listed::Plain;
use slow_start::SlowStart;
use wire::{Span, Time};

// The rules: what a rule is called and whose page it is on. What a file may say of it, its place in the enums and
// the calls follow from this line. What keeps more than a few numbers is in a box: most ends of connections send
// nothing, and use none of it.
window_rules! {
    Aimd(aimd) in Plain,
    Cubic(cubic) in Box,
    CubicLinux26(cubic_linux26) in Box,
    CubicLinux(cubic_linux) in Box,
    WestwoodPlus(westwood) in Box,
    Vegas(vegas) in Box,
    Compound(compound) in Box,
    Bbr(bbr) in Box,
    Bbr3(bbr3) in Box,
    Own(own) in Plain,
}

/// The congestion window as every rule publishes it, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub cwnd: u32,
    /// `u32::MAX` is unbounded (RFC 5681 §3.1: "arbitrarily high").
    pub ssthresh: u32,
    pub smss: u32,
}

impl Window {
    /// cwnd, in whole segments.
    fn segments(&self) -> u32 {
        self.cwnd / self.smss
    }
    fn set_segments(&mut self, segments: u32) {
        self.cwnd = segments.max(1).saturating_mul(self.smss);
    }
}

/// What an ACK told.
#[derive(Clone, Copy, Debug)]
pub struct AckFacts {
    pub now: Time,
    /// Bytes newly acknowledged cumulatively; 0 for a duplicate, which only `measure` sees.
    pub acked: u32,
    /// Bytes newly acknowledged cumulatively or by SACK.
    pub delivered: u32,
    /// Segments newly acknowledged cumulatively; a part of one counts as one (Linux).
    pub segments: u32,
    /// RTT sample of this ACK, if it gave one.
    pub rtt: Option<Span>,
    /// Of its timestamp, where all that it acknowledged was sent more than once (Linux).
    pub stamped: Option<Span>,
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
    /// What is sent is paced.
    pub paced: bool,
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

/// Where the sender stands, for a rule that drives it: one that sets cwnd and the pacing rate itself.
#[derive(Debug)]
pub struct Driving<'a> {
    pub now: Time,
    /// After the ACK, segments.
    pub in_flight: u32,
    pub phase: Phase,
    pub so_far: Progress,
    pub srtt: Option<Span>,
    /// Smallest RTT of the connection.
    pub min_rtt: Option<Span>,
    pub pacing: &'a mut Pacing,
    /// cwnd was full as the ACK came.
    pub limited: bool,
    pub has_sack: bool,
    /// Copies found lost since the last ACK was driven by.
    pub lost: &'a [Lost],
    /// For random numbers: from the connection's initial sequence number.
    pub seed: u32,
    /// The rule says: what is in flight now tells less than the path's bandwidth.
    pub limit_to_application: bool,
}

/// One page each: growth in congestion avoidance, and what a loss leaves of the window.
trait WindowRule: Sized {
    /// What a stack file says of it.
    type Params: params::Params;
    fn new(params: &Self::Params) -> Self;
    /// Looks at every ACK, whether or not the window may grow; `open` outside recovery. May end slow start.
    fn measure(&mut self, _w: &mut Window, _a: &AckFacts, _open: bool) {}
    /// Whether this ACK belongs to slow start. RFC 5681 §3.1: either may be used where they are equal.
    fn in_slow_start(&self, w: &Window) -> bool {
        w.cwnd < w.ssthresh
    }
    /// What is acknowledged is counted in segments, whatever they hold.
    fn counts_segments(&self) -> bool {
        false
    }
    /// Congestion avoidance; `acked` are the bytes that slow start did not use.
    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32);
    /// For rules that decide once per round trip: whether this ACK ended one, and the window is set.
    fn at_round_end(&mut self, _w: &mut Window, _a: &AckFacts) -> bool {
        false
    }
    /// An ACK came while the application or the receiver, not cwnd, limited sending: the window rests.
    fn rest(&mut self, _a: &AckFacts) {}
    /// The new ssthresh, bytes; forgets what belonged to the time before the loss.
    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32;
    /// A timeout, each of several in a row, too; after `ssthresh`, if that is reduced.
    fn timed_out(&mut self, _w: &Window, _l: &LossFacts, _so_far: &Progress) {}
    /// A repair was needless; cwnd was this as it began, bytes.
    fn taken_back(&mut self, w: &mut Window, cwnd: u32) {
        w.cwnd = w.cwnd.max(cwnd);
    }
    fn on_recovery_end(&mut self, _w: &mut Window, _now: Time) {}
    /// The sender is set to a window that a capture shows: what was counted in rounds before belongs to another.
    fn taken_up(&mut self) {}
    /// Nothing was in flight for a while, up to `now`.
    fn after_idle(&mut self, _w: &mut Window, _now: Time) {}

    /// The rule sets cwnd and the pacing rate at every ACK, while losses are repaired, too: neither slow start nor a recovery
    /// rule is asked (Linux: cong_control).
    fn drives(&self) -> bool {
        false
    }
    /// The handshake is over.
    fn begin(&mut self, _w: &mut Window, _d: &mut Driving<'_>) {}
    /// After each ACK, and what it did to the sender.
    fn drive(&mut self, _w: &mut Window, _s: &RateSample, _d: &mut Driving<'_>) {}
    /// Data is about to leave, and nothing is in flight.
    fn restart(&mut self, _w: &mut Window, _d: &mut Driving<'_>) {}

    /// An ACK that advanced, outside recovery: it is measured, and the window grows.
    #[inline(always)]
    fn on_ack(&mut self, slow_start: &mut SlowStart, rests: bool, w: &mut Window, a: &AckFacts) {
        if !self.drives() {
            self.measure(w, a, true);
        }
        self.grow(slow_start, rests, w, a);
    }

    /// An ACK that advanced: the same for all rules, compiled for each, so that an ACK costs one dispatch.
    #[inline(always)]
    fn grow(&mut self, slow_start: &mut SlowStart, rests: bool, w: &mut Window, a: &AckFacts) {
        if self.drives() {
            return;
        }
        if rests {
            self.rest(a);
            return;
        }
        if self.at_round_end(w, a) {
            return;
        }
        // Linux has no bytes here: a short segment grows the window like a full one.
        let mut acked = if self.counts_segments() { a.segments.saturating_mul(w.smss) } else { a.acked };
        if self.in_slow_start(w) {
            acked = slow_start.on_ack(w, a, acked);
        }
        if acked > 0 {
            self.avoid(w, a, acked);
        }
        w.cwnd = w.cwnd.max(w.smss);
    }
}

/// The window rule of one connection. Enum dispatch: no indirect call at every ACK.
#[derive(Clone, Debug)]
pub struct Congestion {
    rule: Rule,
    slow_start: SlowStart,
    /// Bytes.
    initial_window: u32,
    restart_after_idle: bool,
    grows_only_when_limited: bool,
}

impl Congestion {
    pub fn new(spec: &stack::Congestion, smss: u32) -> (Congestion, Window) {
        let smss = smss.max(1);
        let initial_window = initial_window(spec.initial_window, smss);
        let window = Window {
            cwnd: initial_window,
            ssthresh: spec.initial_ssthresh_bytes.unwrap_or(u32::MAX).max(smss),
            smss,
        };
        let congestion = Congestion {
            rule: Rule::new(&spec.rule),
            slow_start: SlowStart::new(spec.slow_start),
            initial_window,
            restart_after_idle: spec.restart_after_idle,
            grows_only_when_limited: spec.grows_only_when_limited,
        };
        (congestion, window)
    }

    /// The rule of somebody's own that the stack names, for this connection.
    pub fn bring(&mut self, rule: Box<dyn OwnWindow>) {
        if let Rule::Own(own) = &mut self.rule {
            own.bring(rule);
        }
    }

    /// An ACK that advanced, outside recovery or in the slow start after a timeout.
    #[inline(always)]
    pub fn on_ack(&mut self, w: &mut Window, a: &AckFacts) {
        if let Rule::Aimd(aimd) = &mut self.rule {
            let rests = self.grows_only_when_limited && !a.limited;
            return aimd.on_ack(&mut self.slow_start, rests, w, a);
        }
        // A copy, so that facts that AIMD does not look at are gathered for the others only.
        self.on_ack_of_others(w, &{ *a });
    }

    #[inline(never)]
    fn on_ack_of_others(&mut self, w: &mut Window, a: &AckFacts) {
        let rests = self.grows_only_when_limited && !a.limited;
        self.rule.on_ack(&mut self.slow_start, rests, w, a);
    }

    /// An ACK (a duplicate, too) whose growth, if any, follows ([`Congestion::grow`]): measurements only. `open` outside
    /// recovery.
    #[inline]
    pub fn measure(&mut self, w: &mut Window, a: &AckFacts, open: bool) {
        if !self.drives() {
            self.rule.measure(w, a, open);
        }
    }

    /// Of an ACK that was measured already.
    pub fn grow(&mut self, w: &mut Window, a: &AckFacts) {
        let rests = self.grows_only_when_limited && !a.limited;
        self.rule.grow(&mut self.slow_start, rests, w, a);
    }

    /// A loss was found: the new ssthresh, bytes, at least 1 SMSS. The caller sets it, and cwnd as its recovery
    /// has it. To be called once a loss, with the window that was in use: the rules remember it.
    pub fn ssthresh_on_loss(&mut self, w: &Window, l: &LossFacts) -> u32 {
        self.rule.ssthresh(w, l).max(w.smss)
    }

    /// A timeout, whether or not it reduced ssthresh.
    pub fn timed_out(&mut self, w: &Window, l: &LossFacts, so_far: &Progress) {
        self.rule.timed_out(w, l, so_far);
    }

    /// A repair was needless; cwnd and ssthresh as it began, bytes.
    pub fn taken_back(&mut self, w: &mut Window, cwnd: u32, ssthresh: u32) {
        self.rule.taken_back(w, cwnd);
        w.ssthresh = w.ssthresh.max(ssthresh);
    }

    /// The window is another from now on than the rule made it.
    pub fn taken_up(&mut self) {
        self.rule.taken_up();
    }

    /// Recovery is over and has left its window in `w`.
    pub fn on_recovery_end(&mut self, w: &mut Window, now: Time) {
        self.rule.on_recovery_end(w, now);
        w.cwnd = w.cwnd.max(w.smss);
    }

    /// Nothing was in flight for longer than an RTO, and data is about to be sent at `now`.
    pub fn after_idle(&mut self, w: &mut Window, now: Time) {
        self.rule.after_idle(w, now);
        if self.restart_after_idle && !self.drives() {
            // RFC 5681 §4.1: RW = min(IW, cwnd).
            w.cwnd = w.cwnd.min(self.initial_window);
        }
    }
}

/// Rules that drive the sender.
impl Congestion {
    pub fn drives(&self) -> bool {
        self.rule.drives()
    }
    #[cfg(test)]
    pub(crate) fn model(&self) -> Option<bbr::Told> {
        match &self.rule {
            Rule::Bbr(bbr) => Some(bbr.told()),
            _ => None,
        }
    }
    #[cfg(test)]
    pub(crate) fn model3(&self) -> Option<bbr3::Told> {
        match &self.rule {
            Rule::Bbr3(bbr) => Some(bbr.told()),
            _ => None,
        }
    }
    pub fn begin(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        self.rule.begin(w, d);
    }
    pub fn drive(&mut self, w: &mut Window, s: &RateSample, d: &mut Driving<'_>) {
        self.rule.drive(w, s, d);
    }
    pub fn restart(&mut self, w: &mut Window, d: &mut Driving<'_>) {
        self.rule.restart(w, d);
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

/// RFC 5681 (4): max(FlightSize / 2, 2 SMSS), with another factor where a rule has one.
fn part_of_flight(l: &LossFacts, factor: f64, smss: u32) -> u32 {
    ((f64::from(l.flight) * factor) as u32).max(smss.saturating_mul(2))
}

/// Linux: half the window (not FlightSize), in whole segments, at least 2. Bytes.
fn half_in_segments(w: &Window) -> u32 {
    (w.segments() / 2).max(2).saturating_mul(w.smss)
}

#[cfg(test)]
mod tests;
