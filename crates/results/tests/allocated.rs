//! Memory stays in proportion to what is read, whatever the packets are: captures drawn at random from what takes
//! memory (many connections, segments in no order, SACK blocks, nothing answered), alone and in pairs, each analysed
//! under an allocator that counts.
//!
//! A failure names its seed; `FUZZ_SEED=… cargo test -p rexmit-results --test allocated` repeats that case, and
//! `FUZZ_CASES=2000` (with `FUZZ_SEED` the first of them) tries more. What a process takes is measured by
//! `validation/memory.py`.

#[path = "../../analysis/tests/counting/mod.rs"]
mod counting;

use results::json;
use results::run::{self, Request};
use std::path::Path;

const CASES: u64 = 25;
/// Room that is reserved for as much again as there is counts here, and is no memory until it is used: twice the bar of
/// two bytes a byte, and of the 42 bytes a packet that 200 MiB are for five million. Segments of a few bytes in no order,
/// 80 a connection, take up to three quarters as much again: what is outstanding and its gaps are two entries each, in two lists.
const A_BYTE: usize = 7;
const A_PACKET: usize = 84;

/// xorshift64* (Vigna 2016).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    fn bits(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.bits() as usize % all.len()]
    }
}

/// What all packets of a capture have in common.
#[derive(Debug)]
struct Recipe {
    packets: u32,
    flows: u32,
    in_turn: bool,
    payload: u16,
    flags: [u8; 2],
    order: u8,
    acks: u8,
    blocks: u8,
    both_ways: bool,
    apart_us: u32,
}

impl Recipe {
    fn draw(r: &mut Random) -> Recipe {
        let packets = r.one_of(&[20_000, 40_000, 60_000]);
        Recipe {
            packets,
            flows: r.one_of(&[1, 3, packets / 90, packets / 80, packets / 30, packets / 2, packets]),
            in_turn: r.bits().is_multiple_of(2),
            payload: r.one_of(&[0, 1, 8, 100]),
            flags: [r.one_of(&[0x02, 0x10, 0x18, 0x11]), r.one_of(&[0x12, 0x10, 0x14, 0x10])],
            order: r.one_of(&[0, 1, 2, 3]),
            acks: r.one_of(&[0, 1, 2]),
            blocks: r.one_of(&[0, 0, 1, 3, 4]),
            both_ways: r.bits().is_multiple_of(2),
            apart_us: r.one_of(&[0, 1, 10, 1000, 100_000]),
        }
    }

    fn frame(&self, n: u32, r: &mut Random) -> Vec<u8> {
        let flow = if self.in_turn { n % self.flows } else { n / (self.packets / self.flows).max(1) };
        let k = if self.in_turn { n / self.flows } else { n % (self.packets / self.flows).max(1) };
        let back = self.both_ways && r.bits().is_multiple_of(2);
        let payload = u32::from(self.payload).max(1);
        let seq = match self.order {
            0 => k * payload,
            1 => u32::MAX / 2 - 2 * k * payload,
            2 => k * (payload / 2).max(1),
            _ => r.bits(),
        };
        let ack = match self.acks {
            0 => 1,
            1 => k * payload,
            _ => r.bits(),
        };
        let mut options = Vec::new();
        if self.blocks > 0 {
            options.extend([1, 1, 5, 2 + 8 * self.blocks]);
            (0..2 * self.blocks).for_each(|_| options.extend(r.bits().to_be_bytes()));
        }
        let (hosts, ports) = ([[10, flow.to_be_bytes()[1], 0, 0], [192, 0, 2, 1]], [40_000u16, 80]);
        let mut client = hosts[0];
        client[2..].copy_from_slice(&flow.to_be_bytes()[2..]);
        let (src, dst) = if back { (hosts[1], client) } else { (client, hosts[1]) };
        let (from, to) = if back { (ports[1], ports[0]) } else { (ports[0], ports[1]) };
        let length = 40 + options.len() as u16 + self.payload;
        let mut frame = vec![0; 12];
        frame.extend([8, 0, 0x45, 0]);
        frame.extend(length.to_be_bytes());
        frame.extend((n as u16).to_be_bytes());
        frame.extend([0x40, 0, 64, 6, 0, 0]);
        frame.extend([src, dst].concat());
        frame.extend([from, to].map(u16::to_be_bytes).concat());
        frame.extend([seq, ack].map(u32::to_be_bytes).concat());
        frame.extend([((20 + options.len()) as u8 / 4) << 4, self.flags[usize::from(back)], 0xea, 0x60]);
        frame.extend((n as u16).wrapping_mul(40_503).to_be_bytes());
        frame.extend([0, 0]);
        frame.extend(options);
        frame.extend(vec![0; usize::from(self.payload)]);
        frame
    }

    /// The capture, and one that lacks a third of its packets.
    fn write(&self, r: &mut Random, whole: &Path, part: &Path) -> [usize; 2] {
        let mut files = [head(), head()];
        for n in 0..self.packets {
            let frame = self.frame(n, r);
            let us = u64::from(n) * u64::from(self.apart_us);
            let time = [1_700_000_000 + (us / 1_000_000) as u32, (us % 1_000_000) as u32 * 1000];
            let record = [&time[..], &[frame.len() as u32; 2]].concat();
            let record: Vec<u8> = record.into_iter().flat_map(u32::to_le_bytes).chain(frame).collect();
            files[0].extend(&record);
            if !r.bits().is_multiple_of(3) {
                files[1].extend(&record);
            }
        }
        for (path, bytes) in [whole, part].into_iter().zip(&files) {
            std::fs::write(path, bytes).expect("a file");
        }
        files.map(|bytes| bytes.len())
    }
}

/// Of a pcap in nanoseconds.
fn head() -> Vec<u8> {
    [0xa1b2_3c4du32, 0x0004_0002, 0, 0, 262_144, 1].into_iter().flat_map(u32::to_le_bytes).collect()
}

/// The most bytes that were allocated at once for an answer.
fn allocated(capture: &Path, receiver: Option<&Path>) -> usize {
    let (most, ()) = counting::most_of(|| {
        let request = Request {
            paths: vec![capture.to_owned()],
            receiver: receiver.map(Path::to_owned).into_iter().collect(),
            ..Request::default()
        };
        if let Ok(found) = run::analyze(&request, None, &mut |_| true) {
            json::write(&mut std::io::sink(), &found.facts, &found.shelf, json::Beside::default())
                .expect("nothing is written");
            assert!(!found.has_failed(), "no flow is given up");
        }
    });
    most
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

// One test: what it measures is the process's.
#[test]
fn what_is_allocated_is_in_proportion_to_what_is_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, part] = ["a", "b"].map(|name| folder.path().join(name));
    let mut r = Random::new(0);
    let small = Recipe { packets: 10, flows: 1, ..Recipe::draw(&mut r) };
    small.write(&mut r, &whole, &part);
    let least = [None, Some(part.as_path())].map(|beside| allocated(&whole, beside));
    let first = number("FUZZ_SEED");
    let cases = number("FUZZ_CASES").unwrap_or(if first.is_some() { 1 } else { CASES });
    let first = first.unwrap_or(1);
    let mut beyond = Vec::new();
    for seed in first..first + cases {
        let mut r = Random::new(seed);
        let recipe = Recipe::draw(&mut r);
        let [bytes, more] = recipe.write(&mut r, &whole, &part);
        let ways = [(None, bytes), (Some(part.as_path()), bytes + more)];
        for ((beside, read), least) in ways.into_iter().zip(least) {
            let most = least + A_BYTE * read + A_PACKET * recipe.packets as usize;
            let took = allocated(&whole, beside);
            if took > most {
                let paired = beside.is_some();
                beyond.push(format!("FUZZ_SEED={seed}: {took} above {most}, paired: {paired}, {recipe:?}"));
            }
        }
    }
    assert!(beyond.is_empty(), "{} of {cases} cases:\n{}", beyond.len(), beyond.join("\n"));
}
