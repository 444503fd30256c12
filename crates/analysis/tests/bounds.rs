//! State grows with what is in flight, never with packets: captures that could make it grow, and do not.

mod counting;

use analysis::rows::FlowRow;
use analysis::{Analyzer, Config, Sink};
use wire::{Endpoint, Flags, Host, Packet, Segment, Seq, Time, Timestamps, Tuple};

#[derive(Default)]
struct LastFlow(Option<FlowRow>, u64);

impl Sink for LastFlow {
    fn flow(&mut self, row: &FlowRow) {
        self.0 = Some(row.clone());
        self.1 += 1;
    }
}

fn way() -> Tuple {
    let end = |h, port| Endpoint { host: Host::v4([10, 0, 0, h]), port };
    Tuple { src: end(1, 40_000), dst: end(2, 80) }
}

fn data(n: u32, time_us: i64) -> Packet {
    let seg = Segment {
        seq: Seq(1 + n * 1000),
        ack: Seq(1),
        payload: 1000,
        flags: Flags::ACK,
        header_len: 32,
        timestamps: Some(Timestamps { val: (time_us / 1000) as u32, ecr: (time_us / 1000) as u32 }),
        ..Segment::default()
    };
    Packet { time: Time(time_us * 1000), number: u64::from(n), tuple: way(), seg, ..Packet::default() }
}

fn ack(of: u32, time_us: i64) -> Packet {
    let packet = data(0, time_us);
    let seg = Segment { seq: Seq(1), ack: Seq(1 + of * 1000), payload: 0, window: 60_000, ..packet.seg };
    Packet { tuple: way().reversed(), seg, ..packet }
}

/// Most bytes allocated beyond those at the start, while `packets` are analysed.
fn most_bytes(packets: impl Iterator<Item = Packet>) -> (usize, FlowRow) {
    counting::most_of(|| {
        let mut analyzer = Analyzer::new(Config::default(), LastFlow::default());
        packets.for_each(|p| analyzer.push(&[p]));
        let (_, sink) = analyzer.finish();
        sink.0.expect("a flow that carried data")
    })
}

// One test: what it measures is the process's.
#[test]
fn memory_does_not_grow_with_packets() {
    let (short, _) =
        most_bytes((0..20_000).flat_map(|n| [data(n, 20 * i64::from(n)), ack(n, 20 * i64::from(n) + 5)]));
    let (long, row) =
        most_bytes((0..1_000_000).flat_map(|n| [data(n, 20 * i64::from(n)), ack(n, 20 * i64::from(n) + 5)]));
    assert_eq!(row.bytes, 1_000_000_000);
    assert!(long <= short + (64 << 10), "{long} bytes for a million data packets, {short} for 20,000");

    // No ACK is in the capture at all: what is outstanding is forgotten one day, and said to be unknown.
    let again = std::iter::once(data(3, 30_000_000));
    let (one_way, row) = most_bytes((0..1_000_000).map(|n| data(n, 20 * i64::from(n))).chain(again));
    assert!(one_way < 40 << 20, "{one_way} bytes for a million data packets without ACKs");
    assert_eq!((row.retransmitted_segments, row.needless, row.needless_unknown), (1, 0, 1));
    assert!(row.limits.one_way);
}
