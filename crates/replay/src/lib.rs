//! Replay: the ACKs of a recorded transfer are fed, at their recorded times, to a sender of ours, and each of its sends is
//! compared with the recorded one.
//!
//! A [`Transfer`] is one connection as its data sender's host saw it. [`replay()`] drives a [`tcp::endpoint::Endpoint`] of a
//! stack with what came in, and holds what it would send against what left: a send is right if it is the same segment,
//! released by the same ACK or timer. After a difference the sender is set to what the capture shows (which segments are
//! out, which left again); cwnd and ssthresh stay its own.

mod choose;
mod fit;
mod index;
mod mid_stream;
mod remembered;
mod run;
mod tally;
mod transfer;

pub use choose::replay;
pub use fit::{Against, by_fit};
pub use tally::{Count, Difference, Entered, Kind, Replay, State, Unusable};
pub use transfer::{Transfer, Unknown};

#[cfg(test)]
mod tests;
