//! What cost how much time, and whose it is.

use super::Verdict;
use super::outages::{is_outage, is_silence};
use super::reason::{Wait, link_was_away, one_per_timeout, wait};
use crate::rows::{BurstRow, EpisodeKind, EpisodeRow, FlowRow, IdleCause, IdleRow, Limit, RtoRule};
use std::collections::BTreeSet;
use wire::Span;

/// Episodes of one sort together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Group {
    pub n: u64,
    pub cost_s: f64,
    /// Episodes with a timeout, and timeouts in all.
    pub timed_out: u64,
    pub timeouts: u64,
    pub lost: u64,
    /// Those that had to wait for a timer, by the reason: how many, and the one with the largest window.
    waits: [(u64, Option<Wait>); 4],
}

impl Group {
    fn add(&mut self, e: &EpisodeRow, cost_s: f64, away: bool) {
        self.n += 1;
        self.cost_s += cost_s;
        self.timed_out += u64::from(e.timeouts > 0);
        self.timeouts += u64::from(e.timeouts);
        self.lost += u64::from(e.lost_copies.unwrap_or(e.lost_segments));
        if let Some(why) = wait(e, away) {
            let (at, size) = match why {
                Wait::WindowSentOut { bytes, .. } => (0, bytes),
                Wait::Tail => (1, 0),
                Wait::FewInFlight => (2, 0),
                Wait::NothingArrived => (3, 0),
            };
            let (n, shown) = &mut self.waits[at];
            *n += 1;
            let larger = |w: Wait| matches!(w, Wait::WindowSentOut { bytes, .. } if bytes >= size);
            if !shown.is_some_and(larger) {
                *shown = Some(why);
            }
        }
    }
    /// The reason that more than half of the waits share.
    pub fn common_wait(&self) -> Option<Wait> {
        let all: u64 = self.waits.iter().map(|w| w.0).sum();
        self.waits.iter().find(|w| w.0 * 2 > all).and_then(|w| w.1)
    }
}

/// Idle time of one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gaps {
    pub n: u64,
    pub total_s: f64,
    pub longest_s: f64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// First to last data packet, or of the whole connection where that is nothing.
    pub duration_s: f64,
    pub outages: Group,
    pub losses: Group,
    /// One segment a timeout: the network lost a burst, the stack made it long.
    pub intermittent: Group,
    pub needless: Group,
    /// The part of the time-out waits that an outlived back-off added (Linux 2.2).
    pub stale_backoff_s: f64,
    pub application: Gaps,
    pub zero_window: Gaps,
    pub receive_window: Gaps,
    /// SYNs lost: what the handshake took beyond a round trip.
    pub handshake_s: f64,
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

/// An episode's cost. Where there was no rate before it to compare with, the mean of the whole transfer (bytes a
/// second) stands in for it; it is lower, so that rather too little is counted.
fn cost(e: &EpisodeRow, mean_rate: f64) -> f64 {
    let known = e.cost.map(Span::as_secs);
    let took = e.end.map(|end| (end - e.start).as_secs()).filter(|_| mean_rate > 0.0);
    let estimate = || took.map(|t| t - e.delivered_bytes as f64 / mean_rate);
    let silence = || e.silence.map(Span::as_secs);
    known.or_else(estimate).or_else(silence).unwrap_or(0.0).max(0.0)
}

pub fn of(flow: &FlowRow, bursts: &[BurstRow], episodes: &[EpisodeRow], idle: &[IdleRow]) -> Costs {
    let numbers = |keep: &dyn Fn(&BurstRow) -> bool| {
        bursts.iter().filter(|b| keep(b)).filter_map(|b| b.episode).collect::<BTreeSet<u32>>()
    };
    let (outages, away) = (numbers(&|b| is_outage(b, flow)), numbers(&link_was_away));
    let mut c = Costs { duration_s: duration(flow), ..Costs::default() };
    let mean_rate = if c.duration_s > 0.0 { flow.bytes as f64 / c.duration_s } else { 0.0 };
    for e in episodes {
        let group = match e.kind {
            _ if one_per_timeout(e) => &mut c.intermittent,
            _ if outages.contains(&e.number) || is_silence(e, flow) => &mut c.outages,
            EpisodeKind::Needless => &mut c.needless,
            _ => &mut c.losses,
        };
        let away = away.contains(&e.number) || is_silence(e, flow);
        group.add(e, cost(e, mean_rate), away);
    }
    for i in idle {
        let gaps = match i.cause {
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
        gaps.total_s += i.excess.as_secs();
        gaps.longest_s = gaps.longest_s.max((i.end - i.start).as_secs());
    }
    // Not more than the episodes that the waits lie in.
    c.stale_backoff_s = c.stale_backoff_s.min(c.losses.cost_s + c.outages.cost_s);
    if flow.syn_retransmissions > 0 {
        let round_trip = if flow.rtt_ack.n > 0 { flow.rtt_ack.min } else { 0.0 };
        c.handshake_s = flow.handshake.map_or(0.0, |h| (h.as_secs() - round_trip).max(0.0));
        // The handshake lies before the first data: it is part of what the user waited for.
        c.duration_s += c.handshake_s;
    }
    c.ceiling = ceiling(flow);
    c
}

fn duration(flow: &FlowRow) -> f64 {
    match (flow.first_data, flow.last_data) {
        (Some(a), Some(b)) if b > a => (b - a).as_secs(),
        _ => (flow.end - flow.start).as_secs().max(0.0),
    }
}

fn ceiling(flow: &FlowRow) -> Option<Ceiling> {
    let (bytes, sure) = flow.inference.window_limit_bytes?;
    let (limit, _) = flow.inference.limit?;
    let rtt = flow.rtt_ack.mean;
    let d = duration(flow);
    if !matches!(limit, Limit::ReceiveWindow | Limit::SenderWindow) || rtt <= 0.0 || d <= 0.0 {
        return None;
    }
    let allows_bps = bytes as f64 * 8.0 / rtt;
    let reached = flow.bytes as f64 * 8.0 / d / allows_bps;
    Some(Ceiling { limit, bytes, confidence: f64::from(sure), allows_bps, reached })
}

/// Below this share of the duration nothing is worth a look.
const WORTH: f64 = 0.03;

impl Costs {
    pub fn total(&self) -> f64 {
        let episodes =
            self.outages.cost_s + self.losses.cost_s + self.intermittent.cost_s + self.needless.cost_s;
        let gaps = self.application.total_s + self.zero_window.total_s + self.receive_window.total_s;
        episodes + gaps + self.handshake_s
    }

    /// Share of the duration by who can mend it.
    fn shares(&self) -> [(Verdict, f64); 4] {
        let share = |s: f64| if self.duration_s > 0.0 { (s / self.duration_s).min(1.0) } else { 0.0 };
        let losses = self.outages.cost_s + self.losses.cost_s - self.stale_backoff_s;
        [
            (Verdict::Network, share(losses + self.handshake_s)),
            (
                Verdict::SendingStack,
                share(self.intermittent.cost_s + self.needless.cost_s + self.stale_backoff_s),
            ),
            (Verdict::Receiver, share(self.zero_window.total_s + self.receive_window.total_s)),
            (Verdict::SendingApplication, share(self.application.total_s)),
        ]
    }

    pub fn share_of(&self, verdict: Verdict) -> f64 {
        self.shares().into_iter().find(|s| s.0 == verdict).map_or(0.0, |s| s.1)
    }

    pub fn verdict(&self, flow: &FlowRow) -> (Verdict, f64) {
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
                b => (Verdict::Nothing, (1.0 - all) * (1.0 - b)),
            };
        }
        // Sure when one party has nearly all of it and it is a good part of the whole.
        let confidence = most / all * (most / (most + 0.05)) * (1.0 - blind);
        if confidence < 0.3 { (Verdict::CannotTell, confidence) } else { (who, confidence) }
    }

    /// How much the capture hides, 0 to 1.
    fn blindness(&self, flow: &FlowRow) -> f64 {
        let l = &flow.limits;
        let missing = l.missing_bytes as f64 / flow.bytes.max(1) as f64;
        let parts = [
            if l.one_way { 0.6 } else { 0.0 },
            (missing * 5.0).min(0.7),
            if l.options_cut > 0 { 0.15 } else { 0.0 },
            if l.mid_stream { 0.05 } else { 0.0 },
        ];
        1.0 - parts.into_iter().map(|p| 1.0 - p).product::<f64>()
    }
}
