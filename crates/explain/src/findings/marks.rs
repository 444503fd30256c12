//! Routers marked packets in place of dropping them (RFC 3168), and the sender was told.

use super::{Finding, Kind};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::Role;
use analysis::words::grouped;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let ecn = &facts.conversation.row(side)?.ecn;
    let marked = ecn.marked_packets.filter(|n| *n > 0);
    let echoed = ecn.echoes.filter(|n| *n > 0);
    let (n, what) = match (marked, echoed) {
        (Some(n), _) => (n, "packets were marked by a router (ECN)"),
        (None, Some(n)) => (n, "ACKs said that packets had been marked by a router (ECN)"),
        (None, None) => return None,
    };
    Some(Finding {
        kind: Kind::Marks,
        certainty: Certainty::Known,
        text: format!("{} {what}, data of {}.", grouped(n.into()), Role::of(side).in_words()),
    })
}
