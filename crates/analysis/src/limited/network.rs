//! The network: dark, or as full as it can be; and what the path can carry.

use super::facts::{Facts, PathRate, RoundFacts};
use super::{Basis, Claim, How, Told, Why};
use crate::answer::certainty::Certainty;
use crate::answer::outages;
use crate::assumptions::AT_ONCE;
use crate::rows::{EpisodeRow, IdleRow, Vantage};
use wire::{Span, Time};

/// A wait that is a queue's: a tenth of the path's own, and no jitter.
const OF_RTT: f64 = 0.1;
const JITTER_S: f64 = 0.001;
/// Of the mean wait: the shortest of a round in which a queue stood throughout. What a busy host held up came in between
/// packets that it did not.
const ALL_WAITED: f64 = 0.25;
/// What a queue holds at least, segments: a receiver that delays ACKs makes waits as long as one.
const HELD: f64 = 2.0;
/// Of the path's rate; what is missing are headers, ACKs and the edges of a round.
const FULL: f64 = 0.9;
/// The same of an episode, whose first round trip brings nothing new.
const FULL_REPAIRING: f64 = 0.75;
/// The share of the rounds at the rate of a full bottleneck that had a queue.
const OFTEN: f64 = 0.25;
/// A train that tells anything, segments.
const TRAIN: f64 = 5.0;
/// A stream of this share of the rate of its trains has hardly a gap in it.
const CONTINUOUS: f64 = 0.6;
/// Trains that are this much faster than any round show that there was more to be had.
const FASTER: f64 = 1.1;

/// The first wait of a timer is at least a second in RFC 6298 (section 2.4), and seldom more than twice that.
const NO_FIRST_TIMER: Span = Span::from_millis(2_500);

pub(super) fn claims(facts: &Facts, claims: &mut Vec<Claim>) {
    for g in &facts.gone {
        let mut d = g.darkness(facts.done);
        if !g.for_good && g.gap.is_none() && d.back.is_none() {
            (d.dark, d.repaired) = tried(facts, d.start, d.dark, d.repaired);
        }
        // It was dark for certain if it was an outage.
        let outage = g.sure(facts.flow).certainty;
        let mut add = |start, end, why, sure, basis| claims.push(Claim { start, end, why, sure, basis });
        add(d.start, d.dark, Why::Outage, outage, Basis::PathDark);
        // Nothing shows when it came back until something comes through: half of that time, to be fair to both.
        let back = d.back.unwrap_or(d.dark + (d.repaired - d.dark) / 2);
        add(d.dark, back, Why::Outage, outage.max(Certainty::Likely), Basis::PathDark);
        // Where ACKs set the repair off nobody waited: what else holds meanwhile counts.
        if d.by_timer {
            add(back, d.repaired, Why::Timer, Certainty::Likely, Basis::PathBack);
        }
    }
    if let Some(t) = facts.flow.too_large {
        let end = t.until.unwrap_or(facts.done).max(t.since);
        claims.push(Claim {
            start: t.since,
            end,
            why: Why::TooLarge,
            sure: Certainty::Likely,
            basis: Basis::SizesApart,
        });
    }
    claims.extend(facts.losses().filter_map(|e| full_while_repairing(facts, e)));
    match facts.afar() {
        true => claims.extend(facts.timers.iter().flat_map(|i| silences(i))),
        false => chains(facts, claims),
    }
}

/// Waits of the timer, each of which began as the one before it ended: the repairs between them vanished.
fn chain<'a>(timers: &'a [&'a IdleRow]) -> &'a [&'a IdleRow] {
    // A repair that was sent and triggered nothing is followed by the next wait of the timer at once.
    let apart = |w: &[&IdleRow]| w[1].start - w[0].end > AT_ONCE;
    let many = timers.windows(2).position(apart).map_or(timers.len(), |at| at + 1);
    &timers[..many]
}

/// The repairs of a chain of waits, as far as its episode tells: known to have arrived, as both captures show, so that ACKs
/// alone vanished; or perhaps, since single ACKs were lost at other times, too.
fn of_repairs(facts: &Facts, chain: &[&IdleRow]) -> Option<Certainty> {
    let within = |e: &&&EpisodeRow| e.start <= chain[0].end && e.end.is_none_or(|end| end >= chain[0].start);
    match facts.episodes.iter().find(within) {
        Some(e) if facts.flow.vantage == Vantage::Both && e.lost_copies == Some(0) => None,
        Some(e) if outages::acks_lost_singly(&facts.episodes, e.number) => Some(Certainty::Open),
        _ => Some(Certainty::Likely),
    }
}

/// A timer that fired again and again in vain: two repairs in a row are hardly lost by chance, and with them went what
/// else was in flight. It may be within an episode that had begun before.
fn chains(facts: &Facts, claims: &mut Vec<Claim>) {
    let mut rest = &facts.timers[..];
    while !rest.is_empty() {
        let chain = chain(rest);
        if let [first, .., last] = chain
            && !facts.flow.too_large.is_some_and(|t| t.holds(first.end, facts.end))
            && let Some(sure) = of_repairs(facts, chain)
        {
            let back = last.start + (last.end - last.start) / 2;
            let dark =
                Claim { start: first.start, end: back, why: Why::Outage, sure, basis: Basis::TimersInVain };
            // That it waited for its timer is likely, whatever of that time the path was dark.
            claims.extend([
                dark,
                Claim { start: back, end: last.end, why: Why::Timer, sure: Certainty::Likely, ..dark },
            ]);
        }
        rest = &rest[chain.len()..];
    }
}

/// The same where data is seen as it arrives: no timer waits so long before it fires for the first time, and one that
/// backs off has fired last at half of the silence (RFC 6298 section 5.5).
fn silences(i: &IdleRow) -> Vec<Claim> {
    let length = i.end - i.start;
    if length < NO_FIRST_TIMER {
        return Vec::new();
    }
    let back = i.start + length / 4 * 3;
    let dark = Claim {
        start: i.start,
        end: back,
        why: Why::Outage,
        sure: Certainty::Likely,
        basis: Basis::TimersInVain,
    };
    vec![dark, Claim { start: back, end: i.end, why: Why::Timer, ..dark }]
}

/// The timer's repairs that went into the dark: each wait but the last was followed by the next. Gives when the last of
/// them left, and when that left which came through.
fn tried(facts: &Facts, start: Time, dark: Time, repaired: Time) -> (Time, Time) {
    let from = facts.timers.partition_point(|i| i.end <= start);
    let Some(first) = facts.timers.get(from).filter(|i| i.start <= repaired.max(dark)) else {
        return (dark, repaired);
    };
    let last = chain(&facts.timers[from..]).last().unwrap_or(first);
    let dark = dark.max(last.start).min(last.end);
    (dark, last.end.max(dark))
}

/// Repairs that went on beside a full bottleneck: over the whole of it nearly as much was delivered as when a queue stood.
/// Without SACK what arrives shows only at its end.
fn full_while_repairing(facts: &Facts, e: &EpisodeRow) -> Option<Claim> {
    let (path, end) = facts.path.filter(|p| p.how == How::Full).zip(e.end)?;
    let rate = e.delivered_bytes as f64 / (end - e.start).as_secs().max(1e-9);
    (rate >= FULL_REPAIRING * path.bytes_per_s).then_some(Claim {
        start: e.start,
        end,
        why: Why::BottleneckFull,
        sure: Certainty::Likely,
        basis: Basis::PathRate,
    })
}

/// A queue stands at the bottleneck all the while. Round trips that are longer because a host was busy, or answered late,
/// are none: what a bottleneck lets through while a queue stands comes at its own rate, with hardly a gap.
fn stands(facts: &Facts, r: &RoundFacts) -> bool {
    let Some((queued, rtt)) = r.queued.zip(facts.rtt) else { return false };
    let held = r.row.rate() * queued;
    // A burst makes a queue of its own, which is gone before the next.
    let long = r.row.train_bytes as f64 >= TRAIN * facts.mss;
    let clumped = long && r.row.train_rate().is_some_and(|train| r.row.rate() < CONTINUOUS * train);
    !clumped && !idles(facts, r) && queued >= (OF_RTT * rtt).max(JITTER_S) && held >= HELD * facts.mss
}

/// Far less comes through around this round than the path lets through: its bottleneck has nothing to do for a part of
/// that time.
pub(super) fn idles(facts: &Facts, r: &RoundFacts) -> bool {
    facts.by_trains.is_some_and(|rate| r.rate_around.max(r.row.rate()) < CONTINUOUS * rate)
}

/// Even the luckiest packet of the round waited, and trains show that the path is no faster.
fn all_waited(facts: &Facts, r: &RoundFacts) -> bool {
    if r.row.rtt_n < 2 || facts.by_trains.is_none() {
        return false;
    }
    let waited = r.row.rtt_min.map(Span::as_secs).zip(facts.rtt).map(|(luckiest, least)| luckiest - least);
    waited.is_some_and(|waited| waited >= ALL_WAITED * r.queued.unwrap_or(0.0))
}

pub(super) fn round(facts: &Facts, r: &RoundFacts) -> Told {
    if stands(facts, r) {
        let sure = if all_waited(facts, r) { Certainty::Known } else { Certainty::Likely };
        return Some((Why::BottleneckFull, sure, Basis::Queue));
    }
    let path = facts.path.filter(|p| p.how == How::Full)?;
    (r.row.rate() >= FULL * path.bytes_per_s).then_some((
        Why::BottleneckFull,
        Certainty::Likely,
        Basis::PathRate,
    ))
}

/// The value below which half of the weight lies.
fn weighted_median(mut values: Vec<(f64, f64)>) -> Option<f64> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|v| v.1).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    values.into_iter().find_map(|(value, weight)| {
        sum += weight;
        (sum >= half).then_some(value)
    })
}

/// A queue stood in a good part of the rounds at this rate. Where few of them had one, the rate does without: what held
/// those up was a host.
fn queues_at(facts: &Facts, rate: f64) -> bool {
    let there = facts.rounds.iter().filter(|r| facts.is_whole(&r.row) && r.row.rate() >= FULL * rate);
    let (all, queued) = there.fold((0.0, 0.0), |(all, queued), r| {
        let length = r.row.length().as_secs();
        (all + length, queued + if stands(facts, r) { length } else { 0.0 })
    });
    queued >= OFTEN * all
}

/// The rate of the trains that are long enough to tell.
pub(super) fn by_trains(facts: &Facts) -> Option<f64> {
    // What a sender spaced itself says nothing of the path.
    let spaced_by_path = |r: &&RoundFacts| !r.unexplained() || facts.afar();
    let trains = facts.rounds.iter().filter(spaced_by_path);
    let trains = trains.filter(|r| r.row.train_bytes as f64 >= TRAIN * facts.mss);
    weighted_median(trains.filter_map(|r| Some((r.row.train_rate()?, r.row.train_bytes as f64))).collect())
}

/// What the path can carry.
pub(super) fn rate_of(facts: &Facts) -> Option<PathRate> {
    let stood = |r: &&RoundFacts| facts.is_whole(&r.row) && r.row.delivered_bytes > 0 && stands(facts, r);
    let full: Vec<_> = facts.rounds.iter().filter(stood).collect();
    let rates = full.iter().map(|r| (r.row.rate(), r.row.length().as_secs())).collect();
    if let Some(bytes_per_s) =
        weighted_median(rates).filter(|rate| full.len() >= 2 && queues_at(facts, *rate))
    {
        return Some(PathRate { bytes_per_s, how: How::Full });
    }
    let whole = facts.rounds.iter().filter(|r| facts.is_whole(&r.row));
    let most = whole.map(|r| r.row.rate()).fold(0.0, f64::max);
    match facts.by_trains {
        Some(rate) if rate >= FASTER * most => Some(PathRate { bytes_per_s: rate, how: How::Trains }),
        _ => (most > 0.0).then_some(PathRate { bytes_per_s: most, how: How::Reached }),
    }
}
