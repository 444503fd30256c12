//! On however many threads a capture is analysed, the answer is the same to the byte.

use analysis::rows::*;
use analysis::{Config, Wanted};
use capture::Options;
use results::json;
use results::run::{self, Findings, Request};
use results::spool::{Listing, Row, Table};
use std::fmt::{Debug, Write as _};
use std::path::{Path, PathBuf};
use wire::Span;

const THREADS: [usize; 3] = [2, 3, 16];
const EVERYTHING: Wanted = Wanted { retransmissions: true, intervals: true, rtts: true, packets: true };

/// xorshift64* (Vigna 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32) % n
    }
    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;
const PSH: u8 = 8;
const ACK: u8 = 16;

/// Both ends of a connection: what they send next, and what they wait for.
#[derive(Clone, Copy, Default)]
struct Ends {
    next: [u32; 2],
    got: [u32; 2],
}

/// Hosts that open, use, close, refuse and reopen connections between few endpoints, some packets of which are lost, come
/// again, late, or are written down out of order; now and then nobody says anything for longer than a connection that
/// ended is remembered.
fn busy(seed: u64, packets: u32, pairs: u32) -> Vec<u8> {
    let mut r = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut ends = vec![Ends::default(); pairs as usize];
    let mut out = [0xa1b2_3c4du32.to_le_bytes(), [2, 0, 4, 0], [0; 4], [0; 4]].concat();
    out.extend([262_144u32.to_le_bytes(), 101u32.to_le_bytes()].concat());
    let mut now = 1_700_000_000_000_000_000u64;
    let mut last = 0;
    for n in 0..packets {
        let pair = if r.one_in(3) { last } else { r.below(pairs) };
        last = pair;
        now += u64::from(match r.below(2000) {
            0 => 4_000_000_000,
            1..20 => r.below(400_000_000),
            _ => r.below(200_000),
        });
        let at = if r.one_in(50) { now - u64::from(r.below(3_000_000)) } else { now };
        let side = r.below(2) as usize;
        let e = &mut ends[pair as usize];
        let (flags, payload) = match r.below(40) {
            0 | 1 => {
                (e.next[side], e.got[1 - side]) = (r.below(u32::MAX), 0);
                (SYN | if side == 1 { ACK } else { 0 }, 0)
            }
            2 => (RST, 0),
            3 | 4 => (FIN | ACK, r.below(2) * 300),
            5..22 => (ACK, 0),
            _ => (ACK | PSH, [1448, 1448, 700, 1][r.below(4) as usize]),
        };
        let again = flags & (SYN | RST) == 0 && r.one_in(8);
        let seq = if again { e.next[side].wrapping_sub(1448) } else { e.next[side] };
        let ack = e.got[side];
        if !again {
            e.next[side] = seq.wrapping_add(payload + u32::from(flags & (SYN | FIN) != 0));
        }
        if !r.one_in(10) {
            e.got[1 - side] = e.next[side];
        }
        let (host, port) = (pair / 4 + 1, (40_000 + pair * 7) as u16);
        let [h, l] = (host as u16).to_be_bytes();
        let (a, b) = (([10, 0, h, l], port), ([10, 9, 9, (pair % 3) as u8], 443u16));
        let (src, dst) = if side == 0 { (a, b) } else { (b, a) };
        let stamps = [(at / 1_000_000) as u32, (at / 1_000_000) as u32 - 20];
        let mut ip = vec![0x45, 0];
        ip.extend((52 + payload as u16).to_be_bytes());
        ip.extend((n as u16).to_be_bytes());
        ip.extend([0x40, 0, 64, 6, 0, 0]);
        ip.extend([src.0, dst.0].concat());
        ip.extend([src.1.to_be_bytes(), dst.1.to_be_bytes()].concat());
        ip.extend([seq.to_be_bytes(), ack.to_be_bytes()].concat());
        ip.extend([0x80, flags, 0xff, 0xff, 0, 0, 0, 0, 1, 1, 8, 10]);
        ip.extend(stamps.map(u32::to_be_bytes).concat());
        let (kept, all) = (ip.len() as u32, ip.len() as u32 + payload);
        out.extend([(at / 1_000_000_000) as u32, (at % 1_000_000_000) as u32].map(u32::to_le_bytes).concat());
        out.extend([kept.to_le_bytes(), all.to_le_bytes()].concat());
        out.extend(ip);
    }
    out
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

fn put<R: Row + Debug>(found: &Findings, out: &mut String) {
    if found.shelf.holds(R::TABLE) {
        for row in found.shelf.rows::<R>().expect("rows") {
            writeln!(out, "{:?}", row.expect("a row")).expect("memory takes it");
        }
    }
}

/// All that is said of a capture: the JSON, the page's, and every table.
fn told(request: &Request) -> String {
    let found = match run::analyze(request, None, &mut |_| true) {
        Ok(found) => found,
        Err(why) => return why,
    };
    let mut out = Vec::new();
    json::write(&mut out, &found.facts, &found.shelf, json::Beside::default()).expect("memory takes it");
    out.extend(
        json::overview::write(&found.facts, &found.shelf, json::Beside::default(), 70)
            .expect("memory takes it"),
    );
    let mut out = String::from_utf8(out).expect("UTF-8");
    put::<FlowRow>(&found, &mut out);
    put::<BurstRow>(&found, &mut out);
    put::<EpisodeRow>(&found, &mut out);
    put::<RetransmissionRow>(&found, &mut out);
    put::<ProbeRow>(&found, &mut out);
    put::<IdleRow>(&found, &mut out);
    put::<RoundRow>(&found, &mut out);
    put::<IntervalRow>(&found, &mut out);
    put::<RttRow>(&found, &mut out);
    put::<PacketRow>(&found, &mut out);
    for table in Table::ALL.into_iter().filter(|table| found.shelf.holds(*table)) {
        writeln!(out, "{} rows in {}", found.shelf.len(table), table.name()).expect("memory takes it");
    }
    out
}

/// The same with one thread and with many; what was told.
fn same(request: &Request) -> String {
    let one = told(&Request { threads: 1, ..request.clone() });
    for threads in THREADS {
        let many = told(&Request { threads, ..request.clone() });
        // The first line that differs says more than both answers.
        let other = one.lines().zip(many.lines()).find(|(a, b)| a != b);
        assert!(one == many, "{threads} threads, {:?}: {other:?}", request.paths);
    }
    one
}

fn request(paths: &[PathBuf]) -> Request {
    let config = Config { wanted: EVERYTHING, ..Config::default() };
    Request { paths: paths.to_vec(), config, ..Request::default() }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a folder"))
    }
    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path
    }
}

#[test]
fn transfers_and_pairs_are_told_alike() {
    for name in ["interruption", "tsoblk"] {
        let [sender, receiver] = ["snd", "rcv"].map(|at| data(&format!("{name}.{at}.pcap.gz")));
        let of_sender = request(&[sender]);
        let alone = same(&of_sender);
        let pair = same(&Request { receiver: vec![receiver], ..of_sender });
        assert_ne!(alone, pair, "{name}");
    }
}

#[test]
fn many_connections_between_few_hosts_are_told_alike() {
    let folder = Folder::new();
    for (seed, packets, pairs) in [(1, 8_000, 6), (2, 10_000, 300), (3, 20_000, 4_000)] {
        let capture = request(&[folder.file("busy", &busy(seed, packets, pairs))]);
        let told = same(&capture);
        assert!(told.lines().count() > packets as usize, "seed {seed}: a row for each packet and more");
        for only in [false, true] {
            let config = Config::default();
            let listing = Listing { most: Some(80), only };
            same(&Request { listing, config, ..capture.clone() });
        }
    }
}

#[test]
fn rotations_selections_and_cut_files_are_told_alike() {
    let folder = Folder::new();
    let whole = busy(4, 12_000, 90);
    let head = &whole[..24];
    let (first, second) = (&whole[..24 + 68 * 5_500], [head, &whole[24 + 68 * 5_500..]].concat());
    let rotation = request(&[folder.file("1", first), folder.file("2", &second)]);
    let cut = request(&[folder.file("cut", &whole[..whole.len() - 31])]);
    assert!(same(&cut).contains("cut off"), "{:?}", cut.paths);
    let mut damaged = whole.clone();
    damaged[24 + 68 * 5_000..][..400].fill(0xa5);
    same(&request(&[folder.file("damaged", &damaged)]));
    let selected = [
        Options { host: capture::parse_host("10.9.9.1").ok(), ..Options::default() },
        Options { port: Some(40_007), ..Options::default() },
        // What was negotiated before holds from there on.
        Options { from: Some(Span::from_secs(2)), to: Some(Span::from_secs(60)), ..Options::default() },
    ];
    let all = same(&rotation);
    for options in selected {
        let part = same(&Request { options, ..rotation.clone() });
        assert!(part.len() < all.len());
    }
}

#[test]
fn a_pair_of_many_connections_is_told_alike() {
    let folder = Folder::new();
    let sent = busy(5, 10_000, 200);
    // Of what was sent every seventh packet is lost, and the others take a while.
    let mut arrived = sent[..24].to_vec();
    for (n, record) in sent[24..].chunks(68).enumerate().filter(|(n, _)| n % 7 != 3) {
        let nanoseconds = u32::from_le_bytes(record[4..8].try_into().expect("four bytes"));
        let later = (nanoseconds + 5_000 + n as u32 % 1000).min(999_999_999);
        arrived.extend([&record[..4], &later.to_le_bytes(), &record[8..]].concat());
    }
    let pair = Request {
        receiver: vec![folder.file("arrived", &arrived)],
        ..request(&[folder.file("sent", &sent)])
    };
    assert!(same(&pair).contains("matched_packets"));
}

#[test]
fn what_was_read_before_somebody_stopped_it_is_told() {
    let folder = Folder::new();
    let capture = request(&[folder.file("busy", &busy(6, 60_000, 100))]);
    let stopped = |threads| {
        let mut asked = 0;
        let mut go_on = |_| {
            asked += 1;
            asked < 5
        };
        let found =
            run::analyze(&Request { threads, ..capture.clone() }, None, &mut go_on).expect("an answer");
        assert!(found.facts.interrupted);
        let mut out = Vec::new();
        json::write(&mut out, &found.facts, &found.shelf, json::Beside::default()).expect("memory takes it");
        out
    };
    let one = stopped(1);
    assert!(THREADS.iter().all(|threads| stopped(*threads) == one));
}

#[test]
fn a_capture_without_tcp_is_refused_alike() {
    let folder = Folder::new();
    let empty = request(&[folder.file("empty", &busy(7, 0, 1))]);
    assert!(same(&empty).contains("empty"), "{}", same(&empty));
}
