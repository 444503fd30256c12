//! What travels in the simulator: a transport's packet, whose it is, and the truth about why it was sent.

use crate::release::Release;
use tcp::endpoint::{self, Why};
use tcp::oneway;
use wire::Segment;

/// One transmission.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Never used twice in a run, so that a drop finds what was dropped.
    pub copy: u64,
    /// The connection, in the order of the scenario.
    pub connection: u32,
    /// From the client to the server.
    pub forward: bool,
    pub reason: Reason,
    /// What let it go; only where it is recorded.
    pub release: Release,
    /// IPv4 identification.
    pub ip_id: u16,
    pub body: Body,
}

#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// With the stream offset of its first byte (the SYN is 0).
    Segment(Segment, u64),
    OneWayData(oneway::Data),
    OneWayAck(oneway::Ack),
    /// A datagram of so many bytes, headers included.
    Datagram(u32),
}

impl Default for Frame {
    fn default() -> Frame {
        let body = Body::Datagram(0);
        Frame {
            copy: 0,
            connection: 0,
            forward: false,
            reason: Reason::New,
            release: Release::default(),
            ip_id: 0,
            body,
        }
    }
}

impl Body {
    /// Makes it a segment, if it is none, to be written over.
    #[inline]
    pub fn segment_mut(&mut self) -> (&mut Segment, &mut u64) {
        if !matches!(self, Body::Segment(..)) {
            *self = Body::Segment(Segment::default(), 0);
        }
        match self {
            Body::Segment(seg, offset) => (seg, offset),
            _ => unreachable!("it was made a segment"),
        }
    }
}

impl Frame {
    /// Asks whether a closed window has opened, or whether the peer is still there.
    pub fn is_probe(&self) -> bool {
        matches!(self.reason, Reason::Persist | Reason::KeepAlive)
    }

    /// Bytes of payload; a one-way agent's packets and datagrams count whole.
    pub fn payload_bytes(&self) -> u32 {
        match &self.body {
            Body::Segment(seg, _) => seg.payload,
            Body::OneWayData(data) => data.bytes,
            Body::OneWayAck(_) => 0,
            Body::Datagram(bytes) => *bytes,
        }
    }
}

/// Why it was sent, as the sender knows it: the words of the analysis, and those it needs none for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    New,
    Ack,
    /// SYN, SYN-ACK, FIN, RST: first or again.
    Control,
    Recovery(Evidence),
    /// The retransmission timer itself; how often it had fired before it without progress.
    Timeout {
        backoff: u32,
    },
    LossState,
    /// A tail-loss probe.
    Probe,
    Persist,
    KeepAlive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    DupAck,
    Sack,
    Time,
}

impl From<Why> for Reason {
    #[inline]
    fn from(why: Why) -> Reason {
        match why {
            Why::New | Why::Probe { new: true } => Reason::New,
            Why::Ack => Reason::Ack,
            Why::Handshake | Why::Fin | Why::Rst => Reason::Control,
            Why::Probe { new: false } => Reason::Probe,
            Why::Recovery { evidence } => Reason::Recovery(match evidence {
                endpoint::Evidence::DupAck => Evidence::DupAck,
                endpoint::Evidence::Sack => Evidence::Sack,
                endpoint::Evidence::Time => Evidence::Time,
            }),
            Why::Timeout { backoff } => Reason::Timeout { backoff },
            Why::LossState => Reason::LossState,
            Why::Persist => Reason::Persist,
            Why::KeepAlive => Reason::KeepAlive,
        }
    }
}
