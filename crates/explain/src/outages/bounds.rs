//! When an outage began and ended, each between two times that the packets around it give.

use super::gone::{BEHIND, Bounds, Dark, Gone, Shown, queued};
use analysis::flow_facts::round_trip;
use analysis::rows::{FlowRow, IdleRow};
use wire::{Span, Time};

/// A packet passes the link that may be dark after it was sent and before it arrives: that much is not known, whatever
/// the queues.
fn on_the_way(g: &Gone, flow: &FlowRow) -> Span {
    let usual = round_trip(flow).map_or(Span::ZERO, |r| Span::from_secs_f64(r.mean + r.stddev));
    g.rtt_before.map_or(usual, |r| r.max(usual))
}

/// The way from a link to a host and back takes no longer.
pub(super) fn least_trip(flow: &FlowRow) -> Span {
    round_trip(flow).map_or(Span::ZERO, |r| Span::from_secs_f64(r.min))
}

/// A receiver keeps back the ACK of what came last for so long (Linux; RFC 9293 §3.8.6.3 allows 500 ms).
const DELAYED: Span = Span::from_millis(40);

/// `gaps`: in which nothing was sent (where data arrives: nothing arrived), in order of time. `over`: when the episode
/// that repaired it ended.
pub(super) fn of(g: &Gone, flow: &FlowRow, gaps: &[&IdleRow], over: Option<Time>) -> Bounds {
    let trip = on_the_way(g, flow);
    match g.shown {
        Shown::ArrivalsStopped | Shown::TimerEndedIt | Shown::ProbeEndedIt => {
            // What arrived last passed the link before it went dark, what arrived first after it was back. The way from
            // the link to here takes less than the least round trip; what vanished first left within one behind.
            let (last, first) = g.silence.unwrap_or((g.start, g.start));
            let trip = trip.min(first - last);
            let way = least_trip(flow).min(trip);
            // What a sender sent as the path came back arrives within a round trip; what its timer sent, whenever.
            let sending = g.shown == Shown::ArrivalsStopped;
            let earliest = if sending { first - trip } else { last };
            // By gaps alone the last arrival is told no better than the queue was alike: while it grew, it came earlier.
            let before = if sending && !g.heard { trip - way / 4 } else { way };
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
            let before = idle.map_or(g.start - trip.max(BEHIND), |i| i.start);
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
    let by_timer = |i: &&&IdleRow| i.cause.by_timer();
    let row = gaps.iter().skip_while(|i| i.end <= start).take_while(by_timer);
    row.fold(None, |last: Option<Time>, i| match last {
        Some(t) if i.start > t + BEHIND => last,
        _ => Some(i.end),
    })
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
