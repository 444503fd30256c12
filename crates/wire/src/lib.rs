//! What travels: TCP segments as plain values, and the headers they travel in.
//!
//! Nothing here opens a file, reads a clock or keeps state. A [`Segment`] is a TCP header without its
//! payload; a [`Packet`] is a segment seen at a time between two endpoints, the one kind of fact that the
//! analysis takes in, whether it came from a capture or from a simulation.

pub mod addr;
pub mod checksum;
pub mod ip;
pub mod packet;
pub mod segment;
pub mod seq;
pub mod tcp;

pub use addr::{Endpoint, Host, Tuple};
pub use instant::{Span, Time};
pub use packet::{Notes, Packet};
pub use segment::{Flags, SackBlocks, Segment, Timestamps};
pub use seq::Seq;
