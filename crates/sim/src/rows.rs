//! What a run can record: one plain row a fact. Times are the simulation's own, counted from its start.

use crate::frame::Reason;
use crate::release::Release;
use instant::{Span, Time};
use links::watch::Held;
use links::{Cause, LinkId};
use tcp::endpoint::{self, Blocked, View};

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

/// What keeps a sender from sending more, after each event at its host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Block {
    /// The connection does not stand yet.
    #[default]
    Handshake,
    /// Nothing.
    Nothing,
    /// The program has written nothing that has not left.
    Application,
    /// All that the send buffer takes is in flight, and the program has more.
    SendBuffer,
    Cwnd,
    ReceiveWindow,
    Pacing,
    Nagle,
    /// The program has closed, and all that it wrote has left; or the connection is over.
    Closed,
}

impl Block {
    /// `unwritten` bytes are to be written, and wait for room in the send buffer.
    pub fn new(blocked: Blocked, unwritten: u64) -> Block {
        match blocked {
            Blocked::Handshake => Block::Handshake,
            Blocked::Nothing => Block::Nothing,
            // A rest of the send buffer that is no segment waits for Nagle only because there is no room for more.
            Blocked::Application | Blocked::Nagle if unwritten > 0 => Block::SendBuffer,
            Blocked::Application => Block::Application,
            Blocked::Cwnd => Block::Cwnd,
            Blocked::ReceiveWindow => Block::ReceiveWindow,
            Blocked::Pacing => Block::Pacing,
            Blocked::Nagle => Block::Nagle,
            Blocked::Closed => Block::Closed,
        }
    }
}

/// What blocks a sender from now on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockedRow {
    pub time: Time,
    pub connection: u32,
    /// The client's sender, or the server's.
    pub forward: bool,
    pub by: Block,
    /// Written and never sent; what the program still wants to write.
    pub unsent_bytes: u64,
    pub unwritten_bytes: u64,
    /// Sent and not acknowledged.
    pub flight_bytes: u64,
    pub cwnd_bytes: f64,
    pub peer_window_bytes: u64,
}

/// What a program did, or what happened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppEvent {
    /// The client connects.
    Opened,
    /// The transport took bytes.
    Wrote,
    Read,
    /// It will write no more.
    Closed,
    /// It ended the connection with a RST.
    Reset,
    /// Its connection ended before its time.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppRow {
    pub time: Time,
    pub connection: u32,
    /// The program of the client, or that of the server.
    pub client: bool,
    pub event: AppEvent,
    pub bytes: u64,
    /// Of a write: what it still wants to write. Of a read: what it has left unread.
    pub left_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueEvent {
    Enqueued,
    /// It is being sent from now on.
    Dequeued,
    /// The link layer sends it once more.
    Repeated,
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
    /// Until when it is being sent, if it goes.
    pub until: Option<Time>,
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

/// A packet that a channel kept back or made late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldRow {
    pub link: LinkId,
    pub held: Held,
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
    /// `None`: it was not asked for.
    pub release: Option<Release>,
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
