//! Changes one number or rule of the analysis after the other and prints what each changes; put in place by
//! validation/ablate.py. Arguments: files with a line `CRATE SITE FACTOR` for each change; seeds by --seeds FROM TO.

#[path = "../tests/score/mod.rs"]
mod score;

mod lock;

use lock::{Lines, SEEDS, Transfers};
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |word: &str, n: usize| words.iter().position(|w| w == word).and_then(|i| words.get(i + n));
    let number = |word: &str, n: usize| after(word, n).and_then(|w| w.parse::<u64>().ok());
    let seeds = (number("--seeds", 1).unwrap_or(SEEDS.0), number("--seeds", 2).unwrap_or(SEEDS.1));
    let transfers = Transfers::simulate(seeds);
    let base = (lock::captures(), transfers.judged());
    let plan = std::fs::read_to_string(&words[0]).expect("a plan");
    for line in plan.lines() {
        let parts: Vec<&str> = line.split(' ').collect();
        let (site, factor) = (parts[1].parse().expect("a site"), parts[2].parse().expect("a factor"));
        change(parts[0], site, factor);
        let now = std::panic::catch_unwind(AssertUnwindSafe(|| (lock::captures(), transfers.judged())));
        change(parts[0], u32::MAX, 1.0);
        match now {
            Ok(now) => println!("{line} {}", moved(&base, &now)),
            Err(_) => println!("{line} {{\"panics\": 1}}"),
        }
    }
}

/// How much differs, by kind: causes and answers, which count, and rows, which only show.
fn moved(base: &(Lines, Lines), now: &(Lines, Lines)) -> String {
    let keys = |a: &Lines, b: &Lines| -> BTreeSet<String> {
        let differs = |(key, value): &(&String, &String), of: &Lines| of.get(*key) != Some(*value);
        let of = |a: &Lines, b: &Lines| -> Vec<String> {
            a.iter().filter(|line| differs(line, b)).map(|(key, _)| key.clone()).collect()
        };
        of(a, b).into_iter().chain(of(b, a)).collect()
    };
    let field = |lines: &Lines, key: &str, name: &str| {
        let row: serde_json::Value = lines.get(key).and_then(|r| serde_json::from_str(r).ok()).unwrap_or_default();
        row[name].clone()
    };
    let (mut causes, mut answers, mut rows) = (0, 0, 0);
    for key in keys(&base.0, &now.0) {
        let table = key.split('\t').nth(1).unwrap_or("");
        if table == "retransmissions" && field(&base.0, &key, "cause") != field(&now.0, &key, "cause") {
            causes += 1;
        } else if table == "answer" && key.ends_with(".answer.cause") {
            answers += 1;
        } else {
            rows += 1;
        }
    }
    let simulated = keys(&base.1, &now.1).len();
    let side = |lines: &Lines, side: &str| {
        lines
            .iter()
            .filter(|(key, value)| {
                let (truth, said) = value.split_once(' ').expect("two");
                key.contains(side) && truth != said
            })
            .count() as i64
    };
    let worse = |at: &str| side(&now.1, at) - side(&base.1, at);
    format!(
        "{{\"causes\": {causes}, \"answers\": {answers}, \"rows\": {rows}, \"simulated\": {simulated}, \
         \"sender\": {}, \"receiver\": {}}}",
        worse(" sender "),
        worse(" receiver ")
    )
}
