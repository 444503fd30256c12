//! The path as far as its round trips tell: whether a queue stood in it, and what the losses met there.

use super::flow_facts::{arriving, duration, round_trip};
use super::outages::Gone;
use crate::limited::{Limited, LimitedBy, Why};
use crate::rows::{BurstRow, EpisodeRow, FlowRow, Summary};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    pub rtt: Option<Summary>,
    /// Mean wait in the queue, seconds, where one stood most of the time.
    pub queue_s: Option<f64>,
    /// So long that it is a fault of its own.
    pub bloated: bool,
    /// This transfer filled that queue: it kept the bottleneck full for most of the time that it had data to send.
    pub queue_is_its_own: bool,
    /// Losses came when the queue was full (`true`), or whatever the queue (`false`); `None`: it does not show.
    pub overflow: Option<bool>,
    /// Lost copies (segments, where copies cannot be counted) in all that was sent.
    pub loss_share: Option<f64>,
}

/// A wait that a person notices, and four times what the path itself takes.
pub(super) const BLOATED_S: f64 = 0.1;
const MOSTLY: f64 = 0.5;

pub(super) fn path(
    flow: &FlowRow,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    gone: &[Gone],
    limited: &Limited,
) -> Path {
    let rtt = round_trip(flow);
    let waits = rtt.filter(|r| r.n > 1 && holds_segments(flow, r.mean - r.min));
    let queue_s = waits.filter(|r| r.mean > 1.5 * r.min + 0.005).map(|r| r.mean - r.min);
    let bloated = waits.is_some_and(|r| r.mean - r.min >= BLOATED_S && r.mean >= 4.0 * r.min);
    let lost = flow.lost_copies.or(flow.lost_segments);
    let own = fills_the_queue(limited);
    // Beside a bottleneck that is full a short round trip before a loss shows no empty queue.
    let full = own && !limited.parts.is_empty();
    let overflow = match wait_before(flow, rtt, bursts, episodes, gone) {
        // Longer than usual, and yet nearly none: a short queue, or none (a policer drops what exceeds its rate).
        Some(Before { long: true, none }) => (!none || full).then_some(true),
        Some(Before { none: true, .. }) => (!full).then_some(false),
        _ => None,
    };
    Path {
        rtt,
        queue_s,
        bloated,
        queue_is_its_own: own,
        overflow,
        loss_share: lost.filter(|_| flow.segments > 0).map(|l| l as f64 / flow.segments as f64),
    }
}

/// Whether a mean wait of so many seconds means a queue: rate × wait is what stands in it (Little's law). Where that is
/// less than two segments, a receiver that delays the ACK of each makes the round trip as long (RFC 9293 §3.8.6.3).
fn holds_segments(flow: &FlowRow, wait: f64) -> bool {
    let held = flow.delivered_bytes() as f64 / duration(flow) * wait;
    held >= 2.0 * f64::from(flow.mss.max(1))
}

/// A queue that stands while its only sender leaves the bottleneck idle is not that sender's. Where no rounds tell of it,
/// nothing says otherwise.
fn fills_the_queue(limited: &Limited) -> bool {
    let full = limited.parts.iter().find(|p| p.why == Why::BottleneckFull).map_or(0.0, |p| p.time.as_secs());
    let sending = limited.transfer() - limited.of(LimitedBy::Application).0;
    limited.parts.is_empty() || full >= MOSTLY * sending.as_secs()
}

/// The wait in the queue before losses.
struct Before {
    /// The round trip was longer than usual.
    long: bool,
    /// There was no queue to speak of, by the measure of `path`.
    none: bool,
}

/// What the round trip was when episodes of loss began. Each counts once, by its first burst.
fn wait_before(
    flow: &FlowRow,
    rtt: Option<Summary>,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    gone: &[Gone],
) -> Option<Before> {
    let rtt = rtt.filter(|_| !arriving(flow))?;
    let outages: BTreeSet<Option<u32>> = gone.iter().map(|g| g.episode).collect();
    let mut begun: BTreeSet<u32> = BTreeSet::new();
    let mut before: Vec<f64> = bursts
        .iter()
        .filter(|b| !outages.contains(&b.episode))
        .filter(|b| b.episode.is_some_and(|e| begun.insert(e)))
        .filter_map(|b| b.rtt_before.map(|r| r.as_secs()))
        .collect();
    if before.is_empty() || episodes.is_empty() {
        return None;
    }
    let at = before.len() / 2;
    let (_, median, _) = before.select_nth_unstable_by(at, f64::total_cmp);
    // What is neither says nothing: a round trip tells of the queue one round trip ago, and a short one fills in less.
    Some(Before { long: *median >= rtt.mean + 0.5 * rtt.stddev, none: no_queue(*median, rtt) })
}

/// A round trip of so many seconds met no queue to speak of.
pub fn no_queue(seconds: f64, rtt: Summary) -> bool {
    seconds <= 1.5 * rtt.min + 0.005
}
