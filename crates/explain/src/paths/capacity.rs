//! What a path can carry.

use super::Path;
use crate::assumptions::{FULL, MOSTLY, NEAR, SHARED, TRAIN_SEGMENTS};
use crate::conversation::Conversation;
use analysis::rows::RoundRow;
use wire::{Span, Time};

/// How the rate of a path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// What came out of the bottleneck while a queue stood there.
    Full,
    /// The spacing of packets that came through it one behind the other.
    Trains,
    /// The even spacing of most packets, where no round trip shows whether they waited for each other or were sent so.
    Spacing,
    /// The largest rate over a round trip: it is at least this.
    Reached,
}

impl How {
    pub fn name(self) -> &'static str {
        match self {
            How::Full => "full",
            How::Trains => "trains",
            How::Spacing => "spacing",
            How::Reached => "reached",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// Payload.
    pub bytes_per_s: f64,
    pub how: How,
}

/// A stretch of at least a round trip, and what the path delivered in it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: Time,
    end: Time,
    bytes: f64,
}

impl Piece {
    fn rate(&self) -> f64 {
        self.bytes / (self.end - self.start).as_secs().max(1e-9)
    }
}

/// Bins put together until they are as long as a round trip.
fn pieces(path: &Path<'_>) -> Vec<Piece> {
    let least = path.base_rtt.unwrap_or(Span::from_millis(10)).max(Span::from_millis(10));
    let mut out: Vec<Piece> = Vec::new();
    for r in path.rows {
        let (end, bytes) = (r.start + r.width, r.delivered_bytes as f64);
        match out.last_mut() {
            Some(p) if p.end == r.start && p.end - p.start < least => {
                (p.end, p.bytes) = (end, p.bytes + bytes);
            }
            _ => out.push(Piece { start: r.start, end, bytes }),
        }
    }
    out.retain(|p| p.end - p.start >= least.min(p.end - p.start) && p.bytes > 0.0);
    out
}

/// The value below which this part of the weight lies.
fn weighted_quantile(mut values: Vec<(f64, f64)>, part: f64) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let upto = values.iter().map(|v| v.1).sum::<f64>() * part;
    let mut sum = 0.0;
    values.into_iter().find_map(|(value, weight)| {
        sum += weight;
        (sum >= upto).then_some(value)
    })
}

/// Its packets came one behind the other all the time.
pub fn is_even(r: &RoundRow) -> bool {
    r.train >= r.length().scale(FULL)
}

/// The rate of the trains that are long enough to tell. One that never ends is as its sender spaced it: behind a link that
/// spaces packets a queue stands sooner or later, and shows in round trips. Where most are such, those that end tell the rate
/// only if they are faster. Trains get longer on their way, by what other packets and late ACKs add: the shortest tell most.
pub fn by_trains(rounds: &[RoundRow], mss: u64, leaves: bool) -> Option<f64> {
    // Where data leaves it shows that its sender spaced it: in the round trip before its ACKs come.
    let paced = |at: usize| leaves && rounds[at.saturating_sub(1)].waited.other * 4 >= rounds[at].train;
    let is_long = |(at, r): &(usize, &RoundRow)| r.train_bytes >= TRAIN_SEGMENTS * mss && !paced(*at);
    let long = rounds.iter().enumerate().filter(is_long).map(|(_, r)| r);
    let (even, ended): (Vec<&RoundRow>, Vec<&RoundRow>) = long.partition(|r| is_even(r));
    let bytes = |of: &[&RoundRow]| of.iter().map(|r| r.train_bytes).sum::<u64>();
    let rate = |of: &[&RoundRow]| {
        let rates = of.iter().filter_map(|r| Some((r.train_rate()?, r.train_bytes as f64)));
        weighted_quantile(rates.collect(), FULL)
    };
    // Where nothing was lost, and round trips would show a queue, a few trains among many packets that their sender spaced are
    // packets that happened to meet.
    let all: u64 = rounds.iter().map(|r| r.delivered_bytes).sum();
    let timed = !leaves && rounds.iter().any(|r| r.rtt_n > 0) && rounds.iter().all(|r| r.resent_bytes == 0);
    if timed && (bytes(&even) + bytes(&ended)) as f64 <= SHARED * all as f64 {
        return None;
    }
    let spaced = rate(&even).filter(|_| bytes(&even) > bytes(&ended));
    rate(&ended).filter(|rate| spaced.is_none_or(|spaced| *rate > spaced * (1.0 + NEAR)))
}

/// The rate of the trains that never end, where most of the data came in such.
fn by_spacing(rounds: &[RoundRow], mss: u64) -> Option<f64> {
    let all: u64 = rounds.iter().map(|r| r.delivered_bytes).sum();
    let even = || rounds.iter().filter(|r| r.train_bytes >= TRAIN_SEGMENTS * mss && is_even(r));
    let rates = even().filter_map(|r| Some((r.train_rate()?, r.train_bytes as f64))).collect();
    let bytes: u64 = even().map(|r| r.train_bytes).sum();
    weighted_quantile(rates, 0.5).filter(|_| bytes * 2 > all)
}

/// Nearly always when packets wait, the same rate comes out.
pub(super) fn is_flat(path: &Path<'_>) -> bool {
    let Some(capacity) = path.capacity else { return false };
    let (mut near, mut all) = (0.0, 0.0);
    for p in pieces(path) {
        if path.queued(p.start, p.end).is_some_and(|q| q >= path.least_queue) {
            let length = (p.end - p.start).as_secs();
            all += length;
            if (p.rate() / capacity.bytes_per_s - 1.0).abs() <= NEAR {
                near += length;
            }
        }
    }
    near >= MOSTLY * all && all > 0.0
}

/// 0 where no time shows.
fn rate(bytes: u64, took: Span) -> f64 {
    if took > Span::ZERO { bytes as f64 / took.as_secs() } else { 0.0 }
}

/// The rate of the path: at least the mean rate of this conversation's data, from its first packet to a round trip behind
/// its last.
pub(super) fn of(c: &Conversation<'_>, side: usize, path: &Path<'_>) -> Option<Capacity> {
    let found = estimated(c, side, path)?;
    let Some(f) = c.row(side) else { return Some(found) };
    let all = rate(f.delivered_bytes(), f.end - f.start);
    // One message alone shows no more than how soon its answer came.
    let data = || Some(rate(f.acked_bytes, f.last_data? - f.first_data? + c.largest_rtt?));
    let carried = all.max(if found.how == How::Reached { 0.0 } else { data().unwrap_or(0.0) });
    Some(Capacity { bytes_per_s: found.bytes_per_s.max(carried), ..found })
}

fn estimated(c: &Conversation<'_>, side: usize, path: &Path<'_>) -> Option<Capacity> {
    let pieces = pieces(path);
    let mss = c.mss(side) as f64;
    // Away from the sender a round trip holds the wait for the next packet of a sender that spaces them.
    let gap = if c.seen_leaving(side) { 2.0 * mss } else { TRAIN_SEGMENTS as f64 * mss };
    let stands = |p: &&Piece| {
        let queued = path.queued(p.start, p.end).unwrap_or(Span::ZERO);
        // Two segments at least: a receiver that delays its ACKs makes packets wait for as long as one.
        // Each of its packets waits in a queue; a delayed ACK makes some wait.
        let all = path.rounds_in(p.start, p.end).filter_map(|r| r.rtt_min).min();
        let all = all.is_none_or(|rtt| rtt - path.base_rtt.unwrap_or(rtt) >= path.least_queue);
        all && queued >= path.least_queue && p.rate() * queued.as_secs() >= gap
    };
    let most = pieces.iter().map(Piece::rate).fold(0.0, f64::max);
    let trains = by_trains(path.rounds, c.mss(side), c.seen_leaving(side));
    // What a queue lets out comes with hardly a gap: a burst that makes a queue of its own is gone before the next.
    let continuous = |p: &&Piece| trains.is_none_or(|t| p.rate() >= MOSTLY * t);
    let full: Vec<&Piece> = pieces.iter().filter(stands).filter(continuous).collect();
    let rates = full.iter().map(|p| (p.rate(), (p.end - p.start).as_secs())).collect();
    if let Some(rate) = weighted_quantile(rates, 0.5).filter(|_| full.len() >= 2) {
        return Some(Capacity { bytes_per_s: rate, how: How::Full });
    }
    let reached = (most > 0.0).then_some(Capacity { bytes_per_s: most, how: How::Reached });
    let Some(rate) = trains else {
        let unseen = path.rows.iter().all(|r| r.rtt_n == 0) && path.rounds.iter().all(|r| r.rtt_n == 0);
        let spacing = unseen.then(|| by_spacing(path.rounds, c.mss(side))).flatten();
        return spacing.map(|rate| Capacity { bytes_per_s: rate, how: How::Spacing }).or(reached);
    };
    match () {
        () if rate >= most / FULL => Some(Capacity { bytes_per_s: rate, how: How::Trains }),
        () if rate >= FULL * most => Some(Capacity { bytes_per_s: most.max(rate), how: How::Trains }),
        () => reached,
    }
}
