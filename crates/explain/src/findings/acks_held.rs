//! ACKs that were sent apart came together: something on their way, as a Wi-Fi or cable link does, held them back.

use super::{Finding, Kind};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::Role;
use analysis::words::grouped;

/// Fewer, or a smaller share of all ACKs, make no bursts.
const FEWEST: u64 = 10;
const SHARE: f64 = 0.1;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let flow = facts.conversation.row(side)?;
    let held = flow.ack_way.held;
    (held >= FEWEST && held as f64 >= SHARE * flow.acks as f64).then(|| Finding {
        kind: Kind::AcksHeld,
        certainty: Certainty::Known,
        text: format!(
            "{} of {} ACKs of {} came together with the one before, though they were sent apart: something on their way held \
             them back.",
            grouped(held),
            grouped(flow.acks),
            Role::of(1 - side).in_words(),
        ),
    })
}
