//! Is it a policer? A token bucket passes bursts at the line's rate until it is empty, and then drops what exceeds its
//! rate; no queue builds up before the drops (Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016).

use super::{How, Path};
use crate::assumptions::{MOSTLY, NEAR, OFTEN, PLATEAU_ROUNDS, TOGETHER, TRAIN_SEGMENTS};
use crate::conversation::Conversation;
use analysis::rows::Wait;
use wire::{Span, Time};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policer {
    /// Payload.
    pub bytes_per_s: f64,
}

/// How often packets were dropped, where all drops within two round trips count once; and the intervals from one drop to the
/// next in which the sender did not pause.
#[derive(Default)]
struct Losses {
    events: usize,
    intervals: Vec<Interval>,
}

struct Interval {
    length: f64,
    bytes: f64,
}

impl Losses {
    /// A loss finds the bucket empty. Until the next one, what was let through is what has trickled in since: always the
    /// same rate. Where a message ends in between, or a timer runs, the bucket fills, and that tells nothing.
    fn of(c: &Conversation<'_>, side: usize) -> Losses {
        let mut all = Losses::default();
        let mut last: Option<(Time, u64)> = None;
        let (mut highest, mut latest) = (0, None::<Time>);
        let (least, trip) = (TRAIN_SEGMENTS * c.mss(side), c.base_rtt.unwrap_or_default());
        for b in c.flows[side].bursts.iter().filter(|b| b.lost_segments > 0) {
            // A repair leaves a round trip after the loss. If it is dropped as well, that is the same event.
            if latest.is_none_or(|time| b.start - time >= trip * 2) {
                (all.events, latest) = (all.events + 1, Some(b.start));
            }
            // A repair that was lost lies below what was lost before.
            if b.seq_start < highest {
                continue;
            }
            highest = b.seq_end;
            let Some((time, seq)) = last.filter(|(time, _)| !pauses(c, side, *time, b.start)) else {
                last = Some((b.start, b.seq_start));
                continue;
            };
            if b.seq_start - seq >= least && b.start - time >= trip * 2 {
                let (length, bytes) = ((b.start - time).as_secs(), (b.seq_start - seq) as f64);
                all.intervals.push(Interval { length, bytes });
                last = Some((b.start, b.seq_start));
            }
        }
        all
    }
}

/// A message begins within, or a good part of it passes while a timer runs.
fn pauses(c: &Conversation<'_>, side: usize, from: Time, to: Time) -> bool {
    let first = c.waits.partition_point(|w| w.end <= from);
    let within = || c.waits[first..].iter().take_while(|w| w.start < to);
    let timer: Span = within().map(|w| w.of(side, Wait::Timer)).fold(Span::ZERO, |a, b| a + b);
    timer > (to - from).scale(NEAR) || within().any(|w| w.turns[side] > 0 && w.start >= from)
}

/// The median of what occurs often, where most of it is near.
fn mostly(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let median = *sorted.get(sorted.len() / 2)?;
    let near = sorted.iter().filter(|v| (*v - median).abs() <= NEAR * median).count();
    (sorted.len() >= OFTEN && near as f64 >= MOSTLY * sorted.len() as f64).then_some(median)
}

pub(super) fn of(c: &Conversation<'_>, side: usize, path: &Path<'_>) -> Option<Policer> {
    let bursts = c.flows[side].bursts;
    // A queue that builds up before a loss is what makes the loss. What a policer lets through keeps its bursts; a link spaces
    // it evenly.
    let flat = bursts.iter().filter(|b| {
        let queue = b.rtt_before.map(|rtt| rtt - path.base_rtt.unwrap_or_default());
        queue.is_none_or(|q| q < path.least_queue)
    });
    let spaced = path.capacity.is_some_and(|c| c.how == How::Spacing);
    if spaced || flat.count() * 2 < bursts.len() {
        return None;
    }
    // A sender that exceeds the rate loses what is beyond it together; a channel loses one packet here and there.
    // Where packets are lost one by one after equal times, again and again, that is no accident.
    let lost: u32 = bursts.iter().map(|b| b.lost_segments).sum();
    let Losses { events, intervals: all } = Losses::of(c, side);
    let one_by_one = f64::from(lost) < TOGETHER * events as f64;
    if one_by_one && (all.len() < PLATEAU_ROUNDS || mostly(all.iter().map(|i| i.length)).is_none()) {
        return None;
    }
    let rate = mostly(all.iter().map(|i| i.bytes / i.length.max(1e-9)))?;
    // A queue stood while as much got through: it, and no bucket, was full.
    if path.capacity.is_some_and(|c| c.how == How::Full && rate >= MOSTLY * c.bytes_per_s) {
        return None;
    }
    // It passes faster than its rate what it has tokens for: the path itself is faster than all that it delivers of all flows.
    let all = path.rate(bursts.first()?.start, bursts.last()?.start).max(rate);
    let faster = path.rounds.iter().any(|r| r.train_rate().is_some_and(|t| t >= all / NEAR));
    faster.then_some(Policer { bytes_per_s: rate })
}
