//! Both hosts answered each other's ACKs with the same ACKs again (RFC 5961 section 7 limits their rate).

use super::{Finding, Kind};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::words::grouped;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    // One sentence for both directions.
    let of = |side: usize| facts.conversation.row(side).map_or(0, |flow| flow.ack_way.looped);
    let first = (0..2).find(|side| facts.conversation.row(*side).is_some());
    let packets = of(0) + of(1);
    (packets > 0 && first == Some(side)).then(|| Finding {
        kind: Kind::AckLoop,
        certainty: Certainty::Known,
        text: format!(
            "The hosts answered each other's ACKs with ACKs that said nothing new: {} packets.",
            grouped(packets)
        ),
    })
}
