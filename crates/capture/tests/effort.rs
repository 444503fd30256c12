//! No frame costs more than a bounded number of steps, whatever came before it: files made to be slow, each compared
//! with as many frames in order. What is compared is CPU time of one thread in one process, with a wide margin.
#![cfg(target_os = "linux")]

mod common;

use capture::{LinkType, NewPacket, Writer, annotate, open, traffic};
use common::{Scratch, ethernet, segment, tuple};
use std::path::{Path, PathBuf};
use wire::{Span, Time};

const FRAMES: u32 = 60_000;
const SECOND: i64 = 1_000_000_000;
const MARGIN: f64 = 25.0;

/// Nanoseconds that this thread has spent on a processor.
fn cpu_ns() -> u64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    spent.tv_sec as u64 * 1_000_000_000 + spent.tv_nsec as u64
}

/// A file whose frames are `interface` and `second` of their number.
fn file(
    dir: &Scratch,
    name: &str,
    link: impl Fn(u32) -> u16,
    interface: impl Fn(u32) -> u32,
    second: impl Fn(u32) -> i64,
) -> PathBuf {
    let mut w = Writer::pcapng(Vec::new()).unwrap();
    let interfaces = (0..FRAMES).map(&interface).max().unwrap_or(0) + 1;
    for n in 0..interfaces {
        w.interface(Some(&format!("eth{n}")), LinkType(link(n)), 0).unwrap();
    }
    let data = ethernet(0x0800, &segment(&tuple(), 1, 46));
    for n in 0..FRAMES {
        let time = Time((1_700_000_000 + second(n)) * SECOND);
        let packet = NewPacket { interface: interface(n), time, data: &data, ..NewPacket::default() };
        w.packet(&packet).unwrap();
    }
    dir.file(name, &w.finish().unwrap())
}

/// What reading, counting and copying it take.
fn costs(path: &PathBuf, out: &Path) -> [u64; 3] {
    let paths = std::slice::from_ref(path);
    let start = cpu_ns();
    let mut reader = open(paths, &capture::Options::default()).unwrap();
    let mut batch = Vec::new();
    while reader.read_batch(&mut batch, 128) {}
    assert_eq!(reader.info().packets, u64::from(FRAMES));
    reader.info().links();
    let read = cpu_ns();
    let counted = traffic(paths, Span::from_secs(1), None, |_| true).unwrap();
    assert_eq!(counted.total.packets, u64::from(FRAMES));
    let tallied = cpu_ns();
    annotate(paths, out, "", std::iter::empty(), |_| true).unwrap();
    [read - start, tallied - read, cpu_ns() - tallied]
}

#[test]
fn no_file_costs_more_than_in_proportion_to_its_frames() {
    let dir = Scratch::new("effort");
    let (forwards, one, ethernet) = (i64::from, |_| 0, |_| 1);
    let least = costs(&file(&dir, "in-order", ethernet, one, forwards), &dir.path("out"));
    let cases = [
        ("each a second earlier", file(&dir, "back", ethernet, one, |n| -i64::from(n))),
        // No such link types are read.
        ("each of another link type", file(&dir, "links", |n| 2000 + n as u16, |n| n, forwards)),
    ];
    for (name, path) in cases {
        let took = costs(&path, &dir.path("out"));
        for (what, (took, least)) in ["read", "count", "copy"].iter().zip(took.iter().zip(least)) {
            let times = *took as f64 / least as f64;
            println!("{times:6.1} times as long to {what}: {name}");
            assert!(times < MARGIN, "{name}: {times:.1} times as long to {what} as in order");
        }
    }
}
