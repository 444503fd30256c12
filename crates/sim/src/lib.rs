//! Hosts, workloads and recorder: the network under virtual time.
//!
//! A [`Simulation`] builds a scenario's network and connections and runs them; a [`recorder::Sink`] takes what the
//! scenario asks to be recorded. Nothing here reads a clock; all randomness comes from the run's seed.

pub mod addresses;
mod connection;
mod frame;
mod host;
mod inputs;
mod ip_ids;
mod packets;
pub mod recorder;
mod release;
pub mod rows;
mod simulation;
pub mod stats;
mod watcher;

pub use frame::{Body, Evidence, Frame, Reason};
pub use packets::TTL;
pub use recorder::{Rows, Sink};
pub use release::Release;
pub use simulation::{End, Outcome, Progress, Simulation, Summary, ways};
