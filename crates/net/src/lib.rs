//! A graph of links and its event queue, generic in what it carries.
//!
//! Packets are sent from node to node; hops in between are taken inside. The clock is passed in: the owner asks
//! for the next event's time and steps. Timers of hosts share the same order of events: by time, ties by the
//! order in which they were scheduled.

mod agenda;
mod net;
mod routes;
mod timers;
mod topology;

pub use links::LinkId;
pub use net::{Event, Net, Step};
pub use topology::{BuildError, Duplex, NodeId, TimerId, Topology};
