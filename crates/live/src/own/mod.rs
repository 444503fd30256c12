//! rexmit's own TCP as packets: an endpoint of `crates/tcp`, which counts bytes, with the bytes themselves.
//!
//! Sans-IO: packets and times in, packets and one next wake-up out. What is sent is a function of the place in the
//! stream, so that no copy is kept for retransmissions; what arrives out of order waits here until the endpoint
//! gives it to the reader.

pub mod host;

use crate::content::Content;
use crate::counts::Counts;
use crate::told::Left;
use links::Ecn;
use std::collections::VecDeque;
use tcp::endpoint::{Endpoint, Sent, View};
use wire::{Flags, Seq, Time, Tuple, checksum, ip, tcp as header};

/// IPv4's number of TCP.
const TCP: u8 = 6;
const TTL: u8 = 64;
/// More out-of-order data than any window offers here is not kept.
const MOST_WAITING: usize = 64 << 20;

/// One end of one connection.
pub struct Own {
    endpoint: Endpoint,
    /// From this end to the other.
    tuple: Tuple,
    sends: Content,
    arriving: Arriving,
    ip_id: u16,
    header: Vec<u8>,
    counts: Counts,
    /// The state that was told last.
    told: Option<View>,
}

impl Own {
    /// `endpoint` connects or listens; `tuple` is from it to the peer; `sends` is what it will say.
    pub fn new(endpoint: Endpoint, tuple: Tuple, sends: Content) -> Own {
        let (arriving, header, counts) = Default::default();
        Own { endpoint, tuple, sends, arriving, ip_id: 1, header, counts, told: None }
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The sender's state where it has changed since it was asked last; twice where cwnd passed through another value.
    pub fn changes(&mut self) -> impl Iterator<Item = View> {
        let view = self.endpoint.view();
        let step = self.endpoint.take_cwnd_step().map(|cwnd| View { cwnd, ..view });
        // What no table has makes no row.
        let shown = |v: View| View { min_rtt: None, max: 0, timeouts: 0, ..v };
        let changed = step.is_some() || self.told.map(shown) != Some(shown(view));
        self.told = Some(view);
        step.into_iter().chain(changed.then_some(view))
    }

    pub fn endpoint(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// An IPv4 packet from the other end. False if it is none of this connection, is cut, or its checksum is wrong:
    /// nothing has changed then.
    pub fn receive(&mut self, now: Time, packet: &[u8]) -> bool {
        let Ok(ip) = ip::parse(packet) else { return false };
        let Some(len) = ip.payload_len.filter(|_| ip.protocol == TCP && ip.fragment.is_none()) else {
            return false;
        };
        let Some(bytes) = packet.get(ip.payload_at..ip.payload_at + len as usize) else { return false };
        let Ok(found) = header::parse(bytes, len) else { return false };
        let (src, dst) = (self.tuple.dst, self.tuple.src);
        if (ip.src, found.src_port, ip.dst, found.dst_port) != (src.host, src.port, dst.host, dst.port) {
            return false;
        }
        let sum = u64::from(checksum::pseudo_header(&self.tuple.reversed(), len));
        if checksum::fold(checksum::add(sum, bytes)) != u16::MAX {
            return false;
        }
        self.counts.arrived_packets += u64::from(found.seg.payload > 0);
        self.arriving.keep(&found.seg, &bytes[usize::from(found.seg.header_len)..]);
        match Ecn::of_field(ip.ecn) {
            Ecn::Marked => self.endpoint.receive_marked(now, &found.seg),
            _ => self.endpoint.receive(now, &found.seg),
        }
        true
    }

    /// Takes what has arrived in order, and hands it to `take`, piece by piece.
    pub fn read(&mut self, now: Time, take: impl FnMut(&[u8])) -> u64 {
        let bytes = self.endpoint.read(now, u64::MAX);
        self.arriving.give(bytes, take);
        bytes
    }

    /// The next packet to leave, into `out` (cleared first), if there is one now.
    pub fn transmit(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Left> {
        let sent = self.endpoint.transmit(now)?;
        self.counts.sent(sent.seg.payload, sent.why);
        let left = Left { ip_id: self.ip_id, seq: sent.seg.seq.0, why: sent.why };
        self.write(&sent, out);
        Some(left)
    }

    pub fn next_wakeup(&self) -> Option<Time> {
        self.endpoint.next_wakeup()
    }

    fn write(&mut self, sent: &Sent, out: &mut Vec<u8>) {
        let seg = &sent.seg;
        header::write(&mut self.header, &self.tuple, seg);
        out.clear();
        let len = self.header.len() as u32 + seg.payload;
        let markable = self.endpoint.is_markable(seg.payload, sent.why);
        let ecn = if markable { Ecn::Capable0 } else { Ecn::NotCapable }.field();
        let (src, dst) = (self.tuple.src.host, self.tuple.dst.host);
        ip::write(out, &ip::Header { src, dst, protocol: TCP, id: self.ip_id, ttl: TTL, ecn }, len);
        self.ip_id = self.ip_id.wrapping_add(1);
        let tcp_at = out.len();
        out.extend_from_slice(&self.header);
        let payload_at = out.len();
        out.resize(payload_at + seg.payload as usize, 0);
        // The SYN is 0, the first byte 1. A keep-alive lies before what it repeats and carries nothing.
        self.sends.fill(sent.offset.saturating_sub(1), &mut out[payload_at..]);
        add_to_checksum(&mut out[tcp_at..], payload_at - tcp_at);
    }
}

/// The header's checksum counts a payload of zeros: now it is another.
fn add_to_checksum(segment: &mut [u8], payload_at: usize) {
    let zeros = u64::from(!u16::from_be_bytes([segment[16], segment[17]]));
    let field = !checksum::fold(checksum::add(zeros, &segment[payload_at..]));
    segment[16..18].copy_from_slice(&field.to_be_bytes());
}

/// What has arrived and was not read yet, in its place in the stream. Holes hold zeros: the endpoint knows them.
#[derive(Default)]
struct Arriving {
    /// The number of the first byte that was not read.
    first: Option<Seq>,
    bytes: VecDeque<u8>,
}

impl Arriving {
    fn keep(&mut self, seg: &wire::Segment, payload: &[u8]) {
        let syn = seg.flags.has(Flags::SYN);
        if syn && self.first.is_none() {
            self.first = Some(seg.seq + 1);
        }
        let Some(first) = self.first else { return };
        let at = i64::from(seg.seq - first) + i64::from(syn);
        // What was read is known: what repeats it is skipped.
        let known = usize::try_from(-at).unwrap_or(0).min(payload.len());
        let (at, payload) = (usize::try_from(at.max(0)).unwrap_or(usize::MAX), &payload[known..]);
        let Some(end) = at.checked_add(payload.len()).filter(|end| *end <= MOST_WAITING) else { return };
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        for (place, byte) in self.bytes.range_mut(at..end).zip(payload) {
            *place = *byte;
        }
    }

    fn give(&mut self, bytes: u64, mut take: impl FnMut(&[u8])) {
        let count = usize::try_from(bytes).unwrap_or(usize::MAX).min(self.bytes.len());
        let (front, back) = self.bytes.as_slices();
        let in_front = count.min(front.len());
        for piece in [&front[..in_front], &back[..count - in_front]] {
            if !piece.is_empty() {
                take(piece);
            }
        }
        self.bytes.drain(..count);
        self.first = self.first.map(|first| first + count as u32);
    }
}

#[cfg(test)]
mod tests;
