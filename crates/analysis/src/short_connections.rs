//! Young connections, kept as the packets themselves in a few bytes each.
//!
//! Most connections of a busy link are short. A connection is followed in full only from its 80th packet
//! on; until then its packets are written down, mostly as differences from what
//! was to be expected, and read back when it grows up or ends. So a short connection costs some 300 bytes and
//! is analysed by the very same code as a long one.

mod first;
mod reader;

use crate::Fate;
use crate::chunks::Chunks;
use crate::connection_table::is;
use crate::incarnation::{Opening, establishes, reopens};
use crate::prefetch;
use reader::{Latest, Reader};
use wire::checksum::hosts;
use wire::{Flags, Notes, Packet, Segment, Seq, Time, Tuple};

/// As many packets as a young connection may have: one followed in full takes some 6 kB, and as much again for what is
/// in flight, about twice what 80 packets take in a capture.
const MOST: u8 = 79;
const ROOM: usize = 60;
const NONE: u32 = u32::MAX;

/// What is expected of a side's next packet.
#[derive(Clone, Copy, Debug, Default)]
struct Expected {
    seq: u32,
    ts: u32,
    window: u16,
    ip_id: u16,
}

/// Two cache lines, no more.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Young {
    /// Of the first packet.
    pub tuple: Tuple,
    /// When the first packet passed, and its number; the same of the latest. (Of a lone one see [`first`].)
    start: Time,
    start_number: u64,
    time: Time,
    number: u64,
    sides: [Expected; 2],
    first: u32,
    last: u32,
    used: u8,
    count: u8,
    ttls: [u8; 2],
    fins: [bool; 2],
    reset: bool,
    established: bool,
    /// The first packet was a SYN-ACK: its host is the one that was called.
    answers: bool,
    openings: [Opening; 2],
    /// What its hosts add to the checksum of each packet.
    hosts: u16,
}

impl Young {
    pub fn new(packet: &Packet) -> Young {
        Young {
            tuple: packet.tuple,
            start: packet.time,
            start_number: packet.number,
            time: packet.time,
            number: packet.number,
            sides: [Expected::default(); 2],
            first: NONE,
            last: NONE,
            used: 0,
            count: 0,
            ttls: [0; 2],
            fins: [false; 2],
            reset: false,
            established: false,
            answers: packet.seg.flags.has(Flags::SYN) && packet.seg.flags.has(Flags::ACK),
            openings: [Opening::default(); 2],
            hosts: hosts(&packet.tuple),
        }
    }
    /// The tuple of what goes towards the one that was called.
    pub fn towards_called(&self) -> Tuple {
        if self.answers { self.tuple.reversed() } else { self.tuple }
    }
    pub fn is_over(&self) -> bool {
        self.reset || self.fins == [true, true]
    }
    /// When its first packet passed, and its latest.
    pub fn span(&self) -> (Time, Time) {
        (self.start, if self.is_alone() { self.start } else { self.time })
    }
    pub fn packets(&self) -> u64 {
        self.count.into()
    }
    /// May another packet be written down, or is it time to grow up?
    pub fn takes(&self) -> bool {
        self.count < MOST
    }
    #[inline(always)]
    fn see(&mut self, side: usize, seg: &Segment) {
        self.count += 1;
        self.fins[side] |= seg.flags.has(Flags::FIN);
        self.reset |= seg.flags.has(Flags::RST);
        self.established |= establishes(seg.flags);
        self.openings[side].note(seg);
    }
    /// A SYN that is none of this connection's.
    pub fn is_reopened_by(&self, packet: &Packet) -> bool {
        if !packet.seg.flags.has(Flags::SYN) {
            return false;
        }
        let side = usize::from(packet.tuple != self.tuple);
        let caller = (side == 0) != self.answers;
        let (mine, other) = (&self.openings[side], &self.openings[1 - side]);
        reopens(&packet.seg, mine, other, caller, self.established || self.is_over())
    }
}

/// A checksum folded to a byte: enough to tell one packet captured twice from two packets. A folded one stays
/// what it is.
pub fn folded(checksum: u16) -> u8 {
    (checksum ^ (checksum >> 8)) as u8
}

#[derive(Clone, Copy)]
struct Block {
    next: u32,
    bytes: [u8; ROOM],
}

impl Default for Block {
    fn default() -> Block {
        Block { next: NONE, bytes: [0; ROOM] }
    }
}

/// The packets of all young connections, in blocks of 64 bytes.
pub struct ShortConnections {
    blocks: Chunks<Block>,
    /// The first of the blocks that nobody uses; each knows the next.
    free: u32,
    /// Where a connection's bytes are put together to be read.
    whole: Box<[u8; ALL + 8]>,
}

impl Default for ShortConnections {
    fn default() -> ShortConnections {
        ShortConnections { blocks: Chunks::default(), free: NONE, whole: Box::new([0; ALL + 8]) }
    }
}

/// Blocks of a connection that are asked for one after the other; most connections have no more.
pub const DEPTH: usize = 4;

// A record begins with a word: what differs from what was expected, and in how many bytes that stands. Two bits each
// for five numbers (0, 1, 2 or 4 bytes), for the time and for the packet's number (see `SPANS`, `STEPS`); then a bit each; a
// byte of the checksum on top.
const PAYLOAD: u32 = 0;
const SEQ: u32 = 2;
const ACK: u32 = 4;
const TS: u32 = 6;
const ECR: u32 = 8;
const TIME: u32 = 10;
const NUMBER: u32 = 12;
const SIDE: u32 = 1 << 14;
const WINDOW: u32 = 1 << 15;
const STAMPS: u32 = 1 << 16;
const IP_ID: u32 = 1 << 17;
const OPTIONS: u32 = 1 << 18;
const CUT: u32 = 1 << 19;
const NOTES: u32 = 1 << 20;
const FLAGS: u32 = 1 << 21;
const PARTIAL: u32 = 1 << 22;
const TTL: u32 = 1 << 23;
const CHECKSUM: u32 = 24;

// Which options a SYN carries, above their values.
const MSS: u32 = 1 << 24;
const SCALE: u32 = 1 << 25;
const SACK: u32 = 1 << 26;
/// How many SACK blocks stand behind the options, of any packet: up to four.
const SACKED: u32 = 27;
/// What became of it, of any packet, if a second capture tells: one of [`FATES`].
const FATE: u32 = 30;
const FATES: [Fate; 4] = [Fate::Unknown, Fate::Arrived, Fate::Late, Fate::Lost];

// The other fates, beside the packet's notes.
const DAMAGED: u16 = 1 << 13;
const UNDER_WAY: u16 = 1 << 14;
const HERE: u16 = DAMAGED | UNDER_WAY;
/// How many bytes were lost stands behind, in four bytes.
const PARTLY_LOST: u16 = 1 << 15;
const RARE: u16 = Notes::SPARE.0;

/// Bytes of a number by its two bits: of sequence numbers and the like...
const NARROW: [usize; 4] = [0, 1, 2, 4];
/// The two bits of such a number, by how many bits it has.
const CODES: [u8; 64] = {
    let mut codes = [3; 64];
    let mut bits = 0;
    while bits <= 16 {
        codes[bits] = (bits > 0) as u8 + (bits > 8) as u8;
        bits += 1;
    }
    codes
};
/// ...of times since the packet before: microseconds if they are whole (8 s fit), else nanoseconds...
const SPANS: [usize; 4] = [3, 4, 5, 8];
const MICROSECOND: i64 = 1000;
/// ...and of steps in the packets' numbers.
const STEPS: [usize; 4] = [1, 2, 3, 8];

/// A sign in the lowest bit, so that small numbers of either sign are small.
#[inline(always)]
fn folded_sign(n: i64) -> u64 {
    ((n << 1) ^ (n >> 63)) as u64
}

/// A packet's bytes before they go into blocks; the longest takes 88, and each number is written as if it had eight.
struct Record {
    bytes: [u8; LONGEST + 8],
    len: usize,
    word: u32,
}

/// A power of two, so that a place below it needs no check.
const LONGEST: usize = 128;

/// Most records take no more bytes than these, and many no more than those.
const SHORT: usize = 24;
const SHORTEST: usize = 16;

impl Record {
    #[inline(always)]
    fn put(&mut self, n: u64, len: usize) {
        let at = self.len % LONGEST;
        self.bytes[at..at + 8].copy_from_slice(&n.to_le_bytes());
        self.len += len;
    }
    #[inline(always)]
    fn put_if(&mut self, set: bool, bit: u32, n: u64, len: usize) {
        if set {
            self.word |= bit;
            self.put(n, len);
        }
    }
    /// A number of up to four bytes; none if it is 0.
    #[inline(always)]
    fn narrow(&mut self, n: u32, at: u32) {
        let code = CODES[(u64::from(n) << 1 | 1).ilog2() as usize];
        self.word |= u32::from(code) << at;
        self.put(u64::from(n), NARROW[usize::from(code)]);
    }
    #[inline(always)]
    fn span(&mut self, ns: i64) {
        let us = ns / MICROSECOND;
        let (n, small) = (folded_sign(ns), folded_sign(us));
        let (n, code) = match us * MICROSECOND == ns && small <= 0xff_ffff {
            true => (small, 0),
            false => (n, 1 + u32::from(n > 0xffff_ffff) + u32::from(n > 0xff_ffff_ffff)),
        };
        self.word |= code << TIME;
        self.put(n, SPANS[code as usize]);
    }
    #[inline(always)]
    fn step(&mut self, n: i64) {
        let n = folded_sign(n);
        let code = u32::from(n > 0xff) + u32::from(n > 0xffff) + u32::from(n > 0xff_ffff);
        self.word |= code << NUMBER;
        self.put(n, STEPS[code as usize]);
    }
    #[inline(always)]
    fn difference(&mut self, now: u32, expected: u32, at: u32) {
        let n = now.wrapping_sub(expected) as i32;
        self.narrow(((n << 1) ^ (n >> 31)) as u32, at);
    }
}

impl ShortConnections {
    /// The next packet of this connection is to be written soon.
    #[inline]
    pub fn warm(&self, young: &Young) {
        if let Some(block) = self.blocks.get(young.last as usize) {
            prefetch::lines(block, 0, 1);
        }
    }

    /// All of this connection is to be read before long. Its blocks are seldom neighbours, and where the next one is
    /// stands in the one before: to be called for each `depth` in turn, with some time between.
    #[inline]
    pub fn warm_all(&self, young: &Young, depth: usize) {
        let mut at = if young.is_alone() { NONE } else { young.first };
        for _ in 0..depth {
            let Some(block) = self.blocks.get(at as usize) else { return };
            at = block.next;
        }
        if let Some(block) = self.blocks.get(at as usize) {
            prefetch::lines(block, 0, 1);
        }
    }

    /// Writes a packet down.
    #[inline(never)]
    pub fn write(&mut self, young: &mut Young, packet: &Packet, fate: Fate) {
        if young.can_keep_first(packet, fate) {
            return young.keep_first(packet, fate);
        }
        if young.is_alone() {
            self.write_first(young);
        }
        self.write_record(young, packet, packet.has_partial_checksum_between(young.hosts), fate);
    }

    #[inline(never)]
    fn write_first(&mut self, young: &mut Young) {
        let (first, fate) = young.first_packet();
        young.restart(&first);
        self.write_record(young, &first, first.notes.has(Notes::PARTIAL_CHECKSUM), fate);
    }

    /// `side`: 0 if it goes the way of the first.
    #[inline(always)]
    fn write_record(&mut self, young: &mut Young, packet: &Packet, partial: bool, fate: Fate) {
        let side = usize::from(!is(&packet.tuple.src, &young.tuple.src));
        let seg = &packet.seg;
        let (mine, other) = (young.sides[side], young.sides[1 - side]);
        let side_bit = if side == 1 { SIDE } else { 0 };
        let word = side_bit | u32::from(folded(packet.checksum)) << CHECKSUM;
        let mut r = Record { bytes: [0; LONGEST + 8], len: 4, word };
        r.span(packet.time.0.wrapping_sub(young.time.0));
        r.step(packet.number.wrapping_sub(young.number) as i64);
        r.narrow(seg.payload, PAYLOAD);
        if (seg.seq.0 ^ mine.seq) | (seg.ack.0 ^ other.seq) != 0 {
            r.difference(seg.seq.0, mine.seq, SEQ);
            r.difference(seg.ack.0, other.seq, ACK);
        }
        r.put_if(seg.flags != Flags::ACK, FLAGS, u64::from(seg.flags.0), 1);
        r.put_if(seg.window != mine.window, WINDOW, u64::from(seg.window), 2);
        r.put_if(packet.ip_id != mine.ip_id.wrapping_add(1), IP_ID, u64::from(packet.ip_id), 2);
        let ts = seg.timestamps.unwrap_or_default();
        let stamped = seg.timestamps.is_some();
        if stamped {
            r.word |= STAMPS;
            r.difference(ts.val, mine.ts, TS);
            r.difference(ts.ecr, other.ts, ECR);
        }
        r.put_if(packet.ttl != young.ttls[side], TTL, u64::from(packet.ttl), 1);
        let notes = packet.notes.0 | rare(fate);
        r.put_if(notes != 0, NOTES, u64::from(notes), 2);
        if let Fate::PartlyLost(bytes) = fate {
            r.put(u64::from(bytes), 4);
        }
        let options = options(seg, fate);
        r.put_if(options != 0, OPTIONS, u64::from(options), 4);
        for (left, right) in seg.sack.as_slice() {
            r.put(u64::from(left.0) | u64::from(right.0) << 32, 8);
        }
        r.put_if(seg.options_cut, CUT, 0, 0);
        r.put_if(partial, PARTIAL, 0, 0);
        let word = r.word.to_le_bytes();
        r.bytes[..4].copy_from_slice(&word);

        let m = &mut young.sides[side];
        m.seq = (seg.seq + seg.seq_len()).0;
        (m.window, m.ip_id) = (seg.window, packet.ip_id);
        young.ttls[side] = packet.ttl;
        if stamped {
            m.ts = ts.val;
        }
        young.time = packet.time;
        young.number = packet.number;
        young.see(side, seg);
        // Most records are short and most blocks have room: a copy of fixed length is a few instructions.
        let at = usize::from(young.used);
        let Some(block) = self.blocks.get_mut(young.last as usize) else { return self.append(young, &r) };
        if r.len <= SHORT && at + SHORT <= ROOM {
            block.bytes[at..at + SHORT].copy_from_slice(&r.bytes[..SHORT]);
        } else if r.len <= SHORTEST && at + SHORTEST <= ROOM {
            block.bytes[at..at + SHORTEST].copy_from_slice(&r.bytes[..SHORTEST]);
        } else {
            return self.append(young, &r);
        }
        young.used += r.len as u8;
    }

    /// The same of a record that is long, or goes on in other blocks.
    #[inline(never)]
    fn append(&mut self, young: &mut Young, r: &Record) {
        let mut n = 0;
        while n < r.len {
            if young.last == NONE || usize::from(young.used) == ROOM {
                let fresh = self.block();
                match young.last {
                    NONE => young.first = fresh,
                    last => self.blocks[last as usize].next = fresh,
                }
                (young.last, young.used) = (fresh, 0);
            }
            let at = usize::from(young.used);
            let part = (r.len - n).min(ROOM - at);
            self.blocks[young.last as usize].bytes[at..at + part].copy_from_slice(&r.bytes[n..n + part]);
            young.used += part as u8;
            n += part;
        }
    }

    fn block(&mut self) -> u32 {
        if self.free == NONE {
            return self.blocks.push(Block::default()) as u32;
        }
        let fresh = self.free;
        self.free = std::mem::replace(&mut self.blocks[fresh as usize].next, NONE);
        fresh
    }

    /// Reads every packet back, in order, and forgets them.
    pub fn read(&mut self, young: &Young, mut each: impl FnMut(&Packet, Fate)) {
        if young.is_alone() {
            let (packet, fate) = young.first_packet();
            return each(&packet, fate);
        }
        let mut len = 0;
        let mut at = young.first;
        while at != NONE {
            let block = &self.blocks[at as usize];
            let n = if at == young.last { usize::from(young.used) } else { ROOM };
            self.whole[len..len + ROOM].copy_from_slice(&block.bytes);
            len += n;
            at = block.next;
        }
        if let Some(last) = self.blocks.get_mut(young.last as usize) {
            last.next = std::mem::replace(&mut self.free, young.first);
        }
        let mut sides = [young.tuple, young.tuple.reversed()].map(|tuple| {
            let seg = Segment { header_len: 20, ..Segment::default() };
            Latest { packet: Packet { tuple, seg, ..Packet::default() }, next: 0, ts: 0 }
        });
        let mut r = Reader {
            bytes: &self.whole,
            at: 0,
            time: young.start,
            number: young.start_number,
            fate: Fate::Unknown,
        };
        for _ in 0..young.count {
            let packet = r.packet(&mut sides);
            each(packet, r.fate);
        }
    }
}

/// The options of a SYN, how many SACK blocks there are, and the packet's fate, in four bytes; 0 for nothing of these.
#[inline(always)]
fn options(seg: &Segment, fate: Fate) -> u32 {
    let mss = seg.mss.map_or(0, |m| u32::from(m) | MSS);
    let scale = seg.window_scale.map_or(0, |w| u32::from(w) << 16 | SCALE);
    let blocks = (seg.sack.as_slice().len() as u32) << SACKED;
    let fate = FATES.iter().position(|f| *f == fate).unwrap_or(0) as u32;
    mss | scale | blocks | fate << FATE | if seg.sack_permitted { SACK } else { 0 }
}

/// A fate that is none of [`FATES`], beside the packet's notes.
#[inline(always)]
fn rare(fate: Fate) -> u16 {
    match fate {
        Fate::Damaged => DAMAGED,
        Fate::UnderWay => UNDER_WAY,
        Fate::SeenArriving => HERE,
        Fate::PartlyLost(_) => PARTLY_LOST,
        Fate::Unknown | Fate::Arrived | Fate::Late | Fate::Lost => 0,
    }
}

/// One of [`FATES`], unless what stands beside the notes tells another; `partly`: bytes of it that were lost.
#[inline(always)]
fn fate(options: u32, notes: u16, partly: u32) -> Fate {
    match notes & RARE {
        0 => FATES[(options >> FATE) as usize],
        DAMAGED => Fate::Damaged,
        UNDER_WAY => Fate::UnderWay,
        HERE => Fate::SeenArriving,
        _ => Fate::PartlyLost(partly),
    }
}

fn set_options(seg: &mut Segment, options: u32) {
    seg.mss = (options & MSS != 0).then_some(options as u16);
    seg.window_scale = (options & SCALE != 0).then_some((options >> 16) as u8);
    seg.sack_permitted = options & SACK != 0;
}

/// More than all packets of a young connection take; a power of two, as [`LONGEST`].
const ALL: usize = LONGEST * (MOST as usize + 1);

#[cfg(test)]
mod tests;
