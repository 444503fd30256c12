use super::*;
use wire::{Endpoint, Host, Timestamps};

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
    let mut seg = Segment {
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
    for _ in 0..if odd(r) { r.next() % 5 } else { 0 } {
        seg.sack.push(Seq(r.next() as u32), Seq(r.next() as u32));
    }
    let tuple = if odd(r) { tuple().reversed() } else { tuple() };
    let notes = Notes(if odd(r) { r.next() as u16 & !Notes::SPARE.0 } else { 0 });
    let ttl = if odd(r) { 64 } else { r.next() as u8 };
    Packet { ttl, time: Time(time), number, tuple, seg, ip_id: r.next() as u16, notes, ..Packet::default() }
}

#[test]
fn what_is_written_down_reads_back() {
    for seed in 0..2000 {
        let mut r = Lcg(seed);
        let mut short_connections = ShortConnections::default();
        let mut packets = vec![Packet { tuple: tuple(), ..any_packet(&mut r, 7, 1_000) }];
        // A lone one is kept apart, and a second brings it into a block.
        let many = 1 + seed as usize % usize::from(MOST);
        while packets.len() < many {
            let k = packets.len() as u64;
            let time = 1_000 + r.next() as i64 * 1000 - 500;
            packets.push(any_packet(&mut r, 7 + k * 3, time));
        }
        let mut young = Young::new(&packets[0]);
        let fate = |p: &Packet| match p.ttl % 7 {
            4 => Fate::Damaged,
            5 => Fate::UnderWay,
            6 => Fate::PartlyLost(p.seg.seq.0),
            common => FATES[usize::from(common)],
        };
        packets.iter().for_each(|p| short_connections.write(&mut young, p, fate(p)));
        let mut read = Vec::new();
        short_connections.read(&young, |p, told| {
            assert_eq!(told, fate(p), "seed {seed}");
            read.push(*p);
        });
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
    let mut short_connections = ShortConnections::default();
    let mut packet = Packet { tuple: tuple(), ..Packet::default() };
    packet.seg.flags = Flags::ACK;
    packet.seg.payload = 1448;
    packet.seg.timestamps = Some(Timestamps { val: 1, ecr: 1 });
    let mut young = Young::new(&packet);
    for k in 0..u64::from(MOST) {
        packet.number = k * 20_000;
        packet.time = Time(k as i64 * 20_000_000);
        packet.ip_id += 1;
        short_connections.write(&mut young, &packet, Fate::Unknown);
        packet.seg.seq = packet.seg.seq + 1448;
    }
    assert!(
        short_connections.blocks.len() <= usize::from(MOST).div_ceil(4),
        "{} blocks",
        short_connections.blocks.len()
    );
}
