//! What is said of a conversation.

use crate::cause::Cause;
use crate::certainty::Certainty;
use crate::findings::Finding;
use crate::outages::Outages;
use crate::paths::How;
use analysis::rows::Role;
use wire::{Span, Time};

/// Time that one cause owns.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    pub cause: Cause,
    /// Whose doing it is, where that is a host's: the program that did not write, the host that did not read or answer.
    pub by: Option<Role>,
    pub time: Span,
    /// Of all the time in which something was owed.
    pub share: f64,
    pub certainty: Certainty,
    /// When it first and last held.
    pub first: Time,
    pub last: Time,
    pub words: Words,
}

/// A cause in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// One sentence, or two.
    pub text: String,
    /// What the statement rests on.
    pub grounds: Vec<String>,
    /// What would shorten the transfer, and what would not though one might think so; the best first.
    pub helps: Vec<String>,
    pub does_not_help: Vec<String>,
}

/// What the path was like in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathWords {
    /// Payload, bits a second.
    pub capacity_bps: Option<f64>,
    /// The capacity is the largest rate that was reached; there may be more.
    pub at_least: bool,
    /// How the capacity is known.
    pub known_by: Option<How>,
    /// In the long run a policer lets no more through, payload, bits a second.
    pub policer_bps: Option<f64>,
    pub base_rtt: Option<Span>,
    pub largest_rtt: Option<Span>,
    /// Of what the path carried meanwhile, this conversation's share.
    pub own_share: f64,
}

/// The answer about one connection; the same for both of its flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The owner with the most time.
    pub cause: Cause,
    pub by: Option<Role>,
    pub certainty: Certainty,
    /// The answer in a sentence.
    pub text: String,
    /// Time in which something was owed; the times of `causes` add up to it.
    pub owed: Span,
    /// The longest first.
    pub causes: Vec<Share>,
    pub findings: Vec<Finding>,
    /// By sending host: the client, the server.
    pub paths: [PathWords; 2],
    pub outages: [Option<Outages>; 2],
    /// What the capture cannot show.
    pub limits: Vec<String>,
}
