//! What rexmit's own TCP tells of itself: its state, and why it sent what its headers do not explain.

use instant::Time;
use tcp::endpoint::{View, Why};

/// A sender's state after something happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewed {
    pub time: Time,
    /// Of the plan.
    pub connection: u32,
    /// The client's sender, or the server's.
    pub forward: bool,
    pub view: View,
}

/// Something that rexmit's own TCP sent which its headers do not explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    /// When it left the endpoint.
    pub time: Time,
    /// Of the plan.
    pub connection: u32,
    /// From the client's end, or the server's.
    pub forward: bool,
    pub left: Left,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its IPv4 identification, and its sequence number.
    pub ip_id: u16,
    pub seq: u32,
    pub why: Why,
}

impl Left {
    /// Its headers say why: it has new data, or it is an ACK.
    pub fn is_plain(&self) -> bool {
        matches!(self.why, Why::New | Why::Probe { new: true } | Why::Ack)
    }
}
