//! Facts about a connection that own no time of their own and are worth a sentence. Each has a file, and a line in the list.

mod ack_loop;
mod acks_held;
mod acks_lost;
mod answered_on_the_way;
mod closed_early;
mod marks;
mod needless;
mod no_sack;
mod queue;
mod sack_of_nothing;

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
        AcksLost = "acks-lost", "lost ACKs";
        AcksHeld = "acks-held", "ACKs that were held on their way";
        AckLoop = "ack-loop", "an ACK loop";
        SackOfNothing = "sack-of-nothing", "SACK blocks of data that was never sent";
        AnsweredOnTheWay = "answered-on-the-way", "a handshake that was answered on the way";
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

const ALL: [Ask; 10] = [
    closed_early::ask,
    no_sack::ask,
    needless::ask,
    queue::ask,
    marks::ask,
    acks_lost::ask,
    acks_held::ask,
    ack_loop::ask,
    sack_of_nothing::ask,
    answered_on_the_way::ask,
];

pub fn all(facts: &Facts<'_>) -> Vec<Finding> {
    ALL.iter().flat_map(|ask| [0, 1].into_iter().filter_map(|side| ask(facts, side))).collect()
}
