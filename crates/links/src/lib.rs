//! Links, queues, channels and link-layer retries as values under a passed-in clock.
//!
//! A [`Link`] is one direction. A packet is offered to it, asks the channels at its ingress, waits in its queue,
//! is serialised, asks the channels at the wire, propagates, asks the channels at its egress and is delivered.
//! Nothing here reads a clock: whoever owns the links (`net`) asks each for its next event and fires it. Packets
//! lie in one [`Pool`]; a link chains their numbers and allocates nothing for a packet.

pub mod context;
pub mod counters;
pub mod facts;
pub mod key;
pub mod lanes;
pub mod link;
pub mod memory;
pub mod pool;
pub mod random;
pub mod spec;
pub mod watch;

mod arq;
pub mod channel;
mod check;
mod line;
pub mod queue;
mod rate;

pub use channel::Outages;
pub use context::Context;
pub use counters::{Counters, Tallies, Tally};
pub use facts::{Cause, Class, Ecn, Facts, LinkId};
pub use key::{Key, Orders};
pub use lanes::Lanes;
pub use link::Link;
pub use pool::{PacketId, Pool};
pub use watch::{Unwatched, Watch};
