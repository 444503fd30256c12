//! Once the memory that is allowed is used up, what comes further is counted and not analysed, and the answer says so.
#![cfg(target_os = "linux")]

use results::json;
use results::run::{self, Request};
use serde_json::Value;
use std::path::{Path, PathBuf};

const FLOWS: u32 = 300_000;

/// A SYN of a connection of its own each: 70 bytes in a pcap.
fn flood(path: &Path) -> PathBuf {
    let mut out = [0xa1b2_3c4du32.to_le_bytes(), [2, 0, 4, 0], [0; 4], [0; 4]].concat();
    out.extend([262_144u32.to_le_bytes(), 1u32.to_le_bytes()].concat());
    for n in 0..FLOWS {
        out.extend(
            [1_700_000_000 + n / 100_000, n % 100_000 * 10_000, 54, 54].map(u32::to_le_bytes).concat(),
        );
        let [_, a, b, c] = n.to_be_bytes();
        out.extend([0; 12]);
        out.extend([8, 0, 0x45, 0, 0, 40, b, c, 0x40, 0, 64, 6, 0, 0, 10, a, b, c, 10, 255, 0, 1]);
        out.extend([0x9c, 0x40, 0, 80, a, b, c, 7, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0]);
    }
    std::fs::write(path, out).expect("a file");
    path.to_owned()
}

fn answer(capture: &Path, receiver: Option<&Path>, max_memory: Option<u64>, threads: usize) -> Value {
    let receiver = receiver.map(Path::to_owned).into_iter().collect();
    let paths = vec![capture.to_owned()];
    let request = Request { paths, receiver, max_memory, threads, ..Request::default() };
    let found = run::analyze(&request, None, &mut |_| true).expect("an answer");
    let mut out = Vec::new();
    json::write(&mut out, &found.facts, &found.shelf, json::Beside::default()).expect("memory takes it");
    serde_json::from_slice(&out).expect("JSON")
}

// One test: what it measures is the process's.
#[test]
fn what_comes_once_the_memory_is_used_up_is_counted_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let capture = flood(&folder.path().join("flood.pcap"));
    for (receiver, threads) in [(None, 1), (Some(capture.as_path()), 1), (None, 3)] {
        let told = answer(&capture, receiver, Some(8 << 20), threads);
        let about = &told["capture"];
        assert_eq!(about["tcp_packets"], FLOWS, "all are counted");
        let left = about["not_analysed_packets"].as_u64().expect("a number");
        assert!(left > 0 && left < u64::from(FLOWS), "{left} not analysed");
        assert!(about["warnings"].to_string().contains("--max-memory"), "{}", about["warnings"]);
    }
    let whole = answer(&capture, None, None, 3);
    assert_eq!(whole["capture"]["not_analysed_packets"], 0);
}
