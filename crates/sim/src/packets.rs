//! Frames as a capture would hold them. What is no TCP segment gets the headers it would have had.

use crate::addresses;
use crate::frame::{Body, Frame};
use crate::rows::PacketFacts;
use instant::Time;
use links::Facts;
use net::NodeId;
use scenario::model::{Scenario, Transport};
use tcp::oneway::{Ack, Data};
use tcp::stack::{Kind, OneWay, OneWayVariant};
use wire::{Flags, Notes, Packet, SackBlocks, Segment, Seq, Tuple, checksum};

/// What a one-way agent's window is said to be: it knows none, so none is ever full.
const WINDOW: u16 = u16::MAX;
const WINDOW_SCALE: u8 = 14;

/// What hosts begin with.
pub const TTL: u8 = 64;

/// Makes packets, numbered at each node.
pub struct Packets {
    tuples: Vec<Tuple>,
    /// By connection: what its packets are made of, if they are a one-way agent's.
    agents: Vec<Option<Agent>>,
    numbers: Vec<u64>,
}

/// A one-way agent as its headers know it.
#[derive(Clone, Copy)]
struct Agent {
    /// What one number stands for, bytes.
    payload: u32,
    sack: bool,
}

impl Packets {
    /// `flow_of` and `ends` by connection: the scenario's flow, and the indices of client and server.
    pub fn new(scenario: &Scenario, flow_of: &[u32], ends: &[(usize, usize)]) -> Packets {
        let tuple =
            |(k, (client, server)): (usize, &(usize, usize))| addresses::tuple(k as u32, *client, *server);
        Packets {
            tuples: ends.iter().enumerate().map(tuple).collect(),
            agents: flow_of.iter().map(|flow| agent(scenario, *flow as usize)).collect(),
            numbers: Vec::new(),
        }
    }

    /// Who sent it, and to whom.
    pub fn ends(&self, frame: &Frame) -> Tuple {
        let forward = self.tuples[frame.connection as usize];
        if frame.forward { forward } else { forward.reversed() }
    }

    /// `None` for datagrams, which are no TCP.
    pub fn packet(&mut self, now: Time, node: NodeId, facts: &Facts, frame: &Frame) -> Option<Packet> {
        let seg = self.segment(frame)?;
        let tuple = self.ends(frame);
        let at = node.0 as usize;
        if at >= self.numbers.len() {
            self.numbers.resize(at + 1, 0);
        }
        self.numbers[at] += 1;
        // A checksum is that of the segment, never that of the pseudo-header alone: the sender's card had no work.
        let tcp_len = seg.payload + u32::from(seg.header_len);
        Some(Packet {
            time: now,
            number: self.numbers[at],
            tuple,
            seg,
            wire_len: facts.len,
            ip_id: frame.ip_id,
            checksum: !checksum::pseudo_header(&tuple, tcp_len),
            ttl: TTL,
            notes: Notes::default().with_ecn(facts.ecn.field()),
        })
    }

    fn segment(&self, frame: &Frame) -> Option<Segment> {
        match &frame.body {
            Body::Segment(seg, _) => Some(*seg),
            Body::Datagram(_) => None,
            Body::OneWayData(data) => Some(self.agent(frame)?.data(data)),
            Body::OneWayAck(ack) => Some(self.agent(frame)?.ack(ack)),
        }
    }

    /// With a range of bytes, as in captures and in the sender's state, for one-way agents' packets too: these are
    /// repaired whole, and none of them covers a part of another.
    pub fn facts_in_bytes(&self, frame: &Frame) -> PacketFacts {
        let facts = frame.facts();
        match (&frame.body, self.agent(frame)) {
            (Body::OneWayData(data), Some(agent)) => PacketFacts {
                offset: facts.offset * u64::from(agent.payload),
                payload_bytes: if data.syn { 0 } else { agent.payload },
                ..facts
            },
            _ => facts,
        }
    }

    fn agent(&self, frame: &Frame) -> Option<Agent> {
        self.agents.get(frame.connection as usize).copied().flatten()
    }
}

fn agent(scenario: &Scenario, flow: usize) -> Option<Agent> {
    let Transport::Tcp { stack, receiver } = scenario.flows.get(flow)?.transport else { return None };
    let one_way = |stack: usize| match &scenario.stacks.get(stack)?.kind {
        Kind::OneWay(spec) => Some(&**spec),
        Kind::Wire(_) => None,
    };
    one_way(stack).or_else(|| one_way(receiver)).map(Agent::new)
}

impl Agent {
    fn new(spec: &OneWay) -> Agent {
        Agent { payload: spec.payload_bytes(), sack: spec.variant == OneWayVariant::Sack1 }
    }

    /// Where a number begins. What stands for the SYN takes the place of its number's last byte, so that no byte is
    /// missing before the next.
    fn seq(self, number: i64) -> Seq {
        Seq(1 + (number.max(0) as u32).wrapping_mul(self.payload))
    }

    fn data(self, data: &Data) -> Segment {
        if data.syn {
            return self.opening(Seq(self.payload), Flags::SYN, Seq(0));
        }
        let (seq, payload) = (self.seq(data.number), self.payload);
        plain(Segment { seq, ack: Seq(1), payload, flags: Flags::ACK, ..Segment::default() })
    }

    fn ack(self, ack: &Ack) -> Segment {
        let next = self.seq(ack.cumulative + 1);
        if ack.syn {
            return self.opening(Seq(0), Flags::SYN.with(Flags::ACK), next);
        }
        let mut sack = SackBlocks::NONE;
        for run in ack.sack.as_slice() {
            sack.push(self.seq(run.left), self.seq(run.right));
        }
        plain(Segment { seq: Seq(1), ack: next, flags: Flags::ACK, sack, ..Segment::default() })
    }

    /// A SYN with the options of what the two agents do.
    fn opening(self, seq: Seq, flags: Flags, ack: Seq) -> Segment {
        plain(Segment {
            seq,
            ack,
            flags,
            mss: Some(self.payload.min(u32::from(u16::MAX)) as u16),
            window_scale: Some(WINDOW_SCALE),
            sack_permitted: self.sack,
            ..Segment::default()
        })
    }
}

fn plain(seg: Segment) -> Segment {
    Segment { window: WINDOW, header_len: wire::tcp::header_len(&seg), ..seg }
}
