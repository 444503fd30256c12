//! SACK blocks told of data that was never sent: something on the way numbers the data anew, and leaves the blocks as they are.

use super::{Finding, Kind};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::Role;
use analysis::words::count;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let n = facts.conversation.row(side)?.ack_way.sack_of_nothing;
    (n > 0).then(|| Finding {
        kind: Kind::SackOfNothing,
        certainty: Certainty::Known,
        text: format!(
            "{} had SACK blocks of data that {} never sent: something on the path changes sequence numbers, and its SACK is of \
             no use.",
            count(n, "ACK"),
            Role::of(side).in_words(),
        ),
    })
}
