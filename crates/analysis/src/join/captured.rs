//! What identifies one transmission of a segment well enough to find it in another capture.

use rustc_hash::FxHasher;
use std::hash::Hasher;
use wire::{Flags, Packet, SackBlocks, Segment};

/// Which fields of a header must agree between the captures. All of them, until something on the path is found
/// to rewrite one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MatchFields(u8);

impl MatchFields {
    const IP_ID: u8 = 1;
    /// Timestamps and SACK blocks; absent from a capture whose snap length cut them off.
    const OPTIONS: u8 = 2;
    /// The acknowledgment number of data: LRO keeps the last of those it merges.
    const DATA_ACK: u8 = 4;

    pub const ALL: MatchFields = MatchFields(Self::IP_ID | Self::OPTIONS | Self::DATA_ACK);
    /// From the strictest to the loosest; the last asks for the byte range alone.
    pub const LADDER: [MatchFields; 6] = [
        MatchFields::ALL,
        MatchFields(Self::OPTIONS | Self::DATA_ACK),
        MatchFields(Self::IP_ID | Self::DATA_ACK),
        MatchFields(Self::DATA_ACK),
        MatchFields(Self::IP_ID),
        MatchFields(0),
    ];
    pub fn without_options(self) -> MatchFields {
        MatchFields(self.0 & !Self::OPTIONS)
    }
    pub fn needs_ip_id(self) -> bool {
        self.0 & Self::IP_ID != 0
    }
    pub fn is_all(self) -> bool {
        self == MatchFields::ALL
    }
    /// Whether it does without the IP identification, the options, the acknowledgment of data.
    pub fn left_out(self) -> [bool; 3] {
        [Self::IP_ID, Self::OPTIONS, Self::DATA_ACK].map(|fact| !self.has(fact))
    }
    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }
}

/// How copies are compared: by which fields, and whether within one connection or across address translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub fields: MatchFields,
    pub same_addresses: bool,
}

/// One transmission of a segment, or one MSS of a super-packet, as a capture holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CapturedSegment {
    /// Nanoseconds on the clock of its capture.
    pub time: i64,
    /// Packet number in its capture.
    pub number: u64,
    /// Connection and direction: twice the connection, plus 1 from the higher endpoint to the lower.
    pub direction: u32,
    pub seq: u32,
    pub ack: u32,
    pub len: u32,
    /// Hash of timestamps and SACK blocks.
    pub options: u32,
    pub ip_id: u16,
    /// Traffic shapers rewrite it, so it need not agree; it helps to tell apart copies that nothing else does.
    pub window: u16,
    pub flags: u8,
    /// An earlier copy with the same IP identification is in the same capture.
    pub is_duplicate: bool,
    /// One that agrees with it was found in both captures lately.
    pub resembles_match: bool,
}

impl CapturedSegment {
    pub fn of(p: &Packet, direction: u32) -> CapturedSegment {
        let seg = &p.seg;
        // What TSO and GRO redistribute over the segments of a super-packet cannot identify one: PSH and FIN
        // stand on the last, and the window is the first's.
        let (flags, window) = match seg.payload {
            0 => (seg.flags.0, seg.window),
            _ => (seg.flags.0 & (Flags::SYN.0 | Flags::RST.0), 0),
        };
        CapturedSegment {
            time: p.time.0,
            number: p.number,
            direction,
            seq: seg.seq.0,
            ack: seg.ack.0,
            len: seg.payload,
            options: options(seg),
            ip_id: p.ip_id,
            window,
            flags,
            is_duplicate: false,
            resembles_match: false,
        }
    }

    pub fn hash(&self, rule: Rule) -> u64 {
        let f = rule.fields;
        let id = if f.has(MatchFields::IP_ID) { self.ip_id } else { 0 };
        let options = if f.has(MatchFields::OPTIONS) { self.options } else { 0 };
        let ack = if self.len == 0 || f.has(MatchFields::DATA_ACK) { self.ack } else { 0 };
        let direction = if rule.same_addresses { self.direction } else { 0 };
        let mut h = FxHasher::default();
        h.write_u64(u64::from(self.seq) << 32 | u64::from(ack));
        h.write_u64(u64::from(self.len) << 32 | u64::from(options));
        h.write_u64(u64::from(direction) << 32 | u64::from(id));
        h.write_u8(self.flags);
        h.finish()
    }

    pub fn matches(&self, o: &CapturedSegment, rule: Rule) -> bool {
        let f = rule.fields;
        self.seq == o.seq
            && self.len == o.len
            && self.flags == o.flags
            && (self.ack == o.ack || (self.len != 0 && !f.has(MatchFields::DATA_ACK)))
            && (self.ip_id == o.ip_id || !f.has(MatchFields::IP_ID))
            && (self.options == o.options || !f.has(MatchFields::OPTIONS))
            && (self.direction == o.direction || !rule.same_addresses)
    }

    /// The segments that segmentation offload makes of it: each takes the next sequence number and the next IP
    /// identification (0 stays 0: RFC 6864 lets atomic datagrams carry any value).
    pub fn segments(self, mss: u32) -> impl Iterator<Item = CapturedSegment> {
        let whole = mss == 0 || self.len <= mss || self.len > LARGEST_SUPER_PACKET;
        let (step, count) = if whole { (self.len, 1) } else { (mss, self.len.div_ceil(mss)) };
        (0..count).map(move |i| {
            let at = i * step;
            let ip_id = if self.ip_id == 0 { 0 } else { self.ip_id.wrapping_add(i as u16) };
            CapturedSegment { seq: self.seq.wrapping_add(at), len: (self.len - at).min(step), ip_id, ..self }
        })
    }
}

/// BIG TCP's limit on Linux; a length beyond it was made up.
const LARGEST_SUPER_PACKET: u32 = 512 * 1024;

fn options(seg: &Segment) -> u32 {
    if seg.timestamps.is_none() && seg.sack == SackBlocks::NONE {
        return 0;
    }
    let mut h = FxHasher::default();
    if let Some(t) = seg.timestamps {
        h.write_u64(u64::from(t.val) << 32 | u64::from(t.ecr));
    }
    for (left, right) in seg.sack.as_slice() {
        h.write_u64(u64::from(left.0) << 32 | u64::from(right.0));
    }
    (h.finish() >> 16) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_super_packet_and_the_segments_it_becomes_on_the_wire_are_the_same_copies() {
        let mut p = Packet { ip_id: 65534, ..Packet::default() };
        p.seg.payload = 4000;
        p.seg.seq = wire::Seq(u32::MAX - 1000);
        p.seg.flags = Flags::ACK.with(Flags::PSH);
        let rule = Rule { fields: MatchFields::ALL, same_addresses: true };
        let parts: Vec<CapturedSegment> = CapturedSegment::of(&p, 4).segments(1448).collect();
        assert_eq!(parts.iter().map(|c| c.len).collect::<Vec<_>>(), [1448, 1448, 1104]);
        for (i, part) in parts.iter().enumerate() {
            let mut q = p;
            q.seg.payload = part.len;
            q.seg.seq = p.seg.seq + 1448 * i as u32;
            q.seg.flags = Flags::ACK;
            q.ip_id = p.ip_id.wrapping_add(i as u16);
            let on_the_wire = CapturedSegment::of(&q, 4);
            assert!(part.matches(&on_the_wire, rule));
            assert_eq!(part.hash(rule), on_the_wire.hash(rule));
        }
    }

    #[test]
    fn a_made_up_length_is_not_cut_into_millions_of_segments() {
        let p = Packet { seg: Segment { payload: u32::MAX, ..Segment::default() }, ..Packet::default() };
        assert_eq!(CapturedSegment::of(&p, 0).segments(88).count(), 1);
    }
}
