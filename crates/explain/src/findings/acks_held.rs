//! ACKs that were sent apart came together: something on their way, as a Wi-Fi or cable link does, held them back.

use super::{Finding, Kind};
use crate::assumptions::{ENOUGH, SHARED};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::Role;
use analysis::words::grouped;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let flow = facts.conversation.row(side)?;
    let held = flow.ack_way.held;
    // Fewer make no bursts.
    (held >= ENOUGH && held as f64 >= SHARED * flow.acks as f64).then(|| Finding {
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
