//! TCP endpoints, sans-IO, built from small strategies.
//!
//! Four questions have four homes, and none reaches into another's: which segments are lost (`detect`), how much
//! may be sent while repairing (`recovery`), how large the window is otherwise (`congestion`), when the timer
//! fires (`rto`). A [`stack::Stack`] picks one of each and sets its parameters; of the first three it may bring its own
//! ([`own`]).

pub mod congestion;
mod detect;
pub mod endpoint;
pub mod oneway;
pub mod own;
pub mod pacing;
pub mod packet;
mod queue;
pub mod receiver;
mod recovery;
pub mod rto;
pub mod sampler;
mod sender;
pub mod stack;
mod timers;
mod undo;

#[cfg(test)]
mod draws;
