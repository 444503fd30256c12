//! What a replay costs. It clones the endpoint at every packet to see what the endpoint would send, so the bytes of all
//! allocations together show whether a clone grows with the capture: four times the packets may take four times the bytes
//! and a little more. A capture whose data jumps is refused before it takes memory.

#[path = "../../analysis/tests/counting/mod.rs"]
mod counting;

use counting::{all_of, most_of};
use replay::{Transfer, Unknown, replay};
use scenario::describe::load;
use std::net::IpAddr;
use std::sync::Mutex;
use tcp::stack::{Kind, Wire};
use wire::{Endpoint, Flags, Packet, Segment, Seq, Time, Tuple};

const MSS: u16 = 1448;
const MILLISECOND: i64 = 1_000_000;

/// Only one test at a time counts what it allocates.
static ALONE: Mutex<()> = Mutex::new(());

fn ends() -> [Endpoint; 2] {
    [("10.0.0.1", 1000), ("10.0.0.2", 80)].map(|(host, port)| {
        let host = host.parse::<IpAddr>().expect("an address");
        Endpoint { host: host.into(), port }
    })
}

/// Packets of one connection, each with its time.
struct Capture(Vec<Packet>);

impl Capture {
    fn opened(mss: u16) -> Capture {
        let mut capture = Capture(Vec::new());
        for (time, side, ack, flags) in
            [(0, 0, 0, Flags::SYN), (100 * MILLISECOND, 1, 1, Flags::SYN.with(Flags::ACK))]
        {
            let seg = Segment {
                seq: Seq(0),
                ack: Seq(ack),
                flags,
                mss: Some(mss),
                window: 65_535,
                ..Segment::default()
            };
            capture.put(time, side, Segment { sack_permitted: true, window_scale: Some(14), ..seg });
        }
        capture.ack(101 * MILLISECOND, 0, 1);
        capture
    }
    fn put(&mut self, time: i64, side: usize, seg: Segment) {
        let (src, dst) = (ends()[side], ends()[1 - side]);
        let number = self.0.len() as u64 + 1;
        self.0.push(Packet { time: Time(time), number, tuple: Tuple { src, dst }, seg, ..Packet::default() });
    }
    fn data(&mut self, time: i64, seq: u32, payload: u32) {
        let seg = Segment {
            seq: Seq(seq),
            ack: Seq(1),
            flags: Flags::ACK,
            payload,
            window: 65_535,
            ..Segment::default()
        };
        self.put(time, 0, seg);
    }
    fn ack(&mut self, time: i64, side: usize, of: u32) {
        let seg =
            Segment { seq: Seq(1), ack: Seq(of), flags: Flags::ACK, window: 65_535, ..Segment::default() };
        self.put(time, side, seg);
    }
}

fn linux() -> Wire {
    match load("linux-6-cubic").map(|stack| stack.kind) {
        Ok(Kind::Wire(wire)) => *wire,
        other => panic!("{other:?}"),
    }
}

/// Each segment is sent three times before it is acknowledged.
fn timeouts(packets: u32) -> Capture {
    let mut capture = Capture::opened(MSS);
    for n in 0..packets / 4 {
        let (start, seq) = (1_000 * MILLISECOND * i64::from(n + 1), 1 + n * u32::from(MSS));
        [0, 300, 900].iter().for_each(|ms| capture.data(start + ms * MILLISECOND, seq, MSS.into()));
        capture.ack(start + 920 * MILLISECOND, 1, seq + u32::from(MSS));
    }
    capture
}

/// The first segment is sent again and again, and nothing is acknowledged.
fn repeated(packets: u32) -> Capture {
    let mut capture = Capture::opened(MSS);
    (0..packets).for_each(|n| capture.data(MILLISECOND * (200 + 300 * i64::from(n)), 1, MSS.into()));
    capture
}

/// All data leaves before the first ACK of it, so the endpoint has as much outstanding.
fn outstanding(packets: u32) -> Capture {
    let mut capture = Capture::opened(MSS);
    for n in 0..packets {
        capture.data(200 * MILLISECOND + 10_000 * i64::from(n), 1 + n * u32::from(MSS), MSS.into());
    }
    capture.ack(100_000 * MILLISECOND, 1, 1 + packets * u32::from(MSS));
    capture
}

#[test]
fn four_times_the_packets_cost_four_times_as_much() {
    let _alone = ALONE.lock();
    let stack = linux();
    for (name, shape) in
        [("timeouts", timeouts as fn(u32) -> Capture), ("repeated", repeated), ("outstanding", outstanding)]
    {
        let cost = |packets: u32| {
            let capture = shape(packets);
            let (bytes, found) = all_of(|| Transfer::new(&capture.0, ends()[0]).map(|t| replay(&t, &stack)));
            assert!(found.is_ok(), "{name}: {:?}", found.err());
            bytes
        };
        let (short, long) = (cost(4_000), cost(16_000));
        let ratio = long as f64 / short as f64;
        println!("{name}: {short} bytes for 4,000 packets, {long} for 16,000: {ratio:.2}");
        assert!(ratio < 5.0, "{name}: {short} bytes for 4,000 packets, {long} for 16,000: {ratio:.2}");
    }
}

/// With an MSS of 1, data that jumps by 1 GB would be a billion segments that the capture misses, of 16 bytes each.
#[test]
fn data_that_jumps_by_a_gigabyte_is_refused_before_it_takes_memory() {
    let _alone = ALONE.lock();
    for (jump, mss, is_refused) in [
        (1_000_000_000, 1, true),
        (1_000_000_000, 1448, true),
        (70_000, 1, true),
        (5_000, 1, true),
        (1_000_000, 1448, false),
    ] {
        let mut capture = Capture::opened(mss);
        let size = u32::from(mss.min(500));
        capture.data(200 * MILLISECOND, 1, size);
        capture.ack(300 * MILLISECOND, 1, 1 + size);
        capture.data(301 * MILLISECOND, 1 + jump, size);
        capture.ack(400 * MILLISECOND, 1, 1 + jump);
        capture.data(401 * MILLISECOND, 1 + jump + size, size);
        let stack = linux();
        let (bytes, found) =
            most_of(|| Transfer::new(&capture.0, ends()[0]).map(|t| drop(replay(&t, &stack))));
        assert_eq!(found.err() == Some(Unknown::TooManySegments), is_refused, "{jump} bytes, MSS {mss}");
        assert!(bytes < 4_000_000, "{bytes} bytes of memory for a jump by {jump} with an MSS of {mss}");
    }
}
