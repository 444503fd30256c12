//! What all evidence is read from.

use super::How;
use crate::answer::certainty::Certainty;
use crate::answer::flow_facts::{arriving, round_trip};
use crate::answer::grounds;
use crate::answer::outages::{self, Gone};
use crate::rows::{BurstRow, EpisodeKind, EpisodeRow, FlowRow, Growth, IdleCause, IdleRow, RoundRow};
use wire::{Span, Time};

/// One sort of wait makes a round its own from this share on.
pub(super) const MOSTLY: f64 = 0.5;
/// A sender that was this much faster once is not held at a rate of its own.
const FASTER: f64 = 1.15;
/// A sender that had so many times as much in flight before has room for more.
const LITTLE: f64 = 4.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PathRate {
    pub bytes_per_s: f64,
    pub how: How,
}

/// A round with what is known around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundFacts {
    pub row: RoundRow,
    /// What was under way: where it is sent the largest flight that an ACK met, elsewhere rate × round trip.
    pub flight: f64,
    /// The largest until its end.
    pub flight_so_far: f64,
    /// Mean wait beyond the least round trip, seconds.
    pub queued: Option<f64>,
    /// The largest window advertised until its end.
    pub window_so_far: Option<u64>,
    /// The largest rate of a whole round until its end, bytes a second.
    pub rate_so_far: f64,
    /// The same over this round and those beside it: what stands in a queue for long delivers all the while.
    pub rate_around: f64,
    /// Something had been lost, or was taken to be, before it ended.
    pub after_loss: bool,
}

impl RoundFacts {
    /// The share of the waits that one kind of them has, if data waited for a good part of the round.
    pub fn share(&self, of: Span) -> f64 {
        let total = self.row.waited.total().as_secs();
        if total < 0.25 * self.row.length().as_secs() { 0.0 } else { of.as_secs() / total.max(1e-9) }
    }
    /// Most waits ended without an ACK, a window or a PSH.
    pub fn unexplained(&self) -> bool {
        self.share(self.row.waited.other) > MOSTLY
    }
}

/// A tail-loss probe whose copy had arrived tells of no loss, and nothing is cut (RFC 8985 §7.4.2).
fn cuts_the_window(e: &EpisodeRow) -> bool {
    !(e.kind == EpisodeKind::Needless && e.timeouts == 0 && e.probes >= e.retransmissions)
}

pub(super) struct Facts<'a> {
    pub flow: &'a FlowRow,
    /// In order of time.
    pub episodes: Vec<&'a EpisodeRow>,
    pub idle: &'a [IdleRow],
    pub gone: Vec<Gone>,
    pub rounds: Vec<RoundFacts>,
    pub start: Time,
    pub end: Time,
    /// When the last data was acknowledged, or sent: what follows is no transfer.
    pub done: Time,
    pub mss: f64,
    /// The least round trip, seconds.
    pub rtt: Option<f64>,
    pub path: Option<PathRate>,
    /// What trains that the path spaced show of its rate, bytes a second.
    pub by_trains: Option<f64>,
    /// How long after an ACK this host sends what the ACK lets go, while nothing but ACKs holds it back (slow start).
    pub turn: Option<f64>,
    /// When the first slow start was over.
    pub started: Time,
    /// This sender spaces its data itself.
    pub pacer: bool,
    /// Behind it the flight still grew, and nothing was lost.
    pub grows: bool,
    /// Data waited behind PSH, if seldom.
    pub pushes: bool,
    /// Waits that a timer ended, in order of time.
    pub timers: Vec<&'a IdleRow>,
}

impl<'a> Facts<'a> {
    pub fn of(
        flow: &'a FlowRow,
        bursts: &[BurstRow],
        episodes: &'a [EpisodeRow],
        idle: &'a [IdleRow],
        rounds: &[RoundRow],
    ) -> Facts<'a> {
        let mut in_order: Vec<&EpisodeRow> = episodes.iter().collect();
        in_order.sort_by_key(|e| e.start);
        let end = flow.end.max(flow.start);
        let last_data = flow.last_data.filter(|_| flow.first_data.is_some()).unwrap_or(end);
        // What waits behind a window that never opened again is not done.
        let shut = idle.iter().filter(|i| i.cause == IdleCause::ZeroWindow).map(|i| i.end).max();
        let done = rounds.last().map_or(last_data, |r| r.end.max(last_data)).max(shut.unwrap_or(last_data));
        let done = done.clamp(flow.start, end);
        let mut facts = Facts {
            flow,
            episodes: in_order,
            idle,
            gone: outages::all(flow, bursts, episodes, idle),
            rounds: Vec::with_capacity(rounds.len()),
            start: flow.start,
            end,
            done,
            mss: f64::from(flow.mss.max(1)),
            rtt: least_round_trip(flow, rounds),
            path: None,
            by_trains: None,
            turn: None,
            started: done,
            pacer: false,
            grows: false,
            pushes: rounds.iter().any(|r| r.waited.application > Span::ZERO),
            timers: Vec::new(),
        };
        facts.timers = idle.iter().filter(|i| facts.told_by_timer(i)).collect();
        facts.timers.sort_by_key(|i| i.start);
        facts.look_at(rounds);
        facts
    }

    fn look_at(&mut self, rounds: &[RoundRow]) {
        let mut window = None;
        let first_loss = self.episodes.iter().find(|e| cuts_the_window(e)).map(|e| e.start);
        let (mut fastest, mut largest): (f64, f64) = (0.0, 0.0);
        for row in rounds {
            window = window.max(row.window_max_bytes);
            if self.is_whole(row) {
                fastest = fastest.max(row.rate());
            }
            let mean = row.rtt_mean().map(Span::as_secs);
            let trip = mean.or(self.rtt);
            let by_rate = trip.map_or(0.0, |rtt| row.rate() * rtt);
            let flight = if self.afar() { by_rate } else { row.flight_bytes as f64 };
            largest = largest.max(flight);
            self.rounds.push(RoundFacts {
                row: *row,
                flight,
                flight_so_far: largest,
                queued: mean.zip(self.rtt).map(|(mean, least)| (mean - least).max(0.0)),
                window_so_far: window,
                rate_so_far: fastest,
                rate_around: 0.0,
                after_loss: first_loss.is_some_and(|t| t < row.end),
            });
        }
        for i in 0..rounds.len() {
            let around = &rounds[i.saturating_sub(1)..(i + 2).min(rounds.len())];
            let bytes: u64 = around.iter().map(|r| r.delivered_bytes).sum();
            let length = (around[around.len() - 1].end - around[0].start).as_secs();
            self.rounds[i].rate_around = bytes as f64 / length.max(1e-9);
        }
    }

    pub fn turn_around(&self) -> Option<f64> {
        let first = self.rounds.iter().filter(|r| r.row.start < self.started);
        let turns = first.filter_map(|r| r.row.waited.turn_mean()).map(Span::as_secs);
        turns.reduce(f64::min)
    }

    /// Long enough for a rate: a round that a pause cut short has little in it.
    pub fn is_whole(&self, row: &RoundRow) -> bool {
        row.length().as_secs() >= 0.8 * self.rtt.unwrap_or(0.0).max(0.005)
    }

    /// The sender was clearly faster before.
    pub fn was_faster(&self, r: &RoundFacts) -> bool {
        r.rate_so_far > FASTER * r.row.rate()
    }

    /// A gap is as sure as the answer says of it, and as its limit *likely* at least.
    pub fn sure_of_gap(&self, i: &IdleRow) -> Certainty {
        grounds::of_idle(self.flow, i).certainty.min(Certainty::Likely)
    }

    /// It had nothing to send at some time.
    pub fn paused(&self) -> bool {
        self.idle.iter().any(|i| matches!(i.cause, IdleCause::Application | IdleCause::Peer))
    }

    /// Whenever it had nothing to send for long, the other host's data set it off: a server that answers requests.
    pub fn answers(&self) -> bool {
        let has = |cause| self.idle.iter().any(|i| i.cause == cause);
        has(IdleCause::Peer) && !has(IdleCause::Application)
    }

    /// A timer ended the gap: then something was sent again by its end, or was lost.
    pub fn told_by_timer(&self, i: &IdleRow) -> bool {
        let timer = matches!(i.cause, IdleCause::Timeout | IdleCause::TimeoutBackoff);
        let near = |e: &&EpisodeRow| e.start <= i.end && e.end.is_none_or(|end| end >= i.start);
        timer && self.episodes.iter().any(near)
    }

    /// Nothing was lost around the gap, and little of what this sender had in flight at once before was in flight in it:
    /// no window was full, and nothing but the program, or its host, was to send more.
    pub fn had_room(&self, i: &IdleRow) -> bool {
        let before = self.rounds.partition_point(|r| r.row.start <= i.start);
        let most = self.rounds[..before].iter().map(|r| r.flight).fold(0.0, f64::max);
        let lost = self.episodes.iter().any(|e| e.start <= i.end && e.end.is_none_or(|end| end >= i.start));
        !lost && LITTLE * i.flight_bytes as f64 <= most
    }

    /// Data is seen as it arrives.
    pub fn afar(&self) -> bool {
        arriving(self.flow)
    }

    /// Bytes a second, from the first packet until all was there.
    pub fn reached(&self) -> f64 {
        self.flow.delivered_bytes() as f64 / (self.done - self.start).as_secs().max(1e-9)
    }

    /// The sender grows by a model of the path, not until something is lost.
    pub fn by_model(&self) -> bool {
        matches!(self.flow.inference.growth, Some((Growth::Flat, _)))
    }

    /// Episodes in which something was lost.
    pub fn losses(&self) -> impl Iterator<Item = &&'a EpisodeRow> {
        self.episodes.iter().filter(|e| e.kind != EpisodeKind::Needless)
    }
}

fn least_round_trip(flow: &FlowRow, rounds: &[RoundRow]) -> Option<f64> {
    let known = round_trip(flow).filter(|r| r.n > 0).map(|r| r.min);
    let seen = rounds.iter().filter_map(|r| r.rtt_min).min().map(Span::as_secs);
    let handshake = flow.handshake.filter(|_| flow.handshake_resent == 0).map(Span::as_secs);
    // An end's own answer takes no round trip.
    let whole = known.into_iter().chain(seen).filter(|s| *s > 0.0).reduce(f64::min);
    match arriving(flow) {
        true => seen.into_iter().chain(handshake).reduce(f64::min).or(whole),
        false => whole.or(handshake),
    }
}
