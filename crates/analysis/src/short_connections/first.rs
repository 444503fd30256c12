//! A connection's first packet, kept where its second will leave marks.
//!
//! Of a SYN flood or a port scan most connections have one packet. Its block would be a third of what such a connection
//! takes, so it gets none: the other side's expectations, the place of the first block, and the time and number of the
//! first packet (those of the latest, while there is one) hold what `Young` does not know otherwise.

use super::*;
use wire::Timestamps;

const STAMPED: u64 = 1 << 40;
const OPTIONS_CUT: u64 = 1 << 41;

impl Young {
    /// Its first packet, and no other yet.
    #[inline(always)]
    pub(super) fn is_alone(&self) -> bool {
        self.count == 1 && self.last == NONE
    }

    /// One number more than it has of its own can be kept: a SACK block's left edge, or how much of it was lost.
    pub(super) fn can_keep_first(&self, packet: &Packet, fate: Fate) -> bool {
        let room = usize::from(!matches!(fate, Fate::PartlyLost(_)));
        self.count == 0 && packet.seg.sack.as_slice().len() <= room
    }

    pub(super) fn keep_first(&mut self, packet: &Packet, fate: Fate) {
        let seg = &packet.seg;
        let ts = seg.timestamps.unwrap_or_default();
        let mut notes = packet.notes;
        if packet.has_partial_checksum_between(self.hosts) {
            notes.add(Notes::PARTIAL_CHECKSUM);
        }
        let own = Expected {
            seq: (seg.seq + seg.seq_len()).0,
            ts: ts.val,
            window: seg.window,
            ip_id: packet.ip_id,
        };
        let lent = Expected {
            seq: seg.ack.0,
            ts: options(seg, fate),
            window: u16::from(folded(packet.checksum)),
            ip_id: notes.0 | rare(fate),
        };
        self.sides = [own, lent];
        let (left, right) = seg.sack.as_slice().first().copied().unwrap_or_default();
        self.start = Time(i64::from(ts.ecr) | i64::from(right.0) << 32);
        self.first = if let Fate::PartlyLost(bytes) = fate { bytes } else { left.0 };
        let bit = |set: bool, bit: u64| if set { bit } else { 0 };
        self.start_number = u64::from(seg.payload)
            | u64::from(seg.flags.0) << 32
            | bit(seg.timestamps.is_some(), STAMPED)
            | bit(seg.options_cut, OPTIONS_CUT);
        (self.time, self.number) = (packet.time, packet.number);
        self.ttls[0] = packet.ttl;
        self.see(0, seg);
    }

    /// The first packet, as it would read back.
    pub(super) fn first_packet(&self) -> (Packet, Fate) {
        let [own, lent] = self.sides;
        let bits = self.start_number;
        let mut seg = Segment {
            ack: Seq(lent.seq),
            payload: bits as u32,
            window: own.window,
            flags: Flags((bits >> 32) as u8),
            timestamps: (bits & STAMPED != 0).then_some(Timestamps { val: own.ts, ecr: self.start.0 as u32 }),
            options_cut: bits & OPTIONS_CUT != 0,
            header_len: 20,
            ..Segment::default()
        };
        seg.seq = Seq(own.seq.wrapping_sub(seg.seq_len()));
        set_options(&mut seg, lent.ts);
        if lent.ts >> SACKED & 7 > 0 {
            seg.sack.push(Seq(self.first), Seq((self.start.0 >> 32) as u32));
        }
        let packet = Packet {
            tuple: self.tuple,
            time: self.time,
            number: self.number,
            ttl: self.ttls[0],
            ip_id: own.ip_id,
            checksum: lent.window,
            notes: Notes(lent.ip_id & !RARE),
            seg,
            ..Packet::default()
        };
        (packet, fate(lent.ts, lent.ip_id, self.first))
    }

    /// Forgets the first packet, to be written again in a block.
    pub(super) fn restart(&mut self, first: &Packet) {
        self.sides = [Expected::default(); 2];
        (self.start, self.start_number) = (first.time, first.number);
        self.first = NONE;
        self.ttls[0] = 0;
        self.count = 0;
    }
}
