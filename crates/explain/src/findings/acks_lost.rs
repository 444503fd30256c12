//! ACKs were lost on their way, as both captures tell.

use super::{Finding, Kind};
use crate::assumptions::MANY_ACKS;
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::Role;
use analysis::words::grouped;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let flow = facts.conversation.row(side)?;
    let lost = flow.ack_way.lost.filter(|n| *n > 0)?;
    let all = flow.acks + lost;
    (lost as f64 >= MANY_ACKS * all as f64).then(|| Finding {
        kind: Kind::AcksLost,
        certainty: Certainty::Known,
        text: format!(
            "{} of {} packets of {} were lost on their way, most of them ACKs.",
            grouped(lost),
            grouped(all),
            Role::of(1 - side).in_words(),
        ),
    })
}
