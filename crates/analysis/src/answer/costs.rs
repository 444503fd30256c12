//! What cost how much time, and whose it is.

mod group;

use super::flow_facts::{arriving, duration, round_trip};
use super::grounds;
use super::outages::{Gone, Repairs, is_tail};
use super::path::{BLOATED_S, Path};
use super::reason::link_was_away;
use super::where_to_look::Verdict;
use crate::rows::{
    BurstRow, Closed, EpisodeKind, EpisodeRow, FlowRow, IdleCause, IdleRow, Limit, Reset, RtoRule,
};
pub use group::{Gaps, Group};
use group::{both, lost};
use std::collections::{BTreeMap, BTreeSet};
use wire::{Span, Time};

#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// First to last data packet, with the gaps around them; or of the whole connection where that is nothing.
    pub duration_s: f64,
    pub outages: Group,
    /// The end of what the application had, lost with nothing behind it to tell.
    pub tails: Group,
    /// While packets from some size on vanished, and smaller ones did not.
    pub too_large: Group,
    /// The first losses of the transfer: slow start sent twice what the queue had room for.
    pub overshoot: Group,
    pub losses: Group,
    /// One segment a timeout: the network lost a burst, the stack made it long.
    pub intermittent: Group,
    pub needless: Group,
    /// All had arrived, and its ACKs were lost: the timer had to ask.
    pub unheard: Group,
    /// All had arrived, too late for the order that duplicate ACKs count by.
    pub overtaken: Group,
    /// The part of the time-out waits that an outlived back-off added (Linux 2.2).
    pub stale_backoff_s: f64,
    pub application: Gaps,
    pub zero_window: Gaps,
    pub receive_window: Gaps,
    /// Nothing to send until the other host's data came.
    pub peer: Gaps,
    /// Small segments that waited for the ACK of the one before.
    pub nagle: Gaps,
    /// SYNs lost: what the handshake took beyond a round trip.
    pub handshake_s: f64,
    /// A reset ended it while so many bytes were not acknowledged: mostly how it was meant (a timed test), and a failure
    /// where the sender was asking in vain.
    pub cut_off: Option<(Reset, u64)>,
    /// Of the repairs that were not over at the end.
    pub unfinished_timeouts: u64,
    /// A limit that held all the time, with the rate it allows.
    pub ceiling: Option<Ceiling>,
}

/// A window that the transfer never exceeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    pub limit: Limit,
    pub bytes: u64,
    pub confidence: f64,
    /// Window over mean RTT.
    pub allows_bps: f64,
    /// What the transfer reached, as a share of that.
    pub reached: f64,
}

/// The pauses of applications, by their start.
struct Pauses(Vec<(Time, Time)>);

impl Pauses {
    fn of(idle: &[IdleRow]) -> Pauses {
        let own = |i: &&IdleRow| {
            matches!(i.cause, IdleCause::Application | IdleCause::Peer | IdleCause::ZeroWindow)
        };
        let mut all: Vec<_> = idle.iter().filter(own).map(|i| (i.start, i.end)).collect();
        all.sort_unstable();
        Pauses(all)
    }
    /// Seconds of them within an episode: one whose last ACK never comes lasts until the next data.
    fn within(&self, e: &EpisodeRow) -> f64 {
        let Some(end) = e.end else { return 0.0 };
        let from = self.0.partition_point(|p| p.1 <= e.start);
        let inside = self.0[from..].iter().take_while(|p| p.0 < end);
        inside.map(|p| (p.1.min(end) - p.0.max(e.start)).as_secs()).sum()
    }
}

/// An episode's cost. Where there was no rate before it to compare with, the mean of the whole transfer (bytes a
/// second) stands in for it; it is lower, so that rather too little is counted. Of one that never ended that mean
/// would hide everything: what was delivered before it began tells, and where that is nothing, all its time was lost.
/// Negative where it is known that the transfer ran faster in it than before.
fn cost(e: &EpisodeRow, flow: &FlowRow, mean_rate: f64, pauses: &Pauses) -> f64 {
    let known = e.cost.map(Span::as_secs);
    let before = || {
        let began = (e.start - flow.first_data?).as_secs();
        let bytes = flow.acked_bytes.saturating_sub(e.delivered_bytes);
        (bytes > 0 && began > 0.0).then(|| bytes as f64 / began)
    };
    let (end, rate) = match e.end {
        Some(end) => (Some(end), Some(mean_rate).filter(|r| *r > 0.0)),
        None => (flow.last_data, before()),
    };
    let took = end.map(|end| (end - e.start).as_secs() - pauses.within(e));
    let estimate = || match (rate, e.delivered_bytes) {
        (Some(rate), delivered) => took.map(|t| t - delivered as f64 / rate),
        (None, 0) if e.end.is_none() => took,
        _ => None,
    };
    let silence = || e.silence.map(Span::as_secs);
    // A pause within it has a sentence of its own: what the episode cost is no part of that.
    let paused = pauses.within(e);
    let known = match (known, e.end) {
        (Some(cost), Some(end)) if paused > 0.0 => Some(cost.min((end - e.start).as_secs() - paused)),
        _ => known,
    };
    known.unwrap_or_else(|| estimate().or_else(silence).unwrap_or(0.0).max(0.0))
}

/// It repaired what was too large for the path, or tried to.
fn too_large(flow: &FlowRow, e: &EpisodeRow) -> bool {
    flow.too_large.is_some_and(|t| t.meets(e.start, e.end, flow.end))
}

/// The sender resent what had arrived because it did not hear of it: ACKs are known to have been lost, or the
/// receiver's side saw the repair come so late that the sender's timer had waited for one in vain.
fn went_unheard(e: &EpisodeRow, flow: &FlowRow) -> bool {
    let by_timer = e.timeouts > 0 || e.probes > 0;
    let late = || {
        let longest = round_trip(flow).map(|r| 2.0 * r.max)?;
        Some(arriving(flow) && e.silence?.as_secs() > longest)
    };
    by_timer && e.lost_acks.map_or_else(|| late() == Some(true), |n| n > 0)
}

/// So many copies lost in the first episode, in more than two runs, and a good part of all that was sent before,
/// are what slow start sent beyond the room there was: it doubles the window each round trip until something is lost.
const OVERSHOOT: u64 = 16;
const OF_ALL_SENT: u64 = 8;

pub(super) fn of(
    flow: &FlowRow,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    idle: &[IdleRow],
    gone: &[Gone],
) -> Costs {
    let away: BTreeSet<u32> = bursts.iter().filter(|b| link_was_away(b)).filter_map(|b| b.episode).collect();
    let mut vanished: BTreeMap<u32, u64> = BTreeMap::new();
    let mut gaps: BTreeMap<u32, Vec<(Time, Time)>> = BTreeMap::new();
    for g in gone {
        let Some(n) = g.episode else { continue };
        *vanished.entry(n).or_default() += g.copies;
        if let Some(gap) = g.gap {
            gaps.entry(n).or_default().push((g.start, g.start + gap));
        }
    }
    let mut c = Costs { duration_s: duration(flow), ..Costs::default() };
    let mean_rate = if c.duration_s > 0.0 { flow.bytes as f64 / c.duration_s } else { 0.0 };
    let pauses = Pauses::of(idle);
    let first_lost = bursts.iter().filter(|b| b.episode == Some(0)).map(|b| b.seq_start).min();
    let sent_before = first_lost.unwrap_or(0) / u64::from(flow.mss.max(536));
    let dead = gone.iter().find(|g| g.for_good).and_then(|g| g.episode);
    for e in episodes {
        let outage = vanished.get(&e.number).copied();
        // An outage may fall into the repair of something larger.
        let beside = lost(e).saturating_sub(outage.unwrap_or(0));
        let large = beside >= OVERSHOOT && beside * OF_ALL_SENT >= sent_before;
        let first = e.number == 0 && e.bursts >= 3 && large && beside > outage.unwrap_or(0);
        let group = match e.kind {
            _ if too_large(flow, e) => &mut c.too_large,
            _ if dead == Some(e.number) => &mut c.outages,
            _ if e.kind.one_per_timeout(e.timeouts, e.lost_segments) && !is_tail(e) => &mut c.intermittent,
            _ if first && e.timeouts == 0 => &mut c.overshoot,
            EpisodeKind::Needless if outage.is_some() || went_unheard(e, flow) => &mut c.unheard,
            _ if outage.is_some() => &mut c.outages,
            EpisodeKind::Needless if e.timeouts == 0 && e.probes == 0 => &mut c.overtaken,
            EpisodeKind::Needless => &mut c.needless,
            _ if is_tail(e) => &mut c.tails,
            _ => &mut c.losses,
        };
        let away = away.contains(&e.number) || outage.is_some();
        let cost_s = cost(e, flow, mean_rate, &pauses);
        group.add(e, cost_s, away, flow);
        if let Some(gaps) = gaps.get_mut(&e.number) {
            // What of them lies within the episode its own cost has, as far as it goes.
            let (outside, within) = apart(gaps, (e.start, e.end.or(flow.last_data).unwrap_or(e.start)));
            c.outages.cost_s += outside + (within - cost_s.max(0.0)).max(0.0);
        }
    }
    // The rate before an episode goes up and down, and what one seems to cost too much another seems to cost too little.
    for group in c.groups() {
        group.cost_s = group.cost_s.max(0.0);
    }
    for g in gone {
        both(&mut c.outages.sure, g.sure(flow));
    }
    c.outages.for_good = dead.is_some();
    // Copies belong to what took them, whichever episode repaired them.
    if c.overshoot.n > 0 {
        let within = vanished.get(&0).copied().unwrap_or(0).min(c.overshoot.lost);
        c.overshoot.lost -= within;
        c.outages.lost += within;
    }
    let repairs = Repairs::of(episodes);
    for i in idle {
        let gaps = match i.cause {
            // The cost of the episode has it.
            IdleCause::ReceiveWindow if repairs.hold(i) => continue,
            IdleCause::Peer => &mut c.peer,
            IdleCause::Nagle => &mut c.nagle,
            IdleCause::Application => &mut c.application,
            IdleCause::ZeroWindow => &mut c.zero_window,
            IdleCause::ReceiveWindow => &mut c.receive_window,
            // Waits of the timer lie within episodes, whose cost has them.
            IdleCause::TimeoutBackoff if flow.timers.best == Some(RtoRule::Linux22) => {
                c.stale_backoff_s += i.excess.as_secs();
                continue;
            }
            _ => continue,
        };
        gaps.n += 1;
        both(&mut gaps.sure, grounds::of_idle(flow, i));
        gaps.total_s += i.excess.as_secs();
        gaps.longest_s = gaps.longest_s.max((i.end - i.start).as_secs());
    }
    // Not more than the episodes that the waits lie in.
    c.stale_backoff_s = c.stale_backoff_s.min(c.losses.cost_s + c.outages.cost_s);
    c.duration_s += around(flow, idle);
    if unanswered(flow) {
        c.handshake_s = c.duration_s;
    } else if flow.handshake_resent > 0 {
        let round_trip = round_trip(flow).map_or(0.0, |r| r.min);
        c.handshake_s = flow.handshake.map_or(0.0, |h| (h.as_secs() - round_trip).max(0.0));
        // The handshake lies before the first data: it is part of what the user waited for.
        c.duration_s += c.handshake_s;
    }
    c.ceiling = ceiling(flow);
    c.unfinished_timeouts = episodes.iter().filter(|e| e.end.is_none()).map(|e| u64::from(e.timeouts)).sum();
    let under_way = flow.bytes.saturating_sub(flow.acked_bytes);
    c.cut_off = flow.reset.filter(|_| under_way > 0 && !flow.limits.one_way).map(|r| (r, under_way));
    c
}

/// Seconds of gaps outside of `span` and within it, those that lie over each other once.
fn apart(gaps: &mut [(Time, Time)], span: (Time, Time)) -> (f64, f64) {
    gaps.sort_unstable();
    let (mut outside, mut within, mut told) = (0.0, 0.0, Time(i64::MIN));
    for &(from, to) in gaps.iter() {
        let from = from.max(told);
        let inside = (to.min(span.1) - from.max(span.0)).as_secs().max(0.0);
        within += inside;
        outside += (to - from).as_secs().max(0.0) - inside;
        told = told.max(to);
    }
    (outside, within)
}

/// Seconds of gaps before the first data and behind the last: what they cost is told of the time that has them.
fn around(flow: &FlowRow, idle: &[IdleRow]) -> f64 {
    let Some((first, last)) = flow.first_data.zip(flow.last_data).filter(|(a, b)| b > a) else { return 0.0 };
    let gaps = || idle.iter().filter(|i| i.cause != IdleCause::Handshake);
    let begins = gaps().map(|i| i.start).fold(first, Time::min);
    let ends = gaps().map(|i| i.end).fold(last, Time::max);
    (first - begins).as_secs() + (ends - last).as_secs()
}

/// A host that called and was not answered, however often.
pub(super) fn unanswered(flow: &FlowRow) -> bool {
    let silent = flow.first_data.is_none() && flow.acks == 0 && flow.handshake.is_none();
    silent && flow.syn_retransmissions > 0 && flow.closed == Closed::Open
}

fn ceiling(flow: &FlowRow) -> Option<Ceiling> {
    let (bytes, sure) = flow.inference.window_limit_bytes?;
    let (limit, _) = flow.inference.limit?;
    let rtt = round_trip(flow).map_or(0.0, |r| r.mean);
    let d = duration(flow);
    if !matches!(limit, Limit::ReceiveWindow | Limit::SenderWindow) || rtt <= 0.0 || d <= 0.0 {
        return None;
    }
    let allows_bps = bytes as f64 * 8.0 / rtt;
    let reached = flow.delivered_bytes() as f64 * 8.0 / d / allows_bps;
    Some(Ceiling { limit, bytes, confidence: f64::from(sure), allows_bps, reached })
}

/// Below this share of the duration nothing is worth a look.
pub(super) const WORTH: f64 = 0.03;
/// Lost copies in all: more is a fault even where a full queue hides what it costs.
const HEAVY: f64 = 0.05;
/// A window that is cut once in so many round trips has time to grow back.
const SELDOM: f64 = 100.0;

impl Costs {
    fn groups(&mut self) -> [&mut Group; 9] {
        [
            &mut self.outages,
            &mut self.tails,
            &mut self.too_large,
            &mut self.overshoot,
            &mut self.losses,
            &mut self.intermittent,
            &mut self.needless,
            &mut self.unheard,
            &mut self.overtaken,
        ]
    }

    pub fn total(&self) -> f64 {
        let episodes = self.lost_s() + self.intermittent.cost_s + self.needless.cost_s;
        let receiver = self.windows_s() + self.peer.total_s;
        episodes + self.unsent_s() + receiver + self.handshake_s
    }

    /// When the application had nothing to send, or only what its stack held back for more.
    pub fn unsent_s(&self) -> f64 {
        self.application.total_s + self.nagle.total_s
    }

    /// When the receiver had no room.
    pub fn windows_s(&self) -> f64 {
        self.zero_window.total_s + self.receive_window.total_s
    }

    /// What the losses cost that the network has to answer for.
    fn lost_s(&self) -> f64 {
        let lost = self.outages.cost_s + self.tails.cost_s + self.overshoot.cost_s + self.losses.cost_s;
        lost + self.too_large.cost_s + self.unheard.cost_s + self.overtaken.cost_s
    }

    /// Share of the duration by who can fix it.
    fn shares(&self) -> [(Verdict, f64); 4] {
        let share = |s: f64| if self.duration_s > 0.0 { (s / self.duration_s).min(1.0) } else { 0.0 };
        let losses = self.lost_s() - self.stale_backoff_s;
        [
            (Verdict::Network, share(losses + self.handshake_s)),
            (
                Verdict::SendingStack,
                share(self.intermittent.cost_s + self.needless.cost_s + self.stale_backoff_s),
            ),
            (Verdict::Receiver, share(self.windows_s() + self.peer.total_s)),
            (Verdict::SendingApplication, share(self.unsent_s())),
        ]
    }

    /// Whether nothing cost enough to be worth a look.
    pub fn slight(&self) -> bool {
        self.shares().iter().all(|s| s.1 < WORTH)
    }

    pub fn share_of(&self, verdict: Verdict) -> f64 {
        self.shares().into_iter().find(|s| s.0 == verdict).map_or(0.0, |s| s.1)
    }

    /// Whether what the network lost or queued is a fault, whatever held the transfer longest.
    pub(super) fn at_network(&self, path: &Path) -> bool {
        let heavy = path.loss_share.is_some_and(|s| s >= HEAVY);
        heavy || path.bloated || self.share_of(Verdict::Network) >= WORTH
    }

    /// Whether that is so from any vantage point: costs and losses are counted otherwise from each, and what was repaired
    /// needlessly is the network's where its ACKs are known to be lost.
    pub(super) fn at_network_for_sure(&self, path: &Path) -> bool {
        let share = |s: f64| if self.duration_s > 0.0 { s / self.duration_s } else { 0.0 };
        let perhaps =
            share(self.lost_s() + self.handshake_s + self.needless.cost_s + self.intermittent.cost_s);
        let lost = path.loss_share.unwrap_or(0.0);
        let waits = path.rtt.map_or(0.0, |r| r.mean - r.min);
        match self.at_network(path) {
            true => self.share_of(Verdict::Network) >= 2.0 * WORTH || lost >= 2.0 * HEAVY,
            false => perhaps < WORTH / 2.0 && lost < HEAVY / 2.0 && waits < BLOATED_S / 2.0,
        }
    }

    pub(super) fn verdict(&self, flow: &FlowRow, path: &Path) -> (Verdict, f64) {
        let shares = self.shares();
        let all: f64 = shares.iter().map(|s| s.1).sum();
        // The first of equals: a loss is a fact, the rest are inferences.
        let (who, most) =
            shares.into_iter().fold((Verdict::Nothing, 0.0), |best, s| if s.1 > best.1 { s } else { best });
        let blind = self.blindness(flow);
        if let Some(c) = self.ceiling.filter(|c| most < 0.2 && c.reached >= 0.5) {
            let who = match c.limit {
                Limit::ReceiveWindow => Verdict::Receiver,
                _ => Verdict::SendingStack,
            };
            return (who, c.confidence * (1.0 - blind));
        }
        if most < WORTH {
            return match blind {
                b if b >= 0.5 => (Verdict::CannotTell, 0.0),
                // What costs no time of its own and is a fault all the same.
                b if path.bloated || path.loss_share.is_some_and(|s| s >= HEAVY) => {
                    (Verdict::Network, 0.7 * (1.0 - b))
                }
                b if self.kept_small(flow, path) => (Verdict::Network, 0.5 * (1.0 - b)),
                b => (Verdict::Nothing, (1.0 - all) * (1.0 - b)),
            };
        }
        // Sure when one party has nearly all of it and it is a good part of the whole.
        let confidence = most / all * (most / (most + 0.05)) * (1.0 - blind);
        if confidence < 0.3 { (Verdict::CannotTell, confidence) } else { (who, confidence) }
    }

    /// Whether losses kept the window below what the path would take: they came often, no queue stood between
    /// them, and nothing else held the sender back.
    pub(super) fn kept_small(&self, flow: &FlowRow, path: &Path) -> bool {
        let Some(rtt) = path.rtt.filter(|_| path.queue_s.is_none() && self.ceiling.is_none()) else {
            return false;
        };
        let other = flow.inference.limit.is_some_and(|(l, _)| l != Limit::SenderWindow);
        let n = self.losses.n + self.outages.n + self.overtaken.n;
        let often = n >= 3 && n as f64 * SELDOM * rtt.mean.max(0.001) >= self.duration_s;
        often && !other && self.unsent_s() + self.peer.total_s < 0.2 * self.duration_s
    }

    /// How much the capture hides, 0 to 1.
    pub(super) fn blindness(&self, flow: &FlowRow) -> f64 {
        let l = &flow.limits;
        let missing = l.missing_bytes as f64 / flow.bytes.max(1) as f64;
        let parts = [
            if l.one_way && !unanswered(flow) { 0.6 } else { 0.0 },
            (missing * 5.0).min(0.7),
            if l.options_cut > 0 { 0.15 } else { 0.0 },
            if l.mid_stream { 0.05 } else { 0.0 },
        ];
        1.0 - parts.into_iter().map(|p| 1.0 - p).product::<f64>()
    }
}
