//! A young connection's bytes, read back as the packets that they were written from.

use super::*;
use wire::{SackBlocks, Timestamps};

/// What the lowest bytes of a word hold, by their number.
const BELOW: [u64; 9] = {
    let mut below = [u64::MAX; 9];
    let mut n = 0;
    while n < 8 {
        below[n] = (1 << (8 * n)) - 1;
        n += 1;
    }
    below
};

/// See [`folded_sign`].
#[inline(always)]
fn with_sign(n: u64) -> i64 {
    (n >> 1) as i64 ^ -((n & 1) as i64)
}

/// A side's latest packet, and what is expected of its next besides: the next is read where this one is.
pub(super) struct Latest {
    pub packet: Packet,
    pub next: u32,
    pub ts: u32,
}

pub(super) struct Reader<'a> {
    pub bytes: &'a [u8; ALL + 8],
    pub at: usize,
    pub time: Time,
    pub number: u64,
    /// Of the latest packet.
    pub fate: Fate,
}

impl Reader<'_> {
    #[inline(always)]
    fn get(&mut self, len: usize) -> u64 {
        let at = self.at % ALL;
        let mut eight = [0; 8];
        eight.copy_from_slice(&self.bytes[at..at + 8]);
        self.at += len;
        u64::from_le_bytes(eight) & BELOW[len]
    }
    #[inline(always)]
    fn narrow(&mut self, word: u32, at: u32) -> u32 {
        self.get(NARROW[(word >> at & 3) as usize]) as u32
    }
    #[inline(always)]
    fn span(&mut self, word: u32) -> i64 {
        let code = word >> TIME & 3;
        let n = with_sign(self.get(SPANS[code as usize]));
        if code == 0 { n * MICROSECOND } else { n }
    }
    #[inline(always)]
    fn step(&mut self, word: u32) -> i64 {
        with_sign(self.get(STEPS[(word >> NUMBER & 3) as usize]))
    }
    #[inline(always)]
    fn difference(&mut self, expected: u32, word: u32, at: u32) -> u32 {
        let n = self.narrow(word, at);
        expected.wrapping_add((n >> 1) ^ (n & 1).wrapping_neg())
    }

    #[inline(always)]
    pub fn packet<'a>(&mut self, sides: &'a mut [Latest; 2]) -> &'a Packet {
        let word = self.get(4) as u32;
        let has = |bits: u32| word & bits != 0;
        let side = usize::from(has(SIDE));
        let Latest { next: ack, ts: ecr, .. } = sides[1 - side];
        let mine = &mut sides[side];
        let packet = &mut mine.packet;
        let seg = &mut packet.seg;
        self.time.0 = self.time.0.wrapping_add(self.span(word));
        self.number = self.number.wrapping_add(self.step(word) as u64);
        (packet.time, packet.number) = (self.time, self.number);
        seg.payload = self.narrow(word, PAYLOAD);
        (seg.seq, seg.ack) = (Seq(mine.next), Seq(ack));
        if has(3 << SEQ | 3 << ACK) {
            seg.seq = Seq(self.difference(mine.next, word, SEQ));
            seg.ack = Seq(self.difference(ack, word, ACK));
        }
        seg.flags = Flags::ACK;
        if has(FLAGS) {
            seg.flags = Flags(self.get(1) as u8);
        }
        if has(WINDOW) {
            seg.window = self.get(2) as u16;
        }
        packet.ip_id = packet.ip_id.wrapping_add(1);
        if has(IP_ID) {
            packet.ip_id = self.get(2) as u16;
        }
        seg.timestamps = None;
        if has(STAMPS) {
            mine.ts = self.difference(mine.ts, word, TS);
            seg.timestamps = Some(Timestamps { val: mine.ts, ecr: self.difference(ecr, word, ECR) });
        }
        packet.checksum = (word >> CHECKSUM) as u16;
        (packet.notes, seg.options_cut) = (Notes::default(), has(CUT));
        (seg.mss, seg.window_scale, seg.sack_permitted) = (None, None, false);
        if !seg.sack.is_empty() {
            seg.sack = SackBlocks::NONE;
        }
        self.fate = Fate::Unknown;
        if has(TTL | NOTES | PARTIAL | OPTIONS) {
            self.seldom(word, packet);
        }
        mine.next = (packet.seg.seq + packet.seg.seq_len()).0;
        packet
    }

    /// What few packets tell anew.
    #[inline(never)]
    fn seldom(&mut self, word: u32, packet: &mut Packet) {
        let has = |bit: u32| word & bit != 0;
        let (mut notes, mut partly, mut options) = (0, 0, 0);
        if has(TTL) {
            packet.ttl = self.get(1) as u8;
        }
        if has(NOTES) {
            notes = self.get(2) as u16;
            packet.notes = Notes(notes & !RARE);
            if notes & PARTLY_LOST != 0 {
                partly = self.get(4) as u32;
            }
        }
        if has(PARTIAL) {
            packet.notes.add(Notes::PARTIAL_CHECKSUM);
        }
        if has(OPTIONS) {
            options = self.get(4) as u32;
            set_options(&mut packet.seg, options);
            for _ in 0..options >> SACKED & 7 {
                let edges = self.get(8);
                packet.seg.sack.push(Seq(edges as u32), Seq((edges >> 32) as u32));
            }
        }
        self.fate = fate(options, notes, partly);
    }
}
