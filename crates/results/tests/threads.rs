//! On however many threads a capture is analysed, the answer is the same to the byte.

mod busy;

use analysis::{Config, Wanted};
use busy::{Folder, busy, told};
use capture::Options;
use results::json;
use results::run::{self, Request};
use results::spool::Listing;
use std::path::{Path, PathBuf};
use wire::Span;

const THREADS: [usize; 3] = [2, 3, 16];
const EVERYTHING: Wanted = Wanted { retransmissions: true, intervals: true, rtts: true, packets: true };

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
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

/// With bounds of which each leaves another part of the packets unanalysed.
#[test]
fn a_bound_of_memory_is_told_alike_on_any_number_of_threads() {
    let folder = Folder::new();
    let sent = folder.file("sent", &busy(8, 40_000, 3_000));
    let alone = Request { config: Config::default(), ..request(std::slice::from_ref(&sent)) };
    let pair = Request { receiver: vec![folder.file("arrived", &busy(8, 40_000, 3_000))], ..alone.clone() };
    for request in [alone, pair] {
        let unbounded = told(&Request { threads: 1, ..request.clone() });
        for kilobytes in [64, 300, 600, 1000] {
            let bounded = Request { max_memory: Some(kilobytes << 10), ..request.clone() };
            let one = told(&Request { threads: 1, ..bounded.clone() });
            assert_ne!(one, unbounded, "{kilobytes} kB: a part is counted only");
            for threads in [1, 2, 3, 4, 2, 3, 4, 4] {
                let many = told(&Request { threads, ..bounded.clone() });
                let other = one.lines().zip(many.lines()).find(|(a, b)| a != b);
                assert!(one == many, "{kilobytes} kB, {threads} threads: {other:?}");
            }
        }
        let enough = Request { max_memory: Some(1 << 30), threads: 4, ..request };
        assert_eq!(told(&enough), unbounded);
    }
}
