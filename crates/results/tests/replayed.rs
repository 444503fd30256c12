//! A capture in which one pair of endpoints is used for connection after connection: a replay reads the packets of one.

#[path = "../../analysis/tests/counting/mod.rs"]
mod counting;

use analysis::rows::Vantage;
use results::replay::{Request, load, write};
use scenario::describe;

const SECOND: u64 = 1_000_000_000;

/// A frame of a host to the other one.
fn frame(is_client: bool, seq: u32, ack: u32, flags: u8, payload: usize) -> Vec<u8> {
    let options: &[u8] = if flags & 2 > 0 { &[2, 4, 5, 0xa8] } else { &[] };
    let hosts = [[10, 0, 0, 1], [10, 0, 0, 2]];
    let ([from, to], ports) =
        if is_client { (hosts, [1000u16, 80]) } else { ([hosts[1], hosts[0]], [80, 1000]) };
    let mut frame = vec![0; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend(((40 + options.len() + payload) as u16).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
    frame.extend([from, to].concat());
    frame.extend(ports.map(u16::to_be_bytes).concat());
    frame.extend([seq, ack].map(u32::to_be_bytes).concat());
    frame.extend([((20 + options.len()) as u8 / 4) << 4, flags, 0xea, 0x60, 0, 0, 0, 0]);
    frame.extend(options);
    frame.resize(frame.len() + payload, 0);
    frame
}

/// So many connections of the same two ports, each with one segment of data.
fn connections(n: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> =
        [0xa1b2_3c4du32, 0x0004_0002, 0, 0, 262_144, 1].into_iter().flat_map(u32::to_le_bytes).collect();
    for k in 0..n {
        let isn = k.wrapping_mul(10_000_000);
        let packets = [
            frame(true, isn, 0, 2, 0),
            frame(false, 0, isn + 1, 18, 0),
            frame(true, isn + 1, 1, 16, 0),
            frame(true, isn + 1, 1, 24, 1448),
            frame(false, 1, isn + 1449, 16, 0),
            frame(true, isn + 1449, 1, 17, 0),
            frame(false, 1, isn + 1450, 17, 0),
        ];
        for (step, packet) in packets.into_iter().enumerate() {
            let time = SECOND * u64::from(k) + 10_000_000 * step as u64;
            let length = packet.len() as u32;
            let head = [(time / SECOND) as u32, (time % SECOND) as u32, length, length];
            bytes.extend(head.into_iter().flat_map(u32::to_le_bytes));
            bytes.extend(packet);
        }
    }
    bytes
}

/// With the packets of all 400 connections in one transfer, the replay took a minute of time and copied gigabytes.
#[test]
fn the_replay_of_a_connection_costs_the_same_however_often_its_ports_were_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let stack = describe::load("linux-6-cubic").expect("a built-in stack");
    let replayed = |n: u32| {
        let path = folder.path().join("reused.pcap");
        std::fs::write(&path, connections(n)).expect("a file");
        let request = Request { paths: vec![path], at: Some(Vantage::Sender), ..Request::default() };
        let loaded = load(&request, None, &mut |_| true).unwrap_or_else(|e| panic!("{e}"));
        let mut out = Vec::new();
        let (bytes, written) = counting::all_of(|| write(&loaded, &stack, 8, &mut out));
        assert_eq!(written, Ok(()));
        let found: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(found["sends"], 3, "of one connection, whose stack makes two of its own: {found}");
        bytes
    };
    assert_eq!(replayed(2), replayed(400));
}
