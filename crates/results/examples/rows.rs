//! The row lock: what does a change of the analysis move?
//!
//!     cargo run --profile local -p rexmit-results --example rows -- keep       before the change
//!     cargo run --profile local -p rexmit-results --example rows -- compare    after it
//!
//! Both read every capture of the project (and of `../shared/captures` where it is there), alone and, where both ends
//! were captured, together, and simulate 1,200 transfers (three families, older stacks and today's), which they analyse
//! from the sender's side, from the receiver's, and from both.
//! `keep` writes every row, every value of the JSON answer and every cause beside the simulator's truth to
//! `target/rows.txt`; `compare` prints which of them differ now. `--seeds FROM TO` takes other transfers, `--list N`
//! prints N differences of each kind (3), `--captures` leaves the transfers out. `compare` ends with exit code 1 if a
//! row moved.

#[path = "../tests/score/mod.rs"]
mod score;

mod lock;

use lock::{Lines, SEEDS, Transfers};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |word: &str, n: usize| words.iter().position(|w| w == word).and_then(|i| words.get(i + n));
    let number = |word: &str, n: usize| after(word, n).and_then(|w| w.parse::<u64>().ok());
    let seeds = (number("--seeds", 1).unwrap_or(SEEDS.0), number("--seeds", 2).unwrap_or(SEEDS.1));
    let list = number("--list", 1).unwrap_or(3) as usize;
    let file = lock::root().join("target/rows.txt");
    let mut now = lock::captures();
    if !words.iter().any(|w| w == "--captures") {
        now.append(&mut Transfers::simulate(seeds).judged());
    }
    match words.first().map(String::as_str) {
        Some("keep") => {
            let mut text = String::new();
            for (key, value) in &now {
                writeln!(text, "{key}\t{value}").expect("memory takes it");
            }
            std::fs::write(&file, text).expect("target/rows.txt can be written");
            println!("{} rows kept in {}", now.len(), file.display());
            ExitCode::SUCCESS
        }
        Some("compare") => {
            let Ok(text) = std::fs::read_to_string(&file) else {
                eprintln!("{}: no rows were kept; run `rows -- keep` before the change", file.display());
                return ExitCode::from(2);
            };
            let before = text.lines().filter_map(|line| line.rsplit_once('\t'));
            let before: Lines = before.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
            compare(&before, &now, list)
        }
        _ => {
            eprintln!("rows keep | compare [--seeds FROM TO] [--list N] [--captures]");
            ExitCode::from(2)
        }
    }
}

/// Right and judged packets of the simulated transfers, by family, stacks and side.
fn score_of(lines: &Lines) -> BTreeMap<String, (u64, u64)> {
    let mut out = BTreeMap::<String, (u64, u64)>::new();
    for (key, value) in lines {
        let mut parts = key.split('\t');
        let (Some(place), Some("simulated")) = (parts.next(), parts.next()) else { continue };
        let group = place.rsplit_once(' ').map_or(place, |(group, _)| group);
        let (truth, said) = value.split_once(' ').expect("truth and answer");
        let (right, judged) = out.entry(group.to_owned()).or_default();
        // A packet that is no retransmission, and is not taken for one, is not counted.
        if (truth, said) != ("none", "none") {
            *judged += 1;
            *right += u64::from(truth == said);
        }
    }
    out
}

// ---- what differs

fn compare(before: &Lines, now: &Lines, list: usize) -> ExitCode {
    let mut kinds = BTreeMap::<String, Vec<String>>::new();
    let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    for key in keys {
        let (old, new) = (before.get(key), now.get(key));
        if old == new {
            continue;
        }
        let mut parts = key.split('\t');
        let (place, table) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let row = parts.next().unwrap_or("");
        let (text, none) = (|v: Option<&String>| v.map_or("–", String::as_str).to_owned(), String::new());
        match table {
            "simulated" => {
                let said =
                    |v: Option<&String>| v.map_or("none", |v| v.split_once(' ').expect("two").1).to_owned();
                let truth = old.or(new).and_then(|v| v.split(' ').next()).unwrap_or("none");
                let (a, b) = (said(old), said(new));
                let kind = match (a == truth, b == truth) {
                    (false, true) => "fixed",
                    (true, false) => "broken",
                    _ => "wrong either way",
                };
                let side = if place.contains("sender") { "sender" } else { "receiver" };
                let kind = format!("simulated, {side}, {kind}: truth {truth}, {a} before, {b} now");
                kinds.entry(kind).or_default().push(format!("{place} packet {row}"));
            }
            "answer" => {
                let path: String = row.chars().filter(|c| !c.is_ascii_digit()).collect();
                let line = format!("{place} {row}: {} → {}", text(old), text(new));
                kinds.entry(format!("answer {path}")).or_default().push(line);
            }
            _ => {
                let fields = |v: Option<&String>| -> Value {
                    serde_json::from_str(v.unwrap_or(&none)).unwrap_or(Value::Null)
                };
                let (a, b) = (fields(old), fields(new));
                let line = format!("{place} {row}");
                match (&a, &b) {
                    (Value::Object(a), Value::Object(b)) => {
                        for (field, was) in a {
                            let is = b.get(field).unwrap_or(&Value::Null);
                            if was != is {
                                let kind = format!("{table}.{field}");
                                kinds.entry(kind).or_default().push(format!("{line}: {was} → {is}"));
                            }
                        }
                    }
                    (Value::Null, _) => kinds.entry(format!("{table}: new row")).or_default().push(line),
                    _ => kinds.entry(format!("{table}: row is gone")).or_default().push(line),
                }
            }
        }
    }
    for (kind, lines) in &kinds {
        println!("{:6}  {kind}", lines.len());
        lines
            .iter()
            .take(list)
            .for_each(|line| println!("          {}", line.chars().take(240).collect::<String>()));
    }
    let (was, is) = (score_of(before), score_of(now));
    for (group, (right, judged)) in &is {
        let (before, of) = was.get(group).copied().unwrap_or_default();
        println!(
            "{group:28} wrong {:5} of {of:6} before, {:5} of {judged:6} now",
            of - before,
            judged - right
        );
    }
    let moved: usize = kinds.values().map(Vec::len).sum();
    println!("{} rows before, {} now; {moved} differences", before.len(), now.len());
    ExitCode::from(u8::from(moved > 0))
}
