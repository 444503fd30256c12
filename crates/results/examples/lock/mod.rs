//! What the analysis says of every capture at hand and of simulated transfers, as lines that can be compared.

use crate::score::WIRE;
use crate::score::causes::{self, name as label};
use crate::score::paths::Family;
use crate::score::random::TODAY;
use crate::score::run::Run;
use analysis::rows::Vantage;
use analysis::{Config, Wanted};
use results::json;
use results::run::{self, Findings, Request};
use results::spool::{Row, Table};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// By key: a row as JSON, a leaf of the answer, or `truth said` of a simulated packet. A key is made of parts that
/// tabs separate: where (capture or transfer), which table, and which row.
pub type Lines = BTreeMap<String, String>;

/// The transfers that the row lock takes if no others are named: three families, older stacks and today's.
pub const SEEDS: (u64, u64) = (1_300_000, 1_300_200);

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every row and every value of the answer, of every capture at hand.
pub fn captures() -> Lines {
    let mut paths = Vec::new();
    for folder in ["tests/data", "crates", "../shared/captures"] {
        collect(&root().join(folder), &mut paths);
    }
    paths.sort();
    let of = |part: usize| {
        let mut out = Lines::new();
        for path in paths.iter().skip(part).step_by(2) {
            rows_of(path, None, &mut out);
            let receiver = other_end(path).filter(|other| paths.contains(other));
            receiver.into_iter().for_each(|receiver| rows_of(path, Some(receiver), &mut out));
        }
        out
    };
    let (mut out, mut odd) = both(|| of(0), || of(1));
    out.append(&mut odd);
    out
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, paths);
        } else if name.contains(".pcap") || name.contains(".cap") || name.ends_with(".trace") {
            paths.push(path);
        }
    }
}

/// Where the receiver's capture of the same transfer would be, if this is the sender's by its name.
fn other_end(sender: &Path) -> Option<PathBuf> {
    let name = sender.file_name()?.to_str()?;
    let ends = [(".snd.", ".rcv."), ("-client.", "-server.")];
    let (here, there) = ends.into_iter().find(|(here, _)| name.contains(here))?;
    Some(sender.with_file_name(name.replace(here, there)))
}

/// The rows of one capture; with `receiver`, of both captures of a transfer.
fn rows_of(path: &Path, receiver: Option<PathBuf>, out: &mut Lines) {
    let wanted = Wanted { retransmissions: true, ..Wanted::default() };
    let config = Config { wanted, ..Config::default() };
    let paths = vec![path.to_owned()];
    let receiver = Vec::from_iter(receiver);
    let both = if receiver.is_empty() { "" } else { " with the receiver's" };
    let request = Request { paths, receiver, config, threads: 1, ..Request::default() };
    let Ok(found) = run::analyze(&request, None, &mut |_| true) else { return };
    let root = root();
    let place = format!("{}{both}", path.strip_prefix(&root).unwrap_or(path).display());
    let mut answer = Vec::new();
    json::write(&mut answer, &found.facts, &found.shelf, json::Beside::default()).expect("memory takes it");
    let answer: Value = serde_json::from_slice(&answer).expect("JSON");
    leaves(&answer, &format!("{place}\tanswer\t"), out);
    table::<analysis::rows::BurstRow>(&found, &place, &["flow", "start", "seq_start"], out);
    table::<analysis::rows::EpisodeRow>(&found, &place, &["flow", "number"], out);
    table::<analysis::rows::RetransmissionRow>(&found, &place, &["packet", "seq_start"], out);
    table::<analysis::rows::ProbeRow>(&found, &place, &["packet"], out);
    table::<analysis::rows::IdleRow>(&found, &place, &["flow", "start"], out);
    table::<analysis::rows::RoundRow>(&found, &place, &["flow", "start"], out);
}

/// A line for each row of a table.
fn table<R: Row + serde::Serialize>(found: &Findings, place: &str, key: &[&str], out: &mut Lines) {
    let table: Table = R::TABLE;
    for row in found.shelf.rows::<R>().expect("rows") {
        let row = serde_json::to_value(row.expect("a row")).expect("JSON");
        let parts: Vec<String> = key.iter().map(|k| row[k].to_string()).collect();
        out.insert(format!("{place}\t{}\t{}", table.name(), parts.join(" ")), row.to_string());
    }
}

/// A line for each value of the answer.
fn leaves(value: &Value, at: &str, out: &mut Lines) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, v)| leaves(v, &format!("{at}.{name}"), out));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(i, v)| leaves(v, &format!("{at}[{i}]"), out));
        }
        leaf => {
            out.insert(at.to_owned(), leaf.to_string());
        }
    }
}

/// The simulated transfers: family and stacks, seed, and what was recorded.
pub struct Transfers(Vec<(String, u64, Run)>);

impl Transfers {
    pub fn simulate((from, to): (u64, u64)) -> Transfers {
        let of = |part: u64| -> Vec<(String, u64, Run)> {
            let sets = |family: Family| [("older", WIRE), ("today", TODAY)].map(|set| (family, set));
            let runs = Family::ALL.into_iter().flat_map(sets).flat_map(|(family, (set, stacks))| {
                let name = format!("{} {set}", family.name());
                let seeds = (from..to).filter(move |seed| seed % 2 == part);
                seeds.map(move |seed| (name.clone(), seed, family.run_of(seed, stacks)))
            });
            runs.collect()
        };
        let (mut even, odd) = both(|| of(0), || of(1));
        even.extend(odd);
        Transfers(even)
    }

    /// By packet: the simulator's word for why it was sent, and the analysis's.
    pub fn judged(&self) -> Lines {
        let of = |part: usize| {
            let mut out = Lines::new();
            for (name, seed, run) in self.0.iter().skip(part).step_by(2) {
                for at in [Vantage::Sender, Vantage::Receiver, Vantage::Both] {
                    for (number, truth, said) in causes::judged(run, at) {
                        let key = format!("{name} {} {seed}\tsimulated\t{number}", at.name());
                        out.insert(key, format!("{} {}", label(truth), label(said)));
                    }
                }
            }
            out
        };
        let (mut out, mut odd) = both(|| of(0), || of(1));
        out.append(&mut odd);
        out
    }
}

/// Both at once, each on a thread of its own.
fn both<T: Send>(a: impl FnOnce() -> T, b: impl FnOnce() -> T + Send) -> (T, T) {
    std::thread::scope(|s| {
        let other = s.spawn(b);
        (a(), other.join().expect("no analysis panics"))
    })
}
