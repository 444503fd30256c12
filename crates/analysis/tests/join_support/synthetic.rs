//! A made-up transfer over a made-up path, seen at both ends, with the truth about every packet.

use std::collections::BTreeSet;
use wire::{Endpoint, Flags, Host, Packet, Segment, Seq, Time, Timestamps, Tuple};

pub const MS: i64 = 1_000_000;
pub const MSS: u32 = 1448;

/// SplitMix64: enough for a test, and the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    pub fn one_in(&mut self, n: u64) -> bool {
        n != 0 && self.below(n) == 0
    }
}

/// What the path does to packets, and how the two captures were taken.
#[derive(Clone, Debug)]
pub struct Path {
    pub seed: u64,
    pub packets: u32,
    /// Time between two data packets; an ACK leaves half-way between them.
    pub gap: i64,
    pub delay: i64,
    /// Added at random, so packets overtake each other.
    pub jitter: i64,
    /// One packet in so many is lost, comes twice; 0: none.
    pub lost_one_in: u64,
    pub twice_one_in: u64,
    /// One data packet in so many repeats an older segment.
    pub repeats_one_in: u64,
    /// The receiver's clock.
    pub ahead: i64,
    pub gains_ppm: i64,
    pub first_seq: u32,
    /// Changes what a packet looks like in the receiver's capture.
    pub rewrite: fn(&mut Packet),
}

impl Default for Path {
    fn default() -> Path {
        Path {
            seed: 1,
            packets: 3000,
            gap: MS,
            delay: 10 * MS,
            jitter: 0,
            lost_one_in: 20,
            twice_one_in: 0,
            repeats_one_in: 10,
            ahead: 0,
            gains_ppm: 0,
            first_seq: 1_000_000,
            rewrite: |_| (),
        }
    }
}

pub struct Story {
    pub captures: [Vec<Packet>; 2],
    /// Packet numbers, in the capture next to their sender.
    pub lost: [BTreeSet<u64>; 2],
    pub came_twice: [u64; 2],
}

pub fn upload() -> Tuple {
    Tuple {
        src: Endpoint { host: Host::v4([10, 0, 0, 9]), port: 40_000 },
        dst: Endpoint { host: Host::v4([10, 0, 0, 2]), port: 80 },
    }
}

/// A packet on its way: whether it goes outward, when it left, when its copies arrive.
struct Sent {
    packet: Packet,
    outward: bool,
    left: i64,
    arrives: Vec<i64>,
}

impl Path {
    pub fn story(&self) -> Story {
        let mut random = Random(self.seed);
        let mut sent = self.handshake();
        let mut ids = [random.next() as u16 | 1, random.next() as u16 | 1];
        let mut next = 0;
        for i in 0..self.packets {
            let left = 100 * MS + i64::from(i) * self.gap;
            let segment = if next > 50 && random.one_in(self.repeats_one_in) { next - 50 } else { next };
            next += u32::from(segment == next);
            let data = self.packet(true, left, segment * MSS, MSS, &mut ids[0]);
            sent.push(self.send(&mut random, data, true, left));
            // duplicate ACKs: the number moves on every seventh
            let left = left + self.gap / 2;
            let ack = self.packet(false, left, (i / 7) * MSS, 0, &mut ids[1]);
            sent.push(self.send(&mut random, ack, false, left));
        }
        // both sides are heard once more, so neither capture ends too early to tell
        let end = 100 * MS + i64::from(self.packets) * self.gap + 1000 * MS;
        for (i, outward) in [true, false, true, false].into_iter().enumerate() {
            let left = end + i as i64 * 50 * MS;
            let packet = self.packet(outward, left, next * MSS, 0, &mut ids[usize::from(!outward)]);
            sent.push(Sent { packet, outward, left, arrives: vec![left + self.delay] });
        }
        self.capture(sent)
    }

    fn handshake(&self) -> Vec<Sent> {
        let mut sent = Vec::new();
        for (i, flags) in [Flags::SYN, Flags::SYN.with(Flags::ACK), Flags::ACK].into_iter().enumerate() {
            let (outward, left) = (i != 1, i as i64 * self.delay);
            let mut id = if outward { 77 + i as u16 } else { 0 };
            let mut packet = self.packet(outward, left, 0, 0, &mut id);
            packet.seg.flags = flags;
            packet.seg.mss = flags.has(Flags::SYN).then_some(1460);
            sent.push(Sent { packet, outward, left, arrives: vec![left + self.delay] });
        }
        sent
    }

    /// Outward: data at `at`. Inward: an ACK of everything below `at`.
    fn packet(&self, outward: bool, left: i64, at: u32, payload: u32, id: &mut u16) -> Packet {
        let tuple = if outward { upload() } else { upload().reversed() };
        let here = Seq(self.first_seq) + 1 + at;
        let (seq, ack) = if outward { (here, Seq(501)) } else { (Seq(501), here) };
        let ip_id = *id;
        *id = id.wrapping_add(1).max(1);
        let timestamps = Some(Timestamps { val: (left / MS) as u32, ecr: 7 });
        let mut seg =
            Segment { seq, ack, payload, window: 500, flags: Flags::ACK, timestamps, ..Segment::default() };
        if payload == 0 && at / MSS % 5 == 1 {
            seg.sack.push(here + MSS, here + 2 * MSS);
        }
        Packet { tuple, seg, ip_id, wire_len: 66 + payload, ttl: 64, ..Packet::default() }
    }

    fn send(&self, random: &mut Random, packet: Packet, outward: bool, left: i64) -> Sent {
        let mut arrival = || left + self.delay + random.below(self.jitter.max(1) as u64) as i64;
        let (first, second) = (arrival(), arrival());
        let lost = random.one_in(self.lost_one_in);
        let twice = !lost && random.one_in(self.twice_one_in);
        let arrives = if lost {
            vec![]
        } else if twice {
            vec![first, second]
        } else {
            vec![first]
        };
        Sent { packet, outward, left, arrives }
    }

    fn capture(&self, sent: Vec<Sent>) -> Story {
        // (time, packet, lost here, came twice here)
        let mut seen: [Vec<(i64, Packet, bool, bool)>; 2] = [Vec::new(), Vec::new()];
        for s in sent {
            let (near, far) = if s.outward { (0, 1) } else { (1, 0) };
            seen[near].push((s.left, s.packet, s.arrives.is_empty(), false));
            for (i, at) in s.arrives.iter().enumerate() {
                seen[far].push((*at, s.packet, false, i > 0));
            }
        }
        let mut story = Story { captures: Default::default(), lost: Default::default(), came_twice: [0; 2] };
        for (side, mut seen) in seen.into_iter().enumerate() {
            seen.sort_by_key(|s| s.0);
            for (i, (time, mut packet, lost, twice)) in seen.into_iter().enumerate() {
                packet.number = i as u64 + 1;
                packet.time = Time(1_700_000_000_000 * MS + time);
                if side == 1 {
                    packet.time = Time(packet.time.0 + self.ahead + time / 1_000_000 * self.gains_ppm);
                    (self.rewrite)(&mut packet);
                }
                if lost {
                    story.lost[side].insert(packet.number);
                }
                story.came_twice[side] += u64::from(twice);
                story.captures[side].push(packet);
            }
        }
        story
    }
}
