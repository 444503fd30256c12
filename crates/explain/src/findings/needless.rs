//! Segments were sent again though they had arrived.

use super::{Finding, Kind};
use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::rows::Role;
use analysis::words::grouped;

/// Below this share of all segments it is no matter.
const SHARE: f64 = 0.01;

pub(super) fn ask(facts: &Facts<'_>, side: usize) -> Option<Finding> {
    let flow = facts.conversation.row(side)?;
    let matters = flow.needless > 0 && flow.needless as f64 >= SHARE * flow.segments as f64;
    matters.then(|| Finding {
        kind: Kind::Needless,
        certainty: if flow.vantage.is_remote() { Certainty::Likely } else { Certainty::Known },
        text: match flow.needless {
            1 => format!("{} sent 1 segment again that had arrived.", start(side)),
            n => format!("{} sent {} segments again that had arrived.", start(side), grouped(n)),
        },
    })
}

fn start(side: usize) -> &'static str {
    match Role::of(side) {
        Role::Client => "The client",
        Role::Server => "The server",
    }
}
