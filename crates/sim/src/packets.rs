//! Frames as a capture would hold them. What is no TCP segment gets the headers it would have had.

use crate::addresses;
use crate::frame::{Body, Frame};
use net::NodeId;
use path::Facts;
use time::Time;
use wire::{Flags, Packet, SackBlocks, Segment, Seq, Tuple, checksum};

const IP_HEADER: u32 = 20;
const TCP_HEADER: u32 = 20;
/// What a one-way agent's window is said to be: it knows none.
const WINDOW: u16 = u16::MAX;

/// Makes packets, numbered at each node.
pub struct Packets {
    tuples: Vec<Tuple>,
    /// By connection: bytes that one number of a one-way agent stands for.
    unit_bytes: Vec<u32>,
    numbers: Vec<u64>,
}

impl Packets {
    pub fn new(ends: &[(usize, usize)]) -> Packets {
        let tuple =
            |(k, (client, server)): (usize, &(usize, usize))| addresses::tuple(k as u32, *client, *server);
        Packets {
            tuples: ends.iter().enumerate().map(tuple).collect(),
            unit_bytes: vec![0; ends.len()],
            numbers: Vec::new(),
        }
    }

    /// `None` for datagrams, which are no TCP.
    pub fn packet(&mut self, now: Time, node: NodeId, facts: &Facts, frame: &Frame) -> Option<Packet> {
        let forward = self.tuples[frame.connection as usize];
        let seg = self.segment(facts, frame)?;
        let tuple = if frame.forward { forward } else { forward.reversed() };
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
            ttl: 64,
            ..Packet::default()
        })
    }

    fn segment(&mut self, facts: &Facts, frame: &Frame) -> Option<Segment> {
        match &frame.body {
            Body::Segment(seg, _) => Some(*seg),
            Body::Datagram(_) => None,
            Body::OneWayData(data) => {
                let payload = facts.len.saturating_sub(IP_HEADER + TCP_HEADER).max(1);
                self.unit_bytes[frame.connection as usize] = payload;
                Some(Segment {
                    seq: Seq(1 + (data.number.max(0) as u32).wrapping_mul(payload)),
                    ack: Seq(1),
                    payload,
                    window: WINDOW,
                    flags: Flags::ACK,
                    header_len: TCP_HEADER as u8,
                    ..Segment::default()
                })
            }
            Body::OneWayAck(ack) => {
                let unit = self.unit_bytes[frame.connection as usize];
                let seq = |number: i64| Seq(1 + (number.max(0) as u32).wrapping_mul(unit));
                let mut sack = SackBlocks::NONE;
                for run in ack.sack.as_slice() {
                    sack.push(seq(run.left), seq(run.right));
                }
                let options = if sack.is_empty() { 0 } else { 4 + 8 * sack.as_slice().len() as u8 };
                Some(Segment {
                    seq: Seq(1),
                    ack: seq(ack.cumulative + 1),
                    window: WINDOW,
                    flags: Flags::ACK,
                    header_len: TCP_HEADER as u8 + options,
                    sack,
                    ..Segment::default()
                })
            }
        }
    }
}
