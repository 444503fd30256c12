//! At most twice the bytes read: inputs made to take memory, each held against the length of the capture it came from.

mod counting;

use analysis::rows::FlowRow;
use analysis::{Analyzer, Config, Fate, Sink};
use wire::{Endpoint, Flags, Host, Packet, Segment, Seq, Time, Tuple};

struct Nothing;
impl Sink for Nothing {
    fn flow(&mut self, _: &FlowRow) {}
}

/// At most so many connections, and as many as fill the chunks they lie in: room that is reserved and not used is no
/// memory, but counted.
const FLOWS: u32 = CHUNK * 64;
const CHUNK: u32 = 1 << 13;
/// Beside twice the input 200 MiB are allowed; of 5 million packets these are so many bytes each.
const ALLOWANCE: usize = (200 << 20) / 5_000_000;

fn packet(n: u32, flow: u32, flags: Flags) -> Packet {
    let [_, a, b, c] = flow.to_be_bytes();
    let src = Endpoint { host: Host::v4([10, a, b, c]), port: 40_000 };
    let dst = Endpoint { host: Host::v4([192, 0, 2, 1]), port: 80 };
    let seg = Segment {
        seq: Seq(flow.wrapping_mul(77_777)),
        flags,
        window: 60_000,
        header_len: 20,
        ..Segment::default()
    };
    let time = Time(i64::from(n) * 1_000);
    Packet {
        time,
        number: n.into(),
        tuple: Tuple { src, dst },
        seg,
        ip_id: n as u16,
        ttl: 60,
        ..Packet::default()
    }
}

fn with_sack(mut packet: Packet, blocks: u32) -> Packet {
    for k in 1..=blocks {
        packet.seg.sack.push(packet.seg.ack + k * 2_000, packet.seg.ack + k * 2_000 + 1_000);
    }
    packet
}

/// What the packet takes in a pcap file: its record's header, Ethernet, IPv4, TCP with options, data.
fn in_capture(p: &Packet) -> usize {
    let sack = match p.seg.sack.as_slice().len() {
        0 => 0,
        blocks => 4 + 8 * blocks,
    };
    16 + 14 + 20 + 20 + sack + p.seg.payload as usize
}

/// The most bytes that were allocated at once, and those of the capture; per packet.
fn bytes_per_packet(packets: impl Iterator<Item = Packet>) -> (usize, usize) {
    with_fate(packets, None)
}

/// The same where a second capture told what became of each packet.
fn with_fate(packets: impl Iterator<Item = Packet>, fate: Option<Fate>) -> (usize, usize) {
    let (most, (read, count)) = counting::most_of(|| {
        let mut analyzer = Analyzer::new(Config::default(), Nothing);
        let (mut read, mut count) = (0, 0);
        for packet in packets {
            (read, count) = (read + in_capture(&packet), count + 1);
            match fate {
                None => analyzer.push(&[packet]),
                Some(fate) => analyzer.push_with_fate(&packet, fate),
            }
        }
        analyzer.finish();
        (read, count)
    });
    (most / count, read / count)
}

/// `packets` of each connection, one connection after the other.
fn flood(packets: u32, one: impl Fn(Packet, u32) -> Packet) -> impl Iterator<Item = Packet> {
    let flows = (FLOWS / packets.next_power_of_two()).saturating_sub(CHUNK).max(CHUNK);
    (0..flows)
        .flat_map(move |flow| (0..packets).map(move |k| (flow, k)))
        .map(move |(flow, k)| one(packet(flow * packets + k, flow, Flags::ACK), k))
}

fn flags(mut packet: Packet, flags: Flags) -> Packet {
    packet.seg.flags = flags;
    packet
}

fn answered(packet: Packet, k: u32) -> Packet {
    match k {
        0 => flags(packet, Flags::SYN),
        _ => Packet { tuple: packet.tuple.reversed(), ..flags(packet, Flags::SYN.with(Flags::ACK)) },
    }
}

fn data(mut packet: Packet) -> Packet {
    packet.seg.payload = 8;
    packet
}

fn outstanding(packet: Packet, k: u32) -> Packet {
    let mut packet = data(packet);
    packet.seg.seq = packet.seg.seq + k * 8;
    packet
}

/// Eight bytes each, every one beginning within the one before.
fn overlapping(n: u32) -> Packet {
    let mut packet = packet(n, 1, Flags::ACK);
    packet.seg.seq = Seq(n * 3);
    packet.seg.payload = 8;
    packet
}

// One test: what it measures is the process's.
#[test]
fn an_analysis_takes_at_most_twice_what_it_reads() {
    let told: Vec<(&str, (usize, usize))> = vec![
        ("SYN each", bytes_per_packet(flood(1, |p, _| flags(p, Flags::SYN)))),
        ("ACK each", bytes_per_packet(flood(1, |p, _| p))),
        ("one SACK block each", bytes_per_packet(flood(1, |p, _| with_sack(p, 1)))),
        ("SYN with a SACK block", bytes_per_packet(flood(1, |p, _| with_sack(flags(p, Flags::SYN), 1)))),
        ("four SACK blocks each", bytes_per_packet(flood(1, |p, _| with_sack(p, 4)))),
        ("answered SYN", bytes_per_packet(flood(2, answered))),
        ("7 SACKs each", bytes_per_packet(flood(7, |p, _| with_sack(p, 2)))),
        ("31 SACKs each", bytes_per_packet(flood(31, |p, _| with_sack(p, 1)))),
        ("32 SACKs each", bytes_per_packet(flood(32, |p, _| with_sack(p, 1)))),
        ("64 ACKs each", bytes_per_packet(flood(64, |p, _| p))),
        ("63 segments each", bytes_per_packet(flood(63, outstanding))),
        ("64 segments each", bytes_per_packet(flood(64, outstanding))),
        ("lost SYN each", with_fate(flood(1, |p, _| flags(p, Flags::SYN)), Some(Fate::Lost))),
        ("damaged SYN each", with_fate(flood(1, |p, _| flags(p, Flags::SYN)), Some(Fate::Damaged))),
        ("damaged data each", with_fate(flood(1, |p, _| data(p)), Some(Fate::Damaged))),
        ("partly lost data each", with_fate(flood(1, |p, _| data(p)), Some(Fate::PartlyLost(1)))),
        ("partly lost data twice", with_fate(flood(2, |p, _| data(p)), Some(Fate::PartlyLost(1)))),
        ("data under way each", with_fate(flood(1, |p, _| data(p)), Some(Fate::UnderWay))),
        ("overlapping segments", bytes_per_packet((0..400_000).map(overlapping))),
    ];
    told.iter().for_each(|(what, (held, read))| println!("{what}: {held} bytes held a packet of {read}"));
    for (what, (held, read)) in told {
        assert!(held <= 2 * read + ALLOWANCE, "{what}: {held} bytes held a packet of {read}");
    }
}
