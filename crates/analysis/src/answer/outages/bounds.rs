//! When an outage began and ended, each between two times that the packets around it give.

use super::{Gone, queued};
use crate::answer::certainty::{Evidence, Grounds};
use crate::answer::grounds::Sure;
use crate::answer::path::round_trip;
use crate::rows::{FlowRow, IdleCause, IdleRow};
use serde::{Deserialize, Serialize};
use wire::{Span, Time};

/// What the packets showed of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Copies were sent into it and did not arrive.
    CopiesVanished,
    /// A window was in flight, and a timer fired: the ACKs vanished.
    AcksVanished,
    /// Nothing arrived for a while; then came new data, sent while the path was dark or just after.
    ArrivalsStopped,
    /// The same, and what came first was sent by a timer.
    TimerEndedIt,
    /// Nothing arrived for a while; then what had arrived was sent again: the ACKs from here vanished.
    AcksUnheard,
    /// Nothing came back to the very end.
    Died,
}

/// One outage as the link had it. Seconds from the start of the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dark {
    pub begin_earliest_s: f64,
    pub begin_latest_s: f64,
    pub end_earliest_s: f64,
    /// `None`: that it ended does not show.
    pub end_latest_s: Option<f64>,
    #[serde(skip)]
    pub sure: Sure,
}

/// Times between which something happened; the last is `None` where it lasts to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub begin: (Time, Time),
    pub end: (Time, Option<Time>),
}

/// A packet passes the link that may be dark after it was sent and before it arrives: that much is not known, whatever
/// the queues.
fn on_the_way(g: &Gone, flow: &FlowRow) -> Span {
    let usual = round_trip(flow).map_or(Span::ZERO, |r| Span::from_secs_f64(r.mean + r.stddev));
    g.rtt_before.map_or(usual, |r| r.max(usual))
}

/// The way from a link to a host and back takes no longer.
fn least_trip(flow: &FlowRow) -> Span {
    round_trip(flow).map_or(Span::ZERO, |r| Span::from_secs_f64(r.min))
}

/// A receiver keeps back the ACK of what came last for so long (Linux; RFC 9293 §3.8.6.3 allows 500 ms).
const DELAYED: Span = Span::from_millis(40);

/// `gaps`: in which nothing was sent (where data arrives: nothing arrived), in order of time. `over`: when the episode
/// that repaired it ended.
pub(super) fn of(g: &Gone, flow: &FlowRow, gaps: &[&IdleRow], over: Option<Time>) -> Bounds {
    let trip = on_the_way(g, flow);
    match g.shown {
        Shown::ArrivalsStopped | Shown::TimerEndedIt => {
            // What arrived last passed the link before it went dark, what arrived first after it was back. The way from
            // the link to here takes less than the least round trip; what vanished first left within one behind.
            let (last, first) = g.silence.unwrap_or((g.start, g.start));
            let trip = trip.min(first - last);
            let way = least_trip(flow).min(trip);
            // What a sender sent as the path came back arrives within a round trip; what its timer sent, whenever.
            let earliest = if g.shown == Shown::TimerEndedIt { last } else { first - trip };
            // By gaps alone the last arrival is told no better than the queue was alike: while it grew, it came earlier.
            let before = if g.shown == Shown::TimerEndedIt { way } else { trip - way / 4 };
            Bounds {
                begin: (last - before, last + (trip - before).max(way / 4)),
                end: (earliest, Some(first)),
            }
        }
        Shown::AcksUnheard => {
            // What was in flight went on arriving for as long as the queue held it: what the timer repeats first is what
            // the sender had not heard of. The ACK of what came last vanished, too, or the sender had gone on.
            let (last, repaired) = g.silence.unwrap_or((g.start, g.start));
            let (arrived, took) = g.unheard.unwrap_or((last, None));
            let took = took.unwrap_or(trip).max(trip);
            let begin = arrived - (took + took / 8 + least_trip(flow));
            let latest = (begin + (repaired - last)).min(arrived + DELAYED);
            Bounds { begin: (begin, latest), end: (last, Some(repaired)) }
        }
        Shown::CopiesVanished | Shown::AcksVanished | Shown::Died => {
            let next = gaps.partition_point(|i| i.start < g.start);
            let idle = next.checked_sub(1).map(|i| gaps[i]).filter(|i| i.end >= g.start);
            // The copy before the first that was lost arrived: it left at most an idle threshold before.
            let before = idle.map_or(g.start - trip.max(super::BEHIND), |i| i.start);
            let met = g.start + trip + Span::from_secs_f64(queued(g.rtt_before, flow).unwrap_or(0.0));
            let acks = g.shown == Shown::AcksVanished;
            let silent = gaps.get(next).map_or(g.start, |i| i.start);
            let begin = if acks { (before - trip, silent.max(g.start) + trip) } else { (before, met) };
            // The timer's last packet may be the first that came through, whichever it was taken for.
            let fired = fired_last(g.start, &gaps[next.saturating_sub(1)..]);
            let latest = g.back.max(fired).or(g.first_repair.filter(|_| !acks)).or(over).map(|t| t + trip);
            let dark = if acks { g.start } else { g.dark };
            let end = if g.shown == Shown::Died { None } else { latest };
            Bounds { begin, end: (dark, end.map(|t| t.max(dark))) }
        }
    }
}

/// When the timer fired last in a row of silences that only it ended.
fn fired_last(start: Time, gaps: &[&IdleRow]) -> Option<Time> {
    let by_timer = |i: &&&IdleRow| matches!(i.cause, IdleCause::Timeout | IdleCause::TimeoutBackoff);
    let row = gaps.iter().skip_while(|i| i.end <= start).take_while(by_timer);
    row.fold(None, |last: Option<Time>, i| match last {
        Some(t) if i.start > t + super::BEHIND => last,
        _ => Some(i.end),
    })
}

pub(super) fn grounds(g: &Gone) -> Grounds {
    let stopped = matches!(g.shown, Shown::ArrivalsStopped | Shown::TimerEndedIt | Shown::AcksUnheard);
    Grounds::default()
        .with_if(matches!(g.shown, Shown::TimerEndedIt | Shown::AcksUnheard), Evidence::TimerSilence)
        .with_if(!stopped && g.dark > g.start, Evidence::StillSending)
        .with_if(g.shown == Shown::ArrivalsStopped, Evidence::StillSending)
        .with_if(!stopped && g.dark - g.last >= super::TIMER, Evidence::RepairsLost)
        .with_if(g.copies >= u64::from(super::COPIES), Evidence::Run)
        .with_if(g.copies == 1, Evidence::Lone)
        .with_if(g.lost_acks.is_some_and(|n| n > 0), Evidence::AcksLost)
        .with_if(matches!(g.shown, Shown::AcksVanished | Shown::AcksUnheard), Evidence::AcksUnheard)
        .with_if(g.for_good, Evidence::Unfinished)
}

impl Dark {
    pub(super) fn of(g: &Gone, flow: &FlowRow, start: Time) -> Dark {
        // What began before the capture did, or seems to by a clock that was set, began no later than it.
        let at = |t: Time| (t - start).max(Span::ZERO).as_secs();
        let b = g.bounds;
        Dark {
            begin_earliest_s: at(b.begin.0),
            begin_latest_s: at(b.begin.1),
            end_earliest_s: at(b.end.0.max(b.begin.0)),
            end_latest_s: b.end.1.map(at),
            sure: g.sure(flow),
        }
    }
}
