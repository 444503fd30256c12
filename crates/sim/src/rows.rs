//! What a run can record: one plain row a fact. Times are the simulation's own, counted from its start.

use crate::frame::Reason;
use instant::{Span, Time};
use links::{Cause, LinkId};
use tcp::endpoint::{self, View};

/// What a sender knew and decided, at every change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateRow {
    pub time: Time,
    pub connection: u32,
    /// The client's sender, or the server's.
    pub forward: bool,
    pub state: State,
}

/// In bytes; a one-way agent's packets count their payload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    pub smss_bytes: u32,
    pub cwnd_bytes: f64,
    /// cwnd only passed through this value: the next row, of the same moment, has the one that held. For stacks that
    /// tell of it (ns-3.20, whose traces have both).
    pub passing: bool,
    /// `None`: as high as can be.
    pub ssthresh_bytes: Option<f64>,
    pub flight_bytes: u64,
    pub pipe_bytes: u64,
    /// The last sample, where the sender keeps it.
    pub rtt: Option<Span>,
    pub srtt: Option<Span>,
    pub rttvar: Option<Span>,
    /// With back-off and bounds.
    pub rto: Span,
    /// Timeouts in a row that the timer remembers.
    pub backoff: u32,
    pub dupacks: u32,
    pub phase: Phase,
    /// SND.UNA and SND.NXT as offsets in the stream.
    pub una: u64,
    pub nxt: u64,
    pub peer_window_bytes: u64,
}

/// What the sender is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Open,
    Recovery,
    Loss,
}

impl From<&View> for State {
    fn from(view: &View) -> State {
        State {
            smss_bytes: view.smss,
            cwnd_bytes: f64::from(view.cwnd),
            passing: false,
            ssthresh_bytes: (view.ssthresh != u32::MAX).then_some(f64::from(view.ssthresh)),
            flight_bytes: view.flight.into(),
            pipe_bytes: view.pipe.into(),
            rtt: None,
            srtt: view.srtt,
            rttvar: view.rttvar,
            rto: view.rto,
            backoff: view.backoff,
            dupacks: view.dupacks,
            phase: match view.phase {
                endpoint::Phase::Open => Phase::Open,
                endpoint::Phase::Recovery => Phase::Recovery,
                endpoint::Phase::Loss => Phase::Loss,
            },
            una: view.una,
            nxt: view.nxt,
            peer_window_bytes: view.peer_window.into(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueEvent {
    Enqueued,
    Dequeued,
}

/// A queue's occupancy after a packet came or went; the packet being sent is not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueRow {
    pub time: Time,
    pub link: LinkId,
    pub event: QueueEvent,
    pub packets: u32,
    pub bytes: u64,
    /// How long the packet waited, when it goes.
    pub waited: Option<Span>,
    pub packet: PacketFacts,
}

/// A packet that a link lost, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRow {
    pub time: Time,
    pub link: LinkId,
    pub cause: Cause,
    pub packet: PacketFacts,
}

/// Whose packet, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketFacts {
    pub connection: u32,
    pub forward: bool,
    /// The transmission's number in the run.
    pub copy: u64,
    /// Stream offset of its first byte; an ACK's is what it asks for next. A one-way agent counts packets.
    pub offset: u64,
    pub payload_bytes: u32,
    pub reason: Reason,
}

/// A packet that a host sent or received.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostRow {
    pub time: Time,
    /// Index of the node.
    pub node: u32,
    pub sent: bool,
    /// Bytes on the first or last link without its framing.
    pub length_bytes: u32,
    pub packet: PacketFacts,
}

/// The truth about one transmission of data that is not new.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResentRow {
    pub time: Time,
    pub packet: PacketFacts,
    /// Copies that arrived had brought all of it; `None` where the run ended before that was settled.
    pub needless: Option<bool>,
}
