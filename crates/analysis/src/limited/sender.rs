//! The sender's own: a buffer or window that does not grow, and pacing below what the path carries.

use super::facts::{Facts, MOSTLY, RoundFacts};
use super::{Basis, How, Told, Why};
use crate::answer::certainty::Certainty;
use crate::rows::Limit;

/// A flight of this share of the ceiling touches it.
const TOUCHES: f64 = 0.85;
/// A window that grew by less from the first third behind slow start to the last does not grow, nor does one that grew by
/// less from one third to the next.
const FLAT: f64 = 1.15;
const FLAT_THIRD: f64 = 1.04;
/// Fewer rounds do not show whether it does.
const LEAST: usize = 4;
/// Linux paces in bursts of about 1 ms at its rate, and two segments at least (tcp_tso_autosize, sk_pacing_shift).
const BURST_S: f64 = 0.001;
const BURST_SEGMENTS: f64 = 2.0;
const BURST_OFF: f64 = 0.25;
/// What an ACK lets go leaves so soon after it, or within so many times of what this host takes in slow start.
const PROMPT_S: f64 = 0.00005;
/// A beat that falls so close behind the ACKs is hardly chance.
const INSTANT_S: f64 = 0.00001;
const SLOWER: f64 = 4.0;
/// Of the window, what leaves that third, and a segment, free.
const ROOM: f64 = 0.6;

/// Rounds behind slow start, before anything was lost.
fn quiet<'a>(facts: &'a Facts) -> impl Iterator<Item = &'a RoundFacts> {
    facts.rounds.iter().filter(|r| !r.after_loss && r.row.start >= facts.started)
}

/// The flight grows from the first quiet rounds to the last.
pub(super) fn still_grows(facts: &Facts) -> bool {
    let flights: Vec<f64> = quiet(facts).map(|r| r.flight).collect();
    let third = flights.len() / 3;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let [a, b, c] = [0, third, flights.len() - third].map(|at| mean(&flights[at..at + third]));
    flights.len() >= LEAST && c > FLAT * a && b > FLAT_THIRD * a && c > FLAT_THIRD * b
}

/// What it sent at once is what a pacing sender sends at once.
fn in_pacers_bursts(facts: &Facts, r: &RoundFacts) -> bool {
    let at_once = r.row.sent_bytes as f64 / f64::from(r.row.waited.times.max(1));
    let expected = (BURST_SEGMENTS * facts.mss).max(r.row.rate() * BURST_S);
    (at_once / expected - 1.0).abs() <= BURST_OFF
}

/// The same, and it never sent faster.
pub(super) fn paces(facts: &Facts, r: &RoundFacts) -> bool {
    !facts.afar() && !facts.was_faster(r) && in_pacers_bursts(facts, r)
}

/// This sender spaces its data itself, most of the time: no ACK lets it go, and it leaves in a pacer's bursts.
pub(super) fn is_a_pacer(facts: &Facts) -> bool {
    let length = |r: &RoundFacts| r.row.length().as_secs();
    let all: f64 = facts.rounds.iter().map(length).sum();
    let paced = facts.rounds.iter().filter(|r| not_by_acks(facts, r) && in_pacers_bursts(facts, r));
    !facts.afar() && paced.map(length).sum::<f64>() > MOSTLY * all
}

/// Room in every window does not show. A sender that paces may be as slow as this by its pace or by the window that goes
/// with it (BBR, whose model of the path may be older than the path is); and where as much is in flight as ever though
/// less comes through, the round trip became longer and the window did not.
pub(super) fn may_be_held(facts: &Facts, r: &RoundFacts) -> bool {
    // From afar it is reckoned by round trips, of which a round has the mean.
    let ever = match facts.afar() {
        true => r.rate_so_far * facts.rtt.unwrap_or(f64::INFINITY),
        false => r.flight_so_far,
    };
    let as_ever = r.flight >= TOUCHES * ever;
    facts.was_faster(r) && (as_ever || facts.pacer && in_pacers_bursts(facts, r))
}

/// Data follows on ACKs as soon as this host can send it: a program whose beat is an ACK's by chance is later than that.
pub(super) fn at_once(facts: &Facts, r: &RoundFacts) -> bool {
    within(facts, r, PROMPT_S)
}

/// So soon, or as soon as this host can.
fn within(facts: &Facts, r: &RoundFacts, soon: f64) -> bool {
    let soon = soon.max(SLOWER * facts.turn.unwrap_or(0.0));
    r.row.waited.turn_mean().is_none_or(|turn| turn.as_secs() <= soon)
}

/// Neither an ACK nor a window let the data go: most of it came so long after an ACK that the ACK is chance.
pub(super) fn not_by_acks(facts: &Facts, r: &RoundFacts) -> bool {
    r.unexplained() || !facts.afar() && r.share(r.row.waited.ack) > MOSTLY && !at_once(facts, r)
}

/// Whoever fills a bottleneck makes a queue there, at the start at least (BBR drains what its startup made), or loses
/// something: data that came evenly all along without either was sent so.
fn no_queue_ever(facts: &Facts) -> bool {
    facts.episodes.is_empty() && facts.path.is_some_and(|p| p.how != How::Full)
}

/// An ACK lets go about what it acknowledged, not most of what was in flight.
fn as_acked(r: &RoundFacts) -> bool {
    2 * r.row.sent_bytes <= r.row.flight_bytes * u64::from(r.row.waited.times)
}

/// The advertised window had room for all that a sender waits to send at once: Linux puts a packet of several segments off
/// until a third of the window is free (tcp_tso_should_defer, tcp_tso_win_divisor).
fn room_left(r: &RoundFacts) -> bool {
    r.window_so_far.is_some_and(|window| r.flight <= ROOM * window as f64)
}

pub(super) fn round(facts: &Facts, r: &RoundFacts) -> Told {
    if !r.after_loss {
        if facts.afar() && r.unexplained() && !facts.pushes && no_queue_ever(facts) {
            // A program that gives its data evenly looks the same from here.
            return Some((Why::Pacing, Certainty::Open, Basis::Paced));
        }
        let by_ack = r.share(r.row.waited.ack) > MOSTLY;
        return match () {
            () if paces(facts, r) && not_by_acks(facts, r) => {
                Some((Why::Pacing, Certainty::Likely, Basis::Paced))
            }
            () if by_ack && at_once(facts, r) && quiet(facts).count() >= LEAST => {
                let known = !facts.afar() && as_acked(r) && within(facts, r, INSTANT_S) && room_left(r);
                let sure = match () {
                    () if known => Certainty::Known,
                    // From there a program that gives its data evenly looks the same; one that pauses may.
                    () if facts.afar() && facts.paused() => Certainty::Open,
                    () => Certainty::Likely,
                };
                Some((Why::Buffer, sure, Basis::Plateau))
            }
            () => None,
        };
    }
    let inference = &facts.flow.inference;
    let own = matches!(inference.limit, Some((Limit::SenderWindow, _)));
    let (ceiling, _) = inference.window_limit_bytes.filter(|_| own && !facts.afar() && !facts.by_model())?;
    (r.flight >= TOUCHES * ceiling as f64).then_some((Why::Buffer, Certainty::Likely, Basis::Plateau))
}
