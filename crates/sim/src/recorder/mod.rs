//! Who watches a run: nobody, or everything that the scenario asks for.
//!
//! The simulator is compiled for exactly these two, so that a run without a recorder pays nothing.

mod full;
mod truth;

use crate::frame::Frame;
use crate::rows::{
    AppRow, Block, BlockedRow, DropRow, HeldRow, HostRow, QueueRow, ResentRow, State, StateRow,
};
use instant::Time;
use links::{Facts, Watch};
use net::NodeId;
use wire::{Packet, Tuple};

pub use full::Full;

/// What hosts tell, besides what links tell.
#[allow(unused_variables)]
pub trait Recorder: Watch<Frame> {
    #[inline(always)]
    fn sent(&mut self, now: Time, node: NodeId, facts: &Facts, frame: &Frame) {}
    #[inline(always)]
    fn arrived(&mut self, now: Time, node: NodeId, facts: &Facts, frame: &Frame) {}
    /// The IPv4 identification of a packet that leaves a host; `own` is the one that its connection counts up.
    #[inline(always)]
    fn ip_id(&mut self, now: Time, node: NodeId, own: u16) -> u16 {
        own
    }
    /// Whether states of this connection are of any use.
    #[inline(always)]
    fn wants_state(&self, connection: u32) -> bool {
        Self::IS_ON
    }
    #[inline(always)]
    fn state(&mut self, now: Time, connection: u32, forward: bool, state: State) {}
    /// Whether it is of any use what released each packet, and what blocks the senders.
    #[inline(always)]
    fn wants_releases(&self) -> bool {
        Self::IS_ON
    }
    /// What blocked a sender when it was told last.
    #[inline(always)]
    fn blocked_by(&self, connection: u32, forward: bool) -> Block {
        Block::default()
    }
    #[inline(always)]
    fn blocked(&mut self, row: &BlockedRow) {}
    #[inline(always)]
    fn application(&mut self, row: &AppRow) {}
}

/// Nothing is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

impl Watch<Frame> for Null {
    const IS_ON: bool = false;
}
impl Recorder for Null {}

/// Takes what a run records. Every method has an empty body, so a sink names only what it wants.
#[allow(unused_variables)]
pub trait Sink {
    /// Whether this packet at this node is wanted as a capture would hold it; else [`Sink::passed`] tells of it.
    fn takes(&self, node: NodeId, frame: &Frame) -> bool {
        true
    }
    /// A packet of a TCP connection, at a node whose packets are captured, that the sink does not take.
    fn passed(&mut self, now: Time, node: NodeId, wire_len: u32, frame: &Frame) {}
    /// A packet of a connection at a node whose packets are captured, as a capture there would hold it.
    fn packet(&mut self, node: NodeId, frame: &Frame, packet: &Packet) {}
    /// A datagram at a node whose packets are captured: its ends, and its length with headers.
    fn datagram(&mut self, now: Time, node: NodeId, ends: Tuple, wire_len: u32) {}
    /// One that was still under way when the run ended, as the host that it goes to would capture it then.
    fn under_way(&mut self, node: NodeId, frame: &Frame, packet: &Packet) {}
    /// A channel made another copy of a packet, which is under way from now on.
    fn doubled(&mut self, frame: &Frame) {}
    fn host(&mut self, row: &HostRow) {}
    fn state(&mut self, row: &StateRow) {}
    fn queue(&mut self, row: &QueueRow) {}
    fn dropped(&mut self, row: &DropRow) {}
    fn resent(&mut self, row: &ResentRow) {}
    fn application(&mut self, row: &AppRow) {}
    fn blocked(&mut self, row: &BlockedRow) {}
    fn held(&mut self, row: &HeldRow) {}
}

/// Keeps every row, for tests and short runs.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub packets: Vec<(NodeId, Packet)>,
    pub under_way: Vec<(NodeId, Packet)>,
    pub hosts: Vec<HostRow>,
    pub states: Vec<StateRow>,
    pub queues: Vec<QueueRow>,
    pub drops: Vec<DropRow>,
    pub resent: Vec<ResentRow>,
    pub applications: Vec<AppRow>,
    pub blocked: Vec<BlockedRow>,
    pub held: Vec<HeldRow>,
}

impl Sink for Rows {
    fn packet(&mut self, node: NodeId, _: &Frame, packet: &Packet) {
        self.packets.push((node, *packet));
    }
    fn under_way(&mut self, node: NodeId, _: &Frame, packet: &Packet) {
        self.under_way.push((node, *packet));
    }
    fn host(&mut self, row: &HostRow) {
        self.hosts.push(*row);
    }
    fn state(&mut self, row: &StateRow) {
        self.states.push(*row);
    }
    fn queue(&mut self, row: &QueueRow) {
        self.queues.push(*row);
    }
    fn dropped(&mut self, row: &DropRow) {
        self.drops.push(*row);
    }
    fn resent(&mut self, row: &ResentRow) {
        self.resent.push(*row);
    }
    fn application(&mut self, row: &AppRow) {
        self.applications.push(*row);
    }
    fn blocked(&mut self, row: &BlockedRow) {
        self.blocked.push(*row);
    }
    fn held(&mut self, row: &HeldRow) {
        self.held.push(*row);
    }
}
