//! A transfer that the capture finds under way: what its handshake would have said is taken from what is seen, and a
//! handshake that says so is put before it. Its first round trip is not judged; what was out at its end is taken for cwnd.

use crate::transfer::{Unknown, clock};
use wire::{Endpoint, Flags, Packet, SackBlocks, Segment, Seq, Span, Time, Timestamps, Tuple};

/// Without a handshake the largest payload stands in for the MSS, up to this: what is larger holds several segments.
const ETHERNET_MSS: u32 = 1460;
/// Of the timestamps option, with its padding.
const STAMPS: u32 = 12;
/// Windows are shifted by as much as there is (RFC 7323 §2.3): which shift was agreed upon is not known.
const WIDEST: u8 = 14;

/// What was seen of a transfer under way.
pub(crate) struct UnderWay {
    /// Its packets, behind a handshake.
    pub(crate) packets: Vec<Packet>,
    /// The first data is acknowledged then.
    pub(crate) judged_from: Time,
    /// The most that was out before, bytes.
    pub(crate) flight: u32,
    /// What is taken for granted, as sentences.
    pub(crate) assumed: Vec<String>,
}

pub(crate) fn under_way(packets: &[Packet], sender: Endpoint) -> Result<UnderWay, Unknown> {
    let out = |p: &&Packet| p.tuple.src == sender;
    let data = |p: &&Packet| out(p) && p.seg.payload > 0;
    let own = packets.iter().find(data).ok_or(Unknown::NoData)?;
    let peer = packets.iter().find(|p| !out(p)).ok_or(Unknown::NoAcks)?;
    // Repairs of what left before the capture began come first in the stream.
    let lowest =
        packets.iter().filter(data).map(|p| p.seg.seq).reduce(|a, b| if (b - a) < 0 { b } else { a });
    let isn = Seq(lowest.unwrap_or(own.seg.seq).0.wrapping_sub(1));
    let end = own.seg.seq + own.seg.payload;
    let answers =
        |p: &&Packet| !out(p) && p.time > own.time && p.seg.flags.has(Flags::ACK) && (p.seg.ack - end) >= 0;
    let answer = packets.iter().find(answers).ok_or(Unknown::NoRoundTrip)?;
    let rtt = answer.time - own.time;

    let largest = packets.iter().filter(data).map(|p| p.seg.payload).max().unwrap_or(1);
    let smss = largest.min(ETHERNET_MSS);
    let sacks = packets.iter().any(|p| !out(&p) && !p.seg.sack.is_empty());
    let stamped = own.seg.timestamps.is_some();
    let mss = smss + if stamped { STAMPS } else { 0 };
    let (tick, _) = clock(packets, sender);
    let before = tick.map_or(0, |tick| (rtt.0 / tick.0 + 2) as u32);
    let stamp = |p: &Packet, other: &Packet| {
        let (val, ecr) = (p.seg.timestamps?.val, other.seg.timestamps?.val);
        Some(Timestamps { val: val.wrapping_sub(before), ecr: ecr.wrapping_sub(before) })
    };
    let syn = Segment {
        seq: isn,
        window: u16::MAX,
        flags: Flags::SYN,
        mss: Some(mss as u16),
        window_scale: Some(0),
        sack_permitted: true,
        timestamps: stamp(own, own).map(|t| Timestamps { ecr: 0, ..t }),
        sack: SackBlocks::NONE,
        ..Segment::default()
    };
    let answer_to_syn = Segment {
        seq: Seq(peer.seg.seq.0.wrapping_sub(1)),
        ack: isn + 1,
        flags: Flags::SYN.with(Flags::ACK),
        window_scale: Some(WIDEST),
        timestamps: stamp(peer, own),
        ..syn
    };
    let first = packets.first().map_or(own.time, |p| p.time);
    let there = Tuple { src: own.tuple.src, dst: own.tuple.dst };
    let back = Tuple { src: own.tuple.dst, dst: own.tuple.src };
    let put =
        |time: Time, tuple: Tuple, seg: Segment| Packet { time, number: 0, tuple, seg, ..Packet::default() };
    let handshake = [put(first - rtt - Span(1), there, syn), put(first - Span(1), back, answer_to_syn)];

    let mut assumed = vec![
        format!("segments hold {smss} bytes, as the largest that was sent does"),
        "the window that the peer advertised never limits: its scale is not in the capture".to_owned(),
    ];
    if !sacks {
        assumed.push("SACK was agreed upon, although no block of it is in the capture".to_owned());
    }
    Ok(UnderWay {
        packets: handshake.into_iter().chain(packets.iter().copied()).collect(),
        judged_from: answer.time,
        flight: most_out(packets.iter().take_while(|p| p.time < answer.time), sender),
        assumed,
    })
}

/// The most that was out at any time, bytes: packets that wait to be full leave less than cwnd out at others.
fn most_out<'a>(packets: impl Iterator<Item = &'a Packet>, sender: Endpoint) -> u32 {
    let (mut una, mut most): (Option<Seq>, i32) = (None, 0);
    for p in packets {
        if p.tuple.src == sender {
            let end = p.seg.seq + p.seg.payload;
            most = most.max(una.map_or(0, |una| end - una));
        } else if p.seg.flags.has(Flags::ACK) && una.is_none_or(|una| p.seg.ack - una > 0) {
            una = Some(p.seg.ack);
        }
    }
    most.max(0) as u32
}
