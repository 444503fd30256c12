//! The table of keys: what may stand in a file, once. The reader, the JSON Schema and the documentation follow it.

mod channel;
mod link;
mod node;
mod oneway;
mod programs;
mod scenario;
mod stack;

pub use channel::CHANNEL;
pub use link::{LINK, QUEUE};
pub use scenario::SCENARIO;
pub use stack::STACK;

pub use params::keys::*;

use params::units::Unit;
