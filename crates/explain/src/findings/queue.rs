//! Round trips grew to several times the least one: a long queue stood on the path.

use super::{Finding, Kind};
use crate::certainty::Certainty;
use crate::paths::How;
use crate::waits::Facts;
use analysis::flow_facts::round_trip;
use analysis::rows::Role;
use analysis::words::seconds;

/// A queue of this many least round trips, on average, is a long one.
const LONG: f64 = 1.0;
/// Fewer samples tell little.
const SAMPLES: u64 = 10;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let flow = facts.conversation.row(side)?;
    let trip = round_trip(flow).filter(|t| t.n >= SAMPLES)?;
    let queue = trip.mean - trip.min;
    // Without a full path the time may be that of a receiver that delays its ACKs.
    let full = facts.paths[side].capacity.is_some_and(|c| c.how == How::Full);
    let matters = full && queue > facts.conversation.least_queue().as_secs() && queue > LONG * trip.min;
    matters.then(|| Finding {
        kind: Kind::Queue,
        certainty: Certainty::Likely,
        text: format!(
            "Packets of {} waited in a queue: the round trip was {} on average, and {} at least.",
            Role::of(side).in_words(),
            seconds(trip.mean),
            seconds(trip.min)
        ),
    })
}
