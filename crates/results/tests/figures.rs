//! No figure of an answer is negative, infinite or no number, whatever the clock of the capture did.
//!
//! Real captures, cut to their first packets, with times, lengths and headers changed at random; and clocks that no
//! capture has. A failure names its seed; `FUZZ_SEED=… cargo test -p rexmit-results --test figures` repeats that case, and
//! `FUZZ_CASES=20000` (with `FUZZ_SEED` the first of them) tries more.

use results::json;
use results::run::{self, Request};
use results::spool::Listing;
use serde_json::Value;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const CASES: u64 = 150;
/// Seeds of which a figure was once negative: a gap that began before the capture, a round trip below 0.
const ONCE: [u64; 8] =
    [5_000_329, 5_001_074, 5_001_614, 5_001_654, 5_002_436, 5_002_538, 5_002_552, 90_004_360];
const PACKETS: usize = 1500;

/// xorshift64* (Vigna 2016).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 32) as usize % n
    }
}

/// A packet of a capture: nanoseconds, and its bytes.
type Frame = (u64, Vec<u8>);

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

/// The first packets of a little-endian pcap in gzip.
fn frames(name: &str) -> Vec<Frame> {
    let file = std::fs::File::open(data(name)).expect(name);
    let mut whole = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut whole).expect(name);
    let word = |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().expect("four bytes"));
    let tick = match word(0) {
        0xa1b2_c3d4 => 1000,
        0xa1b2_3c4d => 1,
        other => panic!("{name}: magic number {other:#x}"),
    };
    assert_eq!(word(20), 1, "{name}: Ethernet");
    let (mut at, mut frames) = (24, Vec::new());
    while at + 16 <= whole.len() && frames.len() < PACKETS {
        let time = u64::from(word(at)) * 1_000_000_000 + u64::from(word(at + 4)) * tick;
        let len = word(at + 8) as usize;
        frames.push((time, whole[at + 16..at + 16 + len].to_vec()));
        at += 16 + len;
    }
    frames
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().next_multiple_of(4);
    let total = (padded as u32 + 12).to_le_bytes();
    let mut out = [&kind.to_le_bytes()[..], &total, body].concat();
    out.resize(8 + padded, 0);
    out.extend(total);
    out
}

/// pcapng, whose times have 64 bits: `if_tsresol` and `if_tsoffset` as given.
fn pcapng(frames: &[Frame], resolution: u8, offset: i64) -> Vec<u8> {
    let mut out =
        block(0x0a0d_0d0a, &[&0x1a2b_3c4du32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat());
    let mut about = vec![1, 0, 0, 0, 0, 0, 0, 0];
    about.extend([9, 0, 1, 0, resolution, 0, 0, 0, 14, 0, 8, 0]);
    about.extend(offset.to_le_bytes());
    about.extend([0; 4]);
    out.extend(block(1, &about));
    for (time, bytes) in frames {
        let len = (bytes.len() as u32).to_le_bytes();
        let (high, low) = (((time >> 32) as u32).to_le_bytes(), (*time as u32).to_le_bytes());
        out.extend(block(6, &[&[0; 4], &high[..], &low, &len, &len, bytes].concat()));
    }
    out
}

/// pcap with nanoseconds, as they stand: a fraction may be above 10^9.
fn pcap(frames: &[Frame]) -> Vec<u8> {
    let mut out = [0xa1b2_3c4du32.to_le_bytes(), [2, 0, 4, 0]].concat();
    out.extend([0; 8]);
    out.extend([262_144u32.to_le_bytes(), 1u32.to_le_bytes()].concat());
    for (time, bytes) in frames {
        let len = (bytes.len() as u32).to_le_bytes();
        let (seconds, fraction) = (((time >> 32) as u32).to_le_bytes(), (*time as u32).to_le_bytes());
        out.extend([&seconds[..], &fraction, &len, &len, bytes].concat());
    }
    out
}

/// The answer as JSON; `None` where there was nothing to tell.
fn answer(capture: &[u8], receiver: Option<&[u8]>) -> Option<Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::File::create(&path).and_then(|mut f| f.write_all(bytes)).expect("a file");
        path
    };
    let request = Request {
        paths: vec![write("a", capture)],
        receiver: receiver.map(|bytes| write("b", bytes)).into_iter().collect(),
        config: analysis::Config {
            interval: wire::Span::from_secs(1),
            wanted: analysis::Wanted { retransmissions: true, intervals: true, rtts: true, packets: false },
            ..analysis::Config::default()
        },
        listing: Listing { most: Some(1000), only: false },
        ..Request::default()
    };
    let found = run::analyze(&request, None, &mut |_| true).ok()?;
    let mut out = Vec::new();
    json::write(&mut out, &found.facts, &found.shelf, json::Beside::default()).expect("memory takes it");
    assert!(!found.has_failed(), "no flow is given up");
    Some(serde_json::from_slice(&out).expect("JSON"))
}

/// Differences of two clocks go either way, and so does what an episode cost: some repairs gain time.
const SIGNED: [&str; 3] = ["offset_s", "drift_ppm", "cost_s"];

/// What the receiver's capture alone shows may be from before the sender's began, from where times count.
const EARLIER: [&str; 8] = [
    "start_s",
    "first_s",
    "last_s",
    "starts_s",
    "begin_earliest_s",
    "begin_latest_s",
    "end_earliest_s",
    "end_latest_s",
];

fn negative(value: &Value, path: &str, key: &str, signed: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Number(n)
            if n.as_f64().is_none_or(|x| x < 0.0 || !x.is_finite()) && !signed.contains(&key) =>
        {
            found.push(format!("{path} = {n}"));
        }
        Value::Array(all) => all.iter().for_each(|v| negative(v, path, key, signed, found)),
        Value::Object(all) => {
            all.iter().for_each(|(k, v)| negative(v, &format!("{path}.{k}"), k, signed, found));
        }
        _ => {}
    }
}

fn absurd_figures(answer: &Value, what: &str) -> Option<String> {
    let mut found = Vec::new();
    let pair = answer.pointer("/capture/pair").is_some_and(|p| !p.is_null());
    let earlier = if pair { &EARLIER[..] } else { &[] };
    negative(answer, "", "", &[&SIGNED, earlier].concat(), &mut found);
    (!found.is_empty()).then(|| format!("{what}: {found:?}"))
}

fn no_figure_is_absurd(answer: &Value, what: &str) {
    assert_eq!(absurd_figures(answer, what), None);
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

const CAPTURES: [&str; 6] = [
    "A1_reno_22M_deep_200ms.snd.pcap.gz",
    "F1_cubic_22M_GE.rcv.pcap.gz",
    "interruption.snd.pcap.gz",
    "nosack.snd.pcap.gz",
    "notimestamps.rcv.pcap.gz",
    "tsoloss.snd.pcap.gz",
];

const YEAR: u64 = 31_556_952_000_000_000;

fn mutate(r: &mut Random, frames: &mut Vec<Frame>) {
    for _ in 0..1 + r.below(12) {
        let i = r.below(frames.len());
        let absurd = [0, 1, 1 << 63, u64::MAX, (1 << 63) - 1, 1 << 62, 130 * YEAR, 42 * YEAR, r.bits()];
        match r.below(6) {
            0 => frames[i].0 = absurd[r.below(absurd.len())],
            1 => {
                let by = absurd[r.below(absurd.len())];
                frames[i..].iter_mut().for_each(|f| f.0 = f.0.wrapping_add(by));
            }
            2 => {
                let by = [1_000_000_000, 3_600_000_000_000, YEAR][r.below(3)];
                frames[i..].iter_mut().for_each(|f| f.0 = f.0.saturating_sub(by));
            }
            3 => {
                let at = r.below(frames[i].1.len());
                frames[i].1[at] = r.bits() as u8;
            }
            4 => {
                let j = r.below(frames.len());
                frames.swap(i, j);
            }
            _ => {
                let again = frames[i].clone();
                frames.insert(i, again);
            }
        }
    }
}

#[test]
fn mutated_captures_give_no_negative_figure() {
    let originals = CAPTURES.map(frames);
    let first = number("FUZZ_SEED");
    let cases = number("FUZZ_CASES").unwrap_or(if first.is_some() { 1 } else { CASES });
    let first = first.unwrap_or(1);
    let mut absurd = Vec::new();
    let once = ONCE.iter().copied().filter(|_| number("FUZZ_SEED").is_none());
    for seed in (first..first + cases).chain(once) {
        let mut r = Random::new(seed);
        let n = r.below(CAPTURES.len());
        let mut changed = originals[n].clone();
        changed.truncate(1 + r.below(PACKETS));
        mutate(&mut r, &mut changed);
        let resolution = [9, 9, 9, 6, 0, 3, 12, 19, 20, 127, 0x80, 0x80 | 20, 0x80 | 63, 0xff][r.below(14)];
        let offset = [0, 0, 0, i64::MAX, i64::MIN, -1, 1 << 40][r.below(7)];
        let ng = pcapng(&changed, resolution, offset);
        let mut other = originals[n].clone();
        let what = format!("FUZZ_SEED={seed} ({})", CAPTURES[n]);
        if let Some(told) = answer(&ng, None) {
            absurd.extend(absurd_figures(&told, &what));
        }
        if let Some(told) = answer(&pcap(&changed), None) {
            absurd.extend(absurd_figures(&told, &what));
        }
        mutate(&mut r, &mut other);
        if let Some(told) = answer(&ng, Some(&pcapng(&other, 9, 0))) {
            absurd.extend(absurd_figures(&told, &what));
        }
    }
    assert!(absurd.is_empty(), "{} of {cases} cases:\n{}", absurd.len(), absurd.join("\n"));
}

/// Everything but the times themselves.
fn figures(capture: &[u8]) -> Value {
    let mut told = answer(capture, None).expect("an answer");
    if let Some(capture) = told.get_mut("capture").and_then(Value::as_object_mut) {
        capture.retain(|k, _| k == "span_s" || k == "warnings");
    }
    told
}

#[test]
fn a_capture_of_the_year_2100_is_as_good_as_any() {
    let now = frames("A1_reno_22M_deep_200ms.snd.pcap.gz");
    let by_2100 = 4_102_444_800_000_000_000 - now[0].0;
    let then: Vec<Frame> = now.iter().map(|(t, bytes)| (t + by_2100, bytes.clone())).collect();
    let at_0: Vec<Frame> = now.iter().map(|(t, bytes)| (t - now[0].0, bytes.clone())).collect();
    assert_eq!(figures(&pcapng(&now, 9, 0)), figures(&pcapng(&then, 9, 0)));
    assert_eq!(figures(&pcapng(&now, 9, 0)), figures(&pcapng(&at_0, 9, 0)));
}

#[test]
fn a_transfer_that_is_written_down_before_the_capture_began_has_no_negative_time() {
    let first = frames("A1_reno_22M_deep_200ms.snd.pcap.gz");
    let mut both = first[..700].to_vec();
    // The other transfer's clock is an hour behind: its packets follow in the file.
    let later = first[0].0 - 3_600_000_000_000;
    let other = frames("nosack.snd.pcap.gz");
    both.extend(other.iter().map(|(t, bytes)| (t - other[0].0 + later, bytes.clone())));
    let told = answer(&pcapng(&both, 9, 0), None).expect("an answer");
    assert!(told["flows"].as_array().is_some_and(|flows| flows.len() > 2));
    no_figure_is_absurd(&told, "a transfer from before the capture");
}

#[test]
fn a_clock_that_jumps_is_named() {
    let mut jumps = frames("A1_reno_22M_deep_200ms.snd.pcap.gz");
    jumps[100].0 = u64::MAX;
    jumps[200].0 += 50 * YEAR;
    let told = answer(&pcapng(&jumps, 9, 0), None).expect("an answer");
    let warnings = told["capture"]["warnings"].to_string();
    assert!(
        warnings.contains("clock jumps by more than a year, 4 times (first at packet 101)"),
        "{warnings}"
    );
    no_figure_is_absurd(&told, "two packets far ahead");
}
