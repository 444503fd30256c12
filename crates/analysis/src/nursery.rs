//! Young connections, kept as the packets themselves in a few bytes each.
//!
//! Most connections of a busy link are short. A connection is followed in full only from its sixteenth packet
//! on (or from its first SACK block); until then its packets are written down, mostly as differences from what
//! was to be expected, and read back when it grows up or ends. So a short connection costs some 300 bytes and
//! is analysed by the very same code as a long one.

use crate::incarnation::{Opening, establishes, reopens};
use crate::prefetch;
use wire::{Flags, Notes, Packet, Segment, Seq, Time, Timestamps, Tuple};

/// As many packets as a young connection may have.
const MOST: u8 = 15;
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
    /// When the first packet passed, and its number; the same of the latest.
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
        }
    }
    pub fn is_over(&self) -> bool {
        self.reset || self.fins == [true, true]
    }
    /// May this packet be written down, or is it time to grow up?
    pub fn takes(&self, packet: &Packet) -> bool {
        self.count < MOST && packet.seg.sack.is_empty()
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

/// The packets of all young connections, in blocks of 64 bytes.
#[derive(Default)]
pub struct Nursery {
    blocks: Vec<Block>,
    free: Vec<u32>,
}

// What differs from what was expected; a bit each.
const SIDE: u16 = 1;
const PAYLOAD: u16 = 1 << 1;
const SEQ: u16 = 1 << 2;
const ACK: u16 = 1 << 3;
const WINDOW: u16 = 1 << 4;
const STAMPS: u16 = 1 << 5;
const TS: u16 = 1 << 6;
const ECR: u16 = 1 << 7;
const IP_ID: u16 = 1 << 8;
const OPTIONS: u16 = 1 << 9;
const CUT: u16 = 1 << 10;
const NOTES: u16 = 1 << 11;
const FLAGS: u16 = 1 << 12;
const PARTIAL: u16 = 1 << 13;
const TTL: u16 = 1 << 14;

/// A packet's bytes before they go into blocks; the longest takes 71.
struct Record {
    bytes: [u8; 80],
    len: usize,
}

impl Record {
    fn byte(&mut self, b: u8) {
        self.bytes[self.len] = b;
        self.len += 1;
    }
    /// LEB128.
    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.byte(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8);
    }
    fn step(&mut self, n: i64) {
        self.number(((n << 1) ^ (n >> 63)) as u64);
    }
    fn difference(&mut self, now: u32, expected: u32) {
        self.step(i64::from(now.wrapping_sub(expected) as i32));
    }
}

impl Nursery {
    /// The next packet of this connection is to be written soon.
    #[inline]
    pub fn warm(&self, young: &Young) {
        if let Some(block) = self.blocks.get(young.last as usize) {
            prefetch::lines(block, 0, 1);
        }
    }

    /// All of this connection is to be read soon.
    pub fn warm_all(&self, young: &Young) {
        let mut at = young.first;
        while let Some(block) = self.blocks.get(at as usize) {
            prefetch::lines(block, 0, 1);
            // Blocks of a connection are seldom neighbours: the next one's place stands in this one.
            at = block.next;
        }
    }

    /// Writes a packet down. `side`: 0 if it goes the way of the first.
    pub fn write(&mut self, young: &mut Young, packet: &Packet) {
        let side = usize::from(packet.tuple != young.tuple);
        let seg = &packet.seg;
        let (mine, other) = (young.sides[side], young.sides[1 - side]);
        let mut r = Record { bytes: [0; 80], len: 2 };
        let mut bits = if side == 1 { SIDE } else { 0 };
        r.step(packet.time.0.wrapping_sub(young.time.0));
        r.step(packet.number.wrapping_sub(young.number) as i64);
        r.byte(folded(packet.checksum));
        let mut put = |set: bool, bit: u16, f: &mut dyn FnMut(&mut Record)| {
            if set {
                bits |= bit;
                f(&mut r);
            }
        };
        put(seg.flags != Flags::ACK, FLAGS, &mut |r| r.byte(seg.flags.0));
        put(seg.payload > 0, PAYLOAD, &mut |r| r.number(u64::from(seg.payload)));
        put(seg.seq.0 != mine.seq, SEQ, &mut |r| r.difference(seg.seq.0, mine.seq));
        put(seg.ack.0 != other.seq, ACK, &mut |r| r.difference(seg.ack.0, other.seq));
        put(seg.window != mine.window, WINDOW, &mut |r| r.number(u64::from(seg.window)));
        let id = mine.ip_id.wrapping_add(1);
        put(packet.ip_id != id, IP_ID, &mut |r| r.number(u64::from(packet.ip_id)));
        let ts = seg.timestamps.unwrap_or_default();
        let stamped = seg.timestamps.is_some();
        put(stamped, STAMPS, &mut |_| {});
        put(stamped && ts.val != mine.ts, TS, &mut |r| r.difference(ts.val, mine.ts));
        put(stamped && ts.ecr != other.ts, ECR, &mut |r| r.difference(ts.ecr, other.ts));
        let offers = seg.mss.is_some() || seg.window_scale.is_some() || seg.sack_permitted;
        put(offers, OPTIONS, &mut |r| {
            r.number(seg.mss.map_or(0, |m| u64::from(m) + 1));
            r.number(seg.window_scale.map_or(0, |w| u64::from(w) + 1));
            r.byte(u8::from(seg.sack_permitted));
        });
        put(seg.options_cut, CUT, &mut |_| {});
        put(packet.notes != Notes::default(), NOTES, &mut |r| r.number(u64::from(packet.notes.0)));
        put(packet.has_partial_checksum(), PARTIAL, &mut |_| {});
        put(packet.ttl != young.ttls[side], TTL, &mut |r| r.byte(packet.ttl));
        r.bytes[..2].copy_from_slice(&bits.to_le_bytes());

        let m = &mut young.sides[side];
        m.seq = (seg.seq + seg.seq_len()).0;
        (m.window, m.ip_id) = (seg.window, packet.ip_id);
        young.ttls[side] = packet.ttl;
        if stamped {
            m.ts = ts.val;
        }
        young.time = packet.time;
        young.number = packet.number;
        young.count += 1;
        young.fins[side] |= seg.flags.has(Flags::FIN);
        young.reset |= seg.flags.has(Flags::RST);
        young.established |= establishes(seg.flags);
        young.openings[side].note(seg);
        self.append(young, &r.bytes[..r.len]);
    }

    fn append(&mut self, young: &mut Young, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if young.last == NONE || usize::from(young.used) == ROOM {
                let fresh = self.block();
                match young.last {
                    NONE => young.first = fresh,
                    last => self.blocks[last as usize].next = fresh,
                }
                young.last = fresh;
                young.used = 0;
            }
            let at = usize::from(young.used);
            let n = bytes.len().min(ROOM - at);
            self.blocks[young.last as usize].bytes[at..at + n].copy_from_slice(&bytes[..n]);
            young.used += n as u8;
            bytes = &bytes[n..];
        }
    }

    fn block(&mut self) -> u32 {
        let empty = Block { next: NONE, bytes: [0; ROOM] };
        match self.free.pop() {
            Some(i) => {
                self.blocks[i as usize].next = NONE;
                i
            }
            None => {
                self.blocks.push(empty);
                self.blocks.len() as u32 - 1
            }
        }
    }

    /// Reads every packet back, in order, and forgets them.
    pub fn read(&mut self, young: &Young, mut each: impl FnMut(&Packet)) {
        let mut bytes = [0u8; 80 * MOST as usize];
        let mut len = 0;
        let mut at = young.first;
        while at != NONE {
            let block = self.blocks[at as usize];
            let n = if at == young.last { usize::from(young.used) } else { ROOM };
            bytes[len..len + n].copy_from_slice(&block.bytes[..n]);
            len += n;
            self.free.push(at);
            at = block.next;
        }
        let mut r = Reader { bytes: &bytes[..len], at: 0 };
        let (mut sides, mut ttls) = ([Expected::default(); 2], [0; 2]);
        let (mut time, mut number) = (young.start, young.start_number);
        for _ in 0..young.count {
            let packet = r.packet(&young.tuple, &mut sides, &mut ttls, &mut time, &mut number);
            each(&packet);
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> u8 {
        let b = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        b
    }
    fn number(&mut self) -> u64 {
        let (mut n, mut shift) = (0, 0);
        loop {
            let b = self.byte();
            n |= u64::from(b & 0x7f) << shift;
            shift += 7;
            if b < 0x80 || shift > 63 {
                return n;
            }
        }
    }
    fn step(&mut self) -> i64 {
        let n = self.number();
        (n >> 1) as i64 ^ -((n & 1) as i64)
    }
    fn difference(&mut self, expected: u32) -> u32 {
        expected.wrapping_add(self.step() as u32)
    }

    fn packet(
        &mut self,
        way: &Tuple,
        sides: &mut [Expected; 2],
        ttls: &mut [u8; 2],
        time: &mut Time,
        number: &mut u64,
    ) -> Packet {
        let bits = u16::from_le_bytes([self.byte(), self.byte()]);
        let has = |bit: u16| bits & bit != 0;
        let side = usize::from(has(SIDE));
        let (mine, other) = (sides[side], sides[1 - side]);
        time.0 = time.0.wrapping_add(self.step());
        *number = number.wrapping_add(self.step() as u64);
        let folded = self.byte();
        let mut seg = Segment { flags: Flags::ACK, ..Segment::default() };
        if has(FLAGS) {
            seg.flags = Flags(self.byte());
        }
        if has(PAYLOAD) {
            seg.payload = self.number() as u32;
        }
        seg.seq = Seq(if has(SEQ) { self.difference(mine.seq) } else { mine.seq });
        seg.ack = Seq(if has(ACK) { self.difference(other.seq) } else { other.seq });
        seg.window = if has(WINDOW) { self.number() as u16 } else { mine.window };
        let next_id = mine.ip_id.wrapping_add(1);
        let ip_id = if has(IP_ID) { self.number() as u16 } else { next_id };
        if has(STAMPS) {
            let val = if has(TS) { self.difference(mine.ts) } else { mine.ts };
            let ecr = if has(ECR) { self.difference(other.ts) } else { other.ts };
            seg.timestamps = Some(Timestamps { val, ecr });
        }
        if has(OPTIONS) {
            seg.mss = self.number().checked_sub(1).map(|m| m as u16);
            seg.window_scale = self.number().checked_sub(1).map(|w| w as u8);
            seg.sack_permitted = self.byte() != 0;
        }
        seg.options_cut = has(CUT);
        seg.header_len = 20;
        let mut notes = if has(NOTES) { Notes(self.number() as u16) } else { Notes::default() };
        if has(PARTIAL) {
            notes.add(Notes::PARTIAL_CHECKSUM);
        }
        if has(TTL) {
            ttls[side] = self.byte();
        }
        let tuple = if side == 0 { *way } else { way.reversed() };
        let checksum = u16::from(folded);
        let m = &mut sides[side];
        m.seq = (seg.seq + seg.seq_len()).0;
        (m.window, m.ip_id) = (seg.window, ip_id);
        if let Some(ts) = seg.timestamps {
            m.ts = ts.val;
        }
        Packet {
            time: *time,
            number: *number,
            tuple,
            seg,
            ip_id,
            checksum,
            ttl: ttls[side],
            notes,
            ..Packet::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{Endpoint, Host};

    /// A small generator, so that a failure repeats: Knuth's MMIX constants.
    struct Lcg(u64);
    impl Lcg {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            self.0 >> 33
        }
    }

    fn tuple() -> Tuple {
        Tuple {
            src: Endpoint { host: Host::v4([10, 0, 0, 1]), port: 40000 },
            dst: Endpoint { host: Host::v4([10, 0, 0, 2]), port: 80 },
        }
    }

    fn any_packet(r: &mut Lcg, number: u64, time: i64) -> Packet {
        let odd = |r: &mut Lcg| r.next().is_multiple_of(3);
        let seg = Segment {
            seq: Seq(r.next() as u32),
            ack: Seq(r.next() as u32),
            payload: if odd(r) { 0 } else { r.next() as u32 % 70_000 },
            window: r.next() as u16,
            flags: Flags(r.next() as u8),
            mss: odd(r).then_some(r.next() as u16),
            window_scale: odd(r).then_some(r.next() as u8),
            sack_permitted: odd(r),
            options_cut: odd(r),
            header_len: 20,
            timestamps: odd(r).then_some(Timestamps { val: r.next() as u32, ecr: r.next() as u32 }),
            ..Segment::default()
        };
        let tuple = if odd(r) { tuple().reversed() } else { tuple() };
        let notes = Notes(if odd(r) { r.next() as u16 } else { 0 });
        let ttl = if odd(r) { 64 } else { r.next() as u8 };
        Packet {
            ttl,
            time: Time(time),
            number,
            tuple,
            seg,
            ip_id: r.next() as u16,
            notes,
            ..Packet::default()
        }
    }

    #[test]
    fn what_is_written_down_reads_back() {
        for seed in 0..2000 {
            let mut r = Lcg(seed);
            let mut nursery = Nursery::default();
            let mut packets = vec![Packet { tuple: tuple(), ..any_packet(&mut r, 7, 1_000) }];
            while packets.len() < usize::from(MOST) {
                let k = packets.len() as u64;
                let time = 1_000 + r.next() as i64 * 1000 - 500;
                packets.push(any_packet(&mut r, 7 + k * 3, time));
            }
            let mut young = Young::new(&packets[0]);
            packets.iter().for_each(|p| nursery.write(&mut young, p));
            let mut read = Vec::new();
            nursery.read(&young, |p| read.push(*p));
            for (was, is) in packets.iter().zip(&read) {
                let mut was = *was;
                if was.has_partial_checksum() {
                    was.notes.add(Notes::PARTIAL_CHECKSUM);
                }
                let is = Packet { checksum: was.checksum, ..*is };
                assert_eq!(was, is, "seed {seed}");
            }
            assert_eq!(read.len(), packets.len(), "seed {seed}");
        }
    }

    #[test]
    fn an_ordinary_packet_takes_a_dozen_bytes() {
        let mut nursery = Nursery::default();
        let mut packet = Packet { tuple: tuple(), ..Packet::default() };
        packet.seg.flags = Flags::ACK;
        packet.seg.payload = 1448;
        packet.seg.timestamps = Some(Timestamps { val: 1, ecr: 1 });
        let mut young = Young::new(&packet);
        for k in 0..u64::from(MOST) {
            packet.number = k * 20_000;
            packet.time = Time(k as i64 * 20_000_000);
            packet.ip_id += 1;
            nursery.write(&mut young, &packet);
            packet.seg.seq = packet.seg.seq + 1448;
        }
        assert!(nursery.blocks.len() <= 4, "{} blocks", nursery.blocks.len());
    }
}
