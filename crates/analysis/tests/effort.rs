//! No packet costs more than a bounded number of steps, whatever came before it: inputs made to be slow, each compared
//! with as many packets in order. What is compared is CPU time of one thread in one process, with a margin of 25; what
//! went wrong once took from 50 to several thousand times as long.
#![cfg(target_os = "linux")]

use analysis::rows::{FlowRow, Vantage};
use analysis::{Analyzer, Config, Sink};
use wire::{Endpoint, Flags, Host, Packet, Segment, Seq, Time, Tuple};

const PACKETS: u32 = 100_000;
/// Where the first part of an input fills what is outstanding, this many segments.
const HALF: u32 = PACKETS / 2;
/// Where losses come first and are repaired then: two packets each, and a third for the repair.
const ROUNDS: u32 = PACKETS / 3 * 2;
/// An odd number beyond all others that are used.
const TOP: u32 = 4 * PACKETS + 10_001;

#[derive(Default)]
struct LastFlow(Option<FlowRow>);

impl Sink for LastFlow {
    fn flow(&mut self, row: &FlowRow) {
        self.0 = Some(row.clone());
    }
}

/// Nanoseconds that this thread has spent on a processor.
fn cpu_ns() -> u64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

fn packet(n: u32, seq: u32, payload: u32) -> Packet {
    let end = |h, port| Endpoint { host: Host::v4([10, 0, 0, h]), port };
    let seg = Segment {
        seq: Seq(seq),
        ack: Seq(1),
        payload,
        flags: Flags::ACK,
        window: 60_000,
        header_len: 20,
        ..Segment::default()
    };
    let tuple = Tuple { src: end(1, 40_000), dst: end(2, 80) };
    // A checksum of its own each: none is taken for the same packet captured twice.
    let checksum = seq.wrapping_mul(40_503) as u16;
    Packet { time: Time(i64::from(n) * 10_000), number: n.into(), tuple, seg, checksum, ..Packet::default() }
}

fn ack(n: u32, of: u32, sack: &[(u32, u32)]) -> Packet {
    let mut packet = packet(n, 1, 0);
    packet.seg.ack = Seq(of);
    sack.iter().for_each(|(left, right)| packet.seg.sack.push(Seq(*left), Seq(*right)));
    Packet { tuple: packet.tuple.reversed(), ..packet }
}

/// Each number below `PACKETS` once, in no order: 7,919 is prime to it.
fn scattered(n: u32) -> u32 {
    (u64::from(n) * 7_919 % u64::from(PACKETS)) as u32
}

fn in_order(n: u32) -> Packet {
    packet(n, n + 10, 1)
}

fn cost(make: impl Fn(u32) -> Packet, vantage: Option<Vantage>, frozen: bool) -> (u64, FlowRow) {
    let mut analyzer = Analyzer::new(Config { vantage, ..Config::default() }, LastFlow::default());
    let start = cpu_ns();
    analyzer.push(&[packet(0, 1, 1)]);
    for n in 1..PACKETS {
        let mut packet = make(n);
        if frozen {
            packet.time = Time(0);
        }
        analyzer.push(&[packet]);
    }
    let (_, sink) = analyzer.finish();
    (cpu_ns() - start, sink.0.expect("a flow"))
}

type Input = (&'static str, fn(u32) -> Packet);

const INPUTS: [Input; 17] = [
    ("ascending with gaps", |n| packet(n, 2 * n + 10, 1)),
    ("reverse", |n| packet(n, TOP - 2 * n, 1)),
    ("random", |n| packet(n, 10 + 2 * scattered(n), 1)),
    ("up and down in turn", |n| packet(n, if n % 2 == 0 { 10 + 2 * n } else { TOP - 2 * n }, 1)),
    ("sawtooth", |n| packet(n, 10 + 2 * (n / 1000 * 1000 + 999 - n % 1000), 1)),
    ("sawtooth downwards", |n| packet(n, TOP - 2 * (n / 1000 * 1000 + 999 - n % 1000), 1)),
    ("interleaved", |n| packet(n, 10 + 2 * (n % 1000 * (PACKETS / 1000) + n / 1000), 1)),
    ("tiny overlaps", |n| packet(n, 10 + n, 8)),
    ("the same few bytes for ever", |n| packet(n, 10 + n % 2 * 20, 8)),
    ("SACK blocks in turn", |n| match n {
        0..HALF => packet(n, 2 * n + 10, 1),
        n if n % 2 == 0 => ack(n, 1, &[(20, HALF)]),
        n => ack(n, 1, &[(HALF + 100, 2 * HALF)]),
    }),
    ("DSACKs of everything", |n| match n {
        0..HALF => packet(n, n + 10, 1),
        n if n % 2 == 0 => packet(n, 11 + n % HALF, 1),
        n => ack(n, 11, &[(10, 10 + HALF), (10, 11 + HALF)]),
    }),
    ("large repeats of single bytes", |n| match n {
        0..HALF => packet(n, n + 10, 1),
        n => packet(n, 11 + n % HALF, 60_000),
    }),
    ("trouble that comes and goes", |n| match (n, n % 3) {
        (0..HALF, _) => packet(n, n + 10, 1),
        (_, 0) => packet(n, 10 + (n - HALF) / 3, 1),
        (_, 1) => ack(n, 11 + (n - HALF) / 3, &[]),
        _ => packet(n, n, 1),
    }),
    ("duplicate ACKs", |n| match n {
        0..HALF => packet(n, n + 10, 1),
        n => ack(n, 11, &[]),
    }),
    ("duplicate ACKs of what was repeated", |n| match n {
        0..30_000 => packet(n, n + 10, 1),
        30_000..60_000 => packet(n, n - 30_000 + 10, 1),
        n => ack(n, 29_000, &[]),
    }),
    ("every other one lost, SACKed and at last repaired", |n| match (n, n % 2) {
        // Two full segments at a time, of which the second arrives.
        (0..ROUNDS, 0) => packet(n, 10 + n * 1000, 1000),
        (0..ROUNDS, _) => ack(n, 10, &[(10 + n * 1000, 1010 + n * 1000)]),
        _ => packet(n, 10 + (n - ROUNDS) * 2000, 1000),
    }),
    ("ACKs that are not heard", |n| match n {
        0..HALF => ack(n, 11, &[(100, 101 + n % 7)]),
        n => packet(n, 10 + n % 40, 1),
    }),
];

#[test]
fn no_order_of_packets_costs_more_than_in_proportion_to_them() {
    let least = (0..3).map(|_| cost(in_order, None, false).0).min().unwrap_or(0);
    for (name, make) in INPUTS {
        for vantage in [None, Some(Vantage::Sender), Some(Vantage::Receiver)] {
            for frozen in [false, true] {
                let (took, _) = cost(make, vantage, frozen);
                let times = took as f64 / least as f64;
                println!("{times:6.1} times as long: {name}, {vantage:?}, clock stands still: {frozen}");
                assert!(times < 25.0, "{name}, {vantage:?}, {frozen}: {times:.1} times as long as in order");
            }
        }
    }
}

#[test]
fn gaps_that_are_never_filled_are_counted_and_not_called_nothing() {
    let (_, row) = cost(|n| packet(n, 2 * n + 10, 1), None, false);
    assert_eq!(row.limits.unfilled_gaps, u64::from(PACKETS) - 1);
}

#[test]
fn segments_that_are_followed_no_more_are_counted() {
    let (_, row) = cost(|n| packet(n, 10 + 2 * scattered(n), 1), None, false);
    assert!(row.limits.not_followed > 0, "{:?}", row.limits);
}
