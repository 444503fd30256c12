//! The start: the handshake, and the first slow start.

use super::facts::{Facts, RoundFacts};
use super::{Basis, Claim, Told, Why};
use crate::answer::certainty::Certainty;
use crate::rows::IdleCause;
use wire::Time;

/// Slow start at least multiplies the window by this each round trip, delayed ACKs included.
const GROWS: f64 = 1.2;
/// So many rounds without growth end it: ACKs that come in clumps make rounds uneven.
const PATIENCE: usize = 3;

pub(super) fn claims(facts: &Facts, claims: &mut Vec<Claim>) {
    let flow = facts.flow;
    let mut add = |start, end, why, sure, basis| claims.push(Claim { start, end, why, sure, basis });
    let handshakes = facts.idle.iter().filter(|i| i.cause == IdleCause::Handshake);
    handshakes.for_each(|i| add(i.start, i.end, Why::Handshake, Certainty::Known, Basis::Handshake));
    let over = flow.handshake.map_or(facts.start, |h| facts.start + h);
    add(facts.start, over, Why::Handshake, Certainty::Known, Basis::Handshake);
    if let Some(first) = flow.first_data {
        // Until then it was not worth a row: the program took its time, or the other host had to speak first.
        add(over, first, Why::NothingToSend, Certainty::Likely, Basis::Growth);
        // The first few segments, before there was anything to make rounds of.
        let begun = facts.rounds.first().map_or(first, |r| r.row.start);
        add(first, begun, Why::SlowStart, Certainty::Likely, Basis::Growth);
    }
}

/// When the first slow start was over: something was lost, or the flight stopped growing.
pub(super) fn over(facts: &Facts) -> Time {
    let first_loss = facts.episodes.first().map_or(facts.done, |e| e.start);
    let flights: Vec<f64> = facts.rounds.iter().map(|r| r.flight).collect();
    let still = (1..flights.len()).find(|i| {
        let next = &flights[*i..(*i + PATIENCE).min(flights.len())];
        next.len() == PATIENCE && next.iter().all(|f| *f < GROWS * flights[*i - 1])
    });
    still.map_or(facts.done, |i| facts.rounds[i].row.start).min(first_loss)
}

/// The first slow start.
pub(super) fn first(facts: &Facts, r: &RoundFacts) -> Told {
    let sure = if facts.afar() { Certainty::Likely } else { Certainty::Known };
    (!r.after_loss && r.row.start < facts.started).then_some((Why::SlowStart, sure, Basis::Growth))
}

/// What follows on it without a loss.
pub(super) fn later(facts: &Facts, r: &RoundFacts) -> Told {
    (!r.after_loss && facts.grows).then_some((Why::Growing, Certainty::Likely, Basis::Growth))
}
