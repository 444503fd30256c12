//! Several segments of a window were lost, and no SACK says which (RFC 2018): a repair takes a round trip for each hole.

use super::{Finding, Kind};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::Role;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let flow = facts.conversation.row(side)?;
    let matters = flow.sack_permitted == Some(false) && flow.largest_burst.max(flow.max_backoff) > 1;
    matters.then(|| Finding {
        kind: Kind::NoSack,
        certainty: Certainty::Known,
        text: format!(
            "SACK was not agreed on, so {} learns of one lost segment in each round trip only.",
            Role::of(side).in_words()
        ),
    })
}
