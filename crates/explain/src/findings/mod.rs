//! Facts about a connection that own no time of their own and are worth a sentence. Each has a file, and a line in the list.

mod closed_early;
mod marks;
mod needless;
mod no_sack;
mod queue;

use crate::certainty::Certainty;
use crate::waits::Facts;
use analysis::closed_sets;

closed_sets! {
    /// What a finding is about.
    "finding" Kind {
        ClosedEarly = "closed-early", "a program that closed early";
        NoSack = "no-sack", "losses without SACK";
        Needless = "needless-repairs", "needless repairs";
        Queue = "queue", "a queue on the path";
        Marks = "marks", "congestion marks";
    }
}

/// A fact worth a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub kind: Kind,
    pub certainty: Certainty,
    pub text: String,
}

/// What holds of one direction (0: the client's data, 1: the server's), if it does.
type Ask = fn(&Facts<'_>, usize) -> Option<Finding>;

const ALL: [Ask; 5] = [closed_early::ask, no_sack::ask, needless::ask, queue::ask, marks::ask];

pub fn all(facts: &Facts<'_>) -> Vec<Finding> {
    ALL.iter().flat_map(|ask| [0, 1].into_iter().filter_map(|side| ask(facts, side))).collect()
}
