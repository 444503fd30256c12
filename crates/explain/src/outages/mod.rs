//! Outages among the bursts: intervals in which everything vanished, and whether they come in a beat.

mod bounds;
mod gone;
mod period;

use analysis::assumptions::{AT_ONCE, MIN_RTO_SEEN, probe_not_before};
use analysis::flow_facts::{arriving, round_trip};
use analysis::rows::{BurstRow, EpisodeKind, EpisodeRow, FlowRow, IdleCause, IdleRow, Trigger};
use gone::{BEHIND, COPIES, Heard, Shown, TICK, lasted, queued};
use period::{FITTED, Regular, regular_period};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use wire::{Span, Time};

pub use gone::{Dark, Gone};

/// What the outages of one flow have in common. Times are seconds from the start of the capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outages {
    pub count: u32,
    /// How long each lasted, as a median, from those that the sender bridged with data; `None` if its window
    /// was always sent out before the link came back, or the RTT before is not known.
    pub length_s: Option<f64>,
    /// The longest lasted at least from its first to its last lost copy, repairs that were lost in it included.
    pub at_least_s: f64,
    /// And at most until the first copy behind it that arrived was sent; `None` if that does not show.
    pub at_most_s: Option<f64>,
    /// From one to the next, if they are regular.
    pub period_s: Option<f64>,
    /// Root mean square distance from the beat, and beats on which nothing was seen.
    pub jitter_s: Option<f64>,
    pub beats_missed: u32,
    pub first_s: f64,
    /// When each began; the first hundred.
    pub starts_s: Vec<f64>,
    /// Those before which the RTT was near its minimum: no queue was about to overflow.
    pub rtt_flat_before: u32,
    /// ACKs vanished too; `None` if that cannot be seen from here.
    pub both_ways: Option<bool>,
    /// The last of them never ended: from here on nothing came through.
    pub dead_from_s: Option<f64>,
    /// One by one; the first hundred.
    pub each: Vec<Dark>,
}

const LASTING: Span = Span::from_millis(20);
/// Bursts closer than this belong to one outage.
const APART: Span = Span::from_millis(50);
/// A page or an object lists no more than this.
const LISTED: usize = 100;

/// Longer than this hardly a queue holds what it was given.
const QUEUES: Span = Span::from_secs(3);

/// The queue was all but empty.
fn rtt_was_flat(rtt_before: Option<Span>, flow: &FlowRow) -> bool {
    queued(rtt_before, flow).is_some_and(|q| q <= 0.5 * flow.rtt_ack.min + 0.005)
}

/// The RTT was near its largest and well above its least: the queue was about to overflow.
fn queue_was_full(rtt_before: Option<Span>, flow: &FlowRow) -> bool {
    let (least, most) = (flow.rtt_ack.min, flow.rtt_ack.max);
    queued(rtt_before, flow).is_some_and(|q| q > 0.5 * least + 0.005 && q >= 0.85 * (most - least))
}

/// Whether the burst, seen where it was sent, looks like an outage: nothing delivered for 20 ms, or a window of
/// which nothing came back for long, or ACKs lost with it. A queue that overflows drops single packets or short runs, and
/// when it drops a long one, the RTT had risen to its peak and the run is soon over. The end of a transfer may vanish in a few milliseconds for any reason.
fn is_outage(b: &BurstRow, tail: bool, flow: &FlowRow, gaps: &[&IdleRow]) -> bool {
    let copies = b.lost();
    let lasted = lasted(b);
    if tail {
        return copies >= COPIES && lasted >= BEHIND;
    }
    let long = copies >= 3 && lasted >= LASTING;
    let timer = matches!(b.trigger, Trigger::TimerRto | Trigger::TimerProbe);
    let silent = || {
        let until = b.first_repair.unwrap_or(b.start);
        gaps[gaps.partition_point(|i| i.start < b.start)..].first().is_some_and(|i| i.end <= until)
    };
    let acks = b.lost_acks.is_some_and(|n| n > 0);
    // Copies that were sent closer together were one burst, or one super-packet, that a full queue dropped.
    let dark = copies >= COPIES && lasted >= AT_ONCE && (timer || acks || silent());
    let round_trip = b.rtt_before.map_or(0.0, Span::as_secs);
    // A full queue still takes a packet for each that leaves: what it drops in a row came in one go.
    let at_once = lasted.as_secs() <= round_trip && lasted < APART;
    (long || dark) && !(queue_was_full(b.rtt_before, flow) && at_once)
}

/// ACKs that no accident takes all of: a receiver sends one for two segments (RFC 5681 §4.2).
const ACKS: f64 = COPIES as f64 / 2.0;

/// ACKs that so many bytes bring, as this receiver sends them: one that reads seldom, or puts segments together before TCP
/// sees them (GRO), sends one for dozens. `None` where none were seen.
fn acks_for(bytes: u64, flow: &FlowRow) -> Option<f64> {
    let segments = bytes as f64 / f64::from(flow.mss.max(536));
    (flow.acks > 0 && flow.segments > 0).then(|| segments * flow.acks as f64 / flow.segments as f64)
}

/// Elsewhere a timer or a probe asked for an ACK although nothing was lost: here single ACKs are.
pub fn acks_lost_singly(episodes: &[&EpisodeRow], but: u32) -> bool {
    episodes.iter().any(|e| {
        e.number != but && e.kind == EpisodeKind::Needless && e.timeouts <= 1 && e.timeouts + e.probes > 0
    })
}

/// Both captures: where every copy arrived this direction had no outage, whatever became of the ACKs.
fn all_arrived(e: &EpisodeRow) -> bool {
    e.lost_acks.is_some() && e.lost_copies == Some(0)
}

/// Whether the timer fired although a window of many segments was in flight: any three of them that arrived would
/// have brought ACKs, so nothing came back. Where only the ACKs vanished hardly any copy was lost.
fn is_silence(e: &EpisodeRow, flow: &FlowRow) -> bool {
    let many = u64::from(COPIES) * u64::from(flow.mss.max(536));
    let by_timer =
        matches!(e.kind, EpisodeKind::TimerRto | EpisodeKind::TimerProbe | EpisodeKind::Intermittent);
    // Without SACK the flight counts what arrived beyond a hole: with many losses that may be most of it.
    let lost = e.lost();
    let nothing_came = flow.sack_permitted != Some(false) || lost < COPIES;
    // Or all had arrived, and nobody said so for as long as a timer waits.
    let unheard =
        e.kind == EpisodeKind::Needless && e.lost_acks != Some(0) && e.silence >= Some(MIN_RTO_SEEN);
    let by_timer = by_timer && nothing_came || unheard;
    let many = e.flight_bytes >= many && acks_for(e.flight_bytes, flow).is_none_or(|n| n >= ACKS);
    // Both captures: its ACKs came through, and most of what was in flight had arrived.
    let heard = e.lost_acks == Some(0) && 2 * u64::from(lost) * u64::from(flow.mss) < e.flight_bytes;
    e.timeouts > 0 && by_timer && many && !heard && !all_arrived(e) && !e.is_tail() && !arriving(flow)
}

/// Every outage of the flow, in order of time.
pub fn all(flow: &FlowRow, bursts: &[BurstRow], episodes: &[EpisodeRow], idle: &[IdleRow]) -> Vec<Gone> {
    let mut seen = match arriving(flow) {
        true => arrivals_stopped(flow, bursts, episodes, idle),
        false => copies_vanished(flow, bursts, episodes, idle),
    };
    // What vanished for its size went into no outage: smaller packets came through.
    let by_size = |g: &Gone| flow.too_large.is_some_and(|t| t.holds(g.start, flow.end));
    seen.retain(|g| !by_size(g));
    seen.sort_by_key(|g| g.start);
    let mut gaps: Vec<&IdleRow> = idle.iter().collect();
    gaps.sort_by_key(|i| i.start);
    let over: BTreeMap<u32, Time> = episodes.iter().filter_map(|e| Some((e.number, e.end?))).collect();
    for g in &mut seen {
        g.bounds = bounds::of(g, flow, &gaps, g.episode.and_then(|e| over.get(&e).copied()));
    }
    seen
}

fn copies_vanished(
    flow: &FlowRow,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    idle: &[IdleRow],
) -> Vec<Gone> {
    let mut gaps: Vec<&IdleRow> = idle.iter().filter(|i| waits(i)).collect();
    gaps.sort_by_key(|i| i.start);
    let tails: BTreeSet<u32> = episodes.iter().filter(|e| e.is_tail()).map(|e| e.number).collect();
    let tail = |b: &BurstRow| b.episode.is_some_and(|e| tails.contains(&e));
    let mut seen: Vec<Gone> =
        bursts.iter().filter(|b| is_outage(b, tail(b), flow, &gaps)).map(Gone::of).collect();
    let told: BTreeSet<u32> = seen.iter().filter_map(|g| g.episode).collect();
    let mut first: BTreeMap<u32, &BurstRow> = BTreeMap::new();
    for b in bursts {
        b.episode.map(|e| first.entry(e).or_insert(b));
    }
    let dead = died(flow, bursts, episodes, &gaps, &seen);
    let told = |e: &EpisodeRow| told.contains(&e.number) || dead.is_some_and(|g| g.episode == Some(e.number));
    let each: Vec<&EpisodeRow> = episodes.iter().collect();
    let silent = |e: &&EpisodeRow| is_silence(e, flow) && !told(e);
    seen.extend(episodes.iter().filter(silent).map(|e| {
        let of_it = first.get(&e.number);
        Gone {
            episode: Some(e.number),
            copies: u64::from(e.lost()),
            rtt_before: of_it.and_then(|b| b.rtt_before),
            lost_acks: of_it.and_then(|b| b.lost_acks),
            first_repair: Some(e.first_repair),
            singly: acks_lost_singly(&each, e.number),
            ..Gone::at(e.start, Shown::AcksVanished)
        }
    }));
    seen.into_iter().map(|g| g.with_silence(&gaps)).chain(dead).collect()
}

/// Timeouts in a row, to the last packet, after which a path is taken to have died.
const IN_VAIN: usize = 3;

/// The path died: to the very end the timer backed off, and nothing came back any more. `gaps`: in order of time.
fn died(
    flow: &FlowRow,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    gaps: &[&IdleRow],
    seen: &[Gone],
) -> Option<Gone> {
    let e = episodes.iter().find(|e| e.end.is_none() && !all_arrived(e))?;
    let backed_off = gaps.iter().rev().take_while(|i| i.cause == IdleCause::TimeoutBackoff).count();
    if backed_off + 1 < IN_VAIN || (e.max_backoff as usize) < backed_off {
        return None;
    }
    // The first wait of them was not backed off yet.
    let first = gaps[..gaps.len() - backed_off].last().filter(|i| i.cause == IdleCause::Timeout);
    let start = first.or(gaps.get(gaps.len() - backed_off)).map(|i| i.start)?;
    let last = flow.last_data.filter(|t| gaps.last().is_some_and(|i| i.end >= *t - APART))?;
    let told = |b: &BurstRow| seen.iter().any(|g| g.start == b.start);
    let mine: Vec<&BurstRow> = bursts.iter().filter(|b| b.last >= start && !told(b)).collect();
    let start = mine.iter().map(|b| b.start).fold(start, Time::min);
    Some(Gone {
        last,
        dark: last,
        episode: Some(e.number),
        copies: mine.iter().map(|b| u64::from(b.lost())).sum(),
        rtt_before: mine.first().and_then(|b| b.rtt_before),
        for_good: true,
        ..Gone::at(start, Shown::Died)
    })
}

/// Not for want of data, or of room at the receiver.
fn waits(i: &IdleRow) -> bool {
    i.cause.about().path_may_be_dark
}

/// Episodes that ended, by their start.
pub(super) struct Repairs(Vec<(Time, Time)>);

impl Repairs {
    pub(super) fn of(episodes: &[EpisodeRow]) -> Repairs {
        let mut all: Vec<_> = episodes.iter().filter_map(|e| e.end.map(|end| (e.start, end))).collect();
        all.sort_unstable();
        Repairs(all)
    }
    /// And was that under way before the gap, not begun with it?
    fn held_before(&self, i: &IdleRow) -> bool {
        self.begun_before(i, i.start)
    }
    fn begun_before(&self, i: &IdleRow, then: Time) -> bool {
        let at = self.0.partition_point(|o| o.0 < then);
        at > 0 && self.0[at - 1].1 >= i.end
    }
}

/// Where data is seen as it arrives, an outage is a time without any that ends with a hole.
fn arrivals_stopped(
    flow: &FlowRow,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    idle: &[IdleRow],
) -> Vec<Gone> {
    let longest = Span::from_secs_f64(round_trip(flow).map_or(0.0, |r| r.max)).max(BEHIND);
    let timed_out: BTreeSet<u32> = episodes.iter().filter(|e| e.timeouts > 0).map(|e| e.number).collect();
    let by_timer = |i: &IdleRow| i.cause.by_timer();
    // A wait for the timer with a hole open already is a repair that was lost.
    let open = Repairs::of(episodes);
    // What ended with a repeat of what had arrived, or came between two of them, lost no data.
    let needless: Vec<&EpisodeRow> =
        episodes.iter().filter(|e| e.kind == EpisodeKind::Needless && e.timeouts > 0).collect();
    let ends_needlessly = |i: &IdleRow| {
        let began = needless.partition_point(|e| e.first_repair - TICK <= i.end);
        began > 0 && needless[began - 1].end.is_none_or(|end| i.end <= end)
    };
    let mut gaps: Vec<&IdleRow> = idle
        .iter()
        .filter(|i| waits(i) && !(by_timer(i) && (open.held_before(i) || ends_needlessly(i))))
        .collect();
    gaps.sort_by_key(|i| i.end);
    let mut holes: Vec<&BurstRow> = bursts.iter().collect();
    holes.sort_by_key(|b| b.start);
    let heard = Heard::of(bursts, episodes);
    let least_trip = bounds::least_trip(flow);
    let mut seen: Vec<Gone> = Vec::new();
    let mut taken = 0;
    for b in holes {
        // What ended the gap left the sender at most a round trip before the hole was seen.
        let before = gaps.partition_point(|i| i.end <= b.start + Span::from_millis(1));
        let copies = b.lost();
        if before <= taken {
            // What a repair uncovers soon after is of the same hole.
            if let Some(g) =
                seen.last_mut().filter(|g| b.start - g.silence.map_or(g.start, |s| s.1) <= longest)
            {
                g.copies += u64::from(copies);
            }
            continue;
        }
        let gap = gaps[before - 1];
        let repaired_late = b.episode.is_some_and(|e| timed_out.contains(&e));
        let lag = b.start - gap.end;
        // Samples of the round trip are few while a queue of seconds is repaired through.
        let queued = gap.cause == IdleCause::Unknown && copies >= COPIES && lag <= QUEUES;
        let near = lag <= longest || queued;
        if near && (by_timer(gap) || copies >= 3) {
            let alone = b
                .behind_silence()
                .is_some_and(|n| n.after.is_none_or(|t| t - b.start >= least_trip.scale(0.75)));
            let shown = match () {
                () if by_timer(gap) => Shown::TimerEndedIt,
                () if alone => Shown::ProbeEndedIt,
                () => Shown::ArrivalsStopped,
            };
            seen.push(Gone::arrived(b, gap, repaired_late, shown, &heard));
            taken = before;
        }
    }
    let mut all: Vec<&IdleRow> = idle.iter().filter(|i| waits(i)).collect();
    all.sort_by_key(|i| i.end);
    seen.extend(acks_vanished(flow, episodes, &all));
    seen
}

/// Where data arrives, the ACKs that leave here vanish unseen: the sender falls silent, and then sends again what has
/// arrived. `gaps`: in order of their ends.
fn acks_vanished<'a>(
    flow: &'a FlowRow,
    episodes: &'a [EpisodeRow],
    gaps: &'a [&IdleRow],
) -> impl Iterator<Item = Gone> + 'a {
    let unheard = |e: &&EpisodeRow| e.kind == EpisodeKind::Needless && e.timeouts > 0 && arriving(flow);
    episodes.iter().filter(unheard).filter_map(|e| {
        let before = gaps.partition_point(|i| i.end <= e.first_repair + Span::from_millis(1));
        let first = before.checked_sub(1).map(|at| gaps[at])?;
        if first.end < e.first_repair - Span::from_millis(1) || first.end - first.start < MIN_RTO_SEEN {
            return None;
        }
        // Until an ACK gets through, the timer fires again and again: the path came back in the last of its silences.
        let last = e.silence.map_or(first.start, |s| e.first_repair - s);
        let mut silence = (last, first.end);
        for i in &gaps[before..] {
            if i.start > silence.1 + APART {
                break;
            }
            silence = (silence.1, i.end);
        }
        // The timer repeats the first byte that the sender had not heard of.
        let rate = e.rate_before_bps.filter(|r| *r > 0.0);
        let took = rate.map(|r| Span::from_secs_f64(e.sent_after_loss_bytes as f64 * 8.0 / r));
        Some(Gone {
            back: Some(silence.1),
            episode: Some(e.number),
            first_repair: Some(e.first_repair),
            silence: Some(silence),
            heard: true,
            unheard: Some((before_the_probe(last, e, flow), took)),
            ..Gone::at(first.start, Shown::AcksUnheard)
        })
    })
}

/// When the last data arrived before its sender fell silent. What came at `last` may be a probe with new data, on a timer
/// of two round trips (RFC 8985 §7.2), where what came before that had not been heard of either.
fn before_the_probe(last: Time, e: &EpisodeRow, flow: &FlowRow) -> Time {
    let unheard = e.sent_after_loss_bytes > 2 * u64::from(flow.mss.max(536));
    let probed =
        unheard && e.silence_before >= probe_not_before(bounds::least_trip(flow), false).max(LASTING);
    if probed { last - e.silence_before } else { last }
}

/// What the outages in `all` have in common.
pub fn find(flow: &FlowRow, all: &[Gone], episodes: &[EpisodeRow], capture_start: Time) -> Option<Outages> {
    let mut seen = all.to_vec();
    seen.dedup_by(|g, earlier| {
        let same = g.start - earlier.last < APART;
        if same {
            earlier.back = g.back;
            earlier.bounds.end = g.bounds.end;
        }
        if same && g.for_good {
            (earlier.last, earlier.dark, earlier.for_good) = (g.last, g.dark, true);
        }
        same
    });
    let first = *seen.first()?;
    let starts: Vec<f64> = seen.iter().map(|g| (g.start - capture_start).as_secs()).collect();
    let silent: Vec<(f64, f64)> = episodes
        .iter()
        .filter(|e| e.timeouts > 0)
        .filter_map(|e| e.end.map(|end| (e.start - capture_start, end - capture_start)))
        .map(|(from, to)| (from.as_secs(), to.as_secs()))
        .take(2 * FITTED)
        .collect();
    let beat = regularity(&seen, flow, &starts, &silent);
    let period = beat.map(|b| b.period);
    let longest =
        seen.iter().map(|g| g.lengths(flow, period)).fold((0.0, None), |best: (f64, Option<f64>), b| {
            // Where nothing was sent in any of them, the one that may have been longest.
            if b.0 > best.0 || b.0 == best.0 && b.1 > best.1 { b } else { best }
        });
    let mut lengths: Vec<f64> = seen.iter().filter_map(|g| g.told_length(flow, period)).collect();
    lengths.sort_by(f64::total_cmp);
    let acks: Vec<u32> = seen.iter().filter_map(|g| g.lost_acks).collect();
    Some(Outages {
        count: seen.len() as u32,
        length_s: (!lengths.is_empty()).then(|| lengths[lengths.len() / 2]),
        at_least_s: longest.0,
        at_most_s: longest.1,
        period_s: period,
        jitter_s: beat.map(|b| b.jitter),
        beats_missed: beat.map_or(0, |b| b.missed),
        first_s: (first.start - capture_start).as_secs(),
        starts_s: starts.into_iter().take(LISTED).collect(),
        each: seen.iter().take(LISTED).map(|g| Dark::of(g, flow, capture_start)).collect(),
        rtt_flat_before: seen.iter().filter(|g| rtt_was_flat(g.rtt_before, flow)).count() as u32,
        // Where no data came through there were no ACKs to lose.
        both_ways: match acks.iter().any(|n| *n > 0) {
            true => Some(true),
            false => (!acks.is_empty() && lengths.len() == seen.len()).then_some(false),
        },
        dead_from_s: seen.last().filter(|g| g.for_good).map(|g| (g.start - capture_start).as_secs()),
    })
}

/// A copy meets the outage where the link is, which behind a queue is later than it was sent by the time it
/// waited: where the queue differs from one outage to the next only the corrected times are regular. And so are
/// those at which ACKs came back, if a queue of seconds is not known well enough to correct for.
fn regularity(seen: &[Gone], flow: &FlowRow, starts: &[f64], silent: &[(f64, f64)]) -> Option<Regular> {
    let plain = regular_period(starts, silent);
    let met: Option<Vec<f64>> =
        seen.iter().zip(starts).map(|(g, at)| queued(g.rtt_before, flow).map(|q| at + q)).collect();
    let resumed: Option<Vec<f64>> =
        seen.iter().zip(starts).map(|(g, at)| g.resumed.map(|r| at + (r - g.start).as_secs())).collect();
    let others = [met, resumed].into_iter().flatten().filter_map(|times| regular_period(&times, silent));
    others.fold(plain, |best, b| if best.is_none_or(|p| b.better_than(&p)) { Some(b) } else { best })
}

#[cfg(test)]
mod tests;
