//! The figures of `tests/scored.rs` as one JSON object, for `validation/causes.py`.
//!
//!     cargo run -p rexmit-results --example scored [scenarios of each family, 200] [today]
//!
//! `today`: causes and losses of today's stacks alone, in place of the others.

#[path = "../tests/score/mod.rs"]
mod score;

use analysis::rows::Vantage;
use score::causes::{self, Matrix};
use score::paths::Family;
use score::random::TODAY;
use score::{WIRE, cost, losses, senders};
use serde_json::{Value, json};

type Stacks = &'static [&'static str];

fn main() {
    let scenarios = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(200);
    let stacks = if std::env::args().any(|word| word == "today") { TODAY } else { WIRE };
    let matrices: Vec<Value> = Family::ALL
        .into_iter()
        .flat_map(|f| [Vantage::Sender, Vantage::Receiver].map(|at| matrix(f, at, stacks, scenarios)))
        .collect();
    println!(
        "{}",
        json!({
            "scenarios": scenarios,
            "causes": matrices,
            "losses": Family::ALL.map(|f| found(f, stacks, scenarios)),
            "cost": costs(),
            "senders": sender_figures(),
        })
    );
}

fn matrix(family: Family, at: Vantage, stacks: Stacks, scenarios: u64) -> Value {
    let mut all = Matrix::default();
    for seed in 0..scenarios {
        causes::score(&family.run_of(seed, stacks), at, &mut all);
    }
    let cells: Vec<Value> = all
        .cells()
        .filter(|(.., n)| *n > 0)
        .map(|(truth, said, n)| json!({ "truth": truth, "said": said, "n": n }))
        .collect();
    json!({ "family": family.name(), "side": at, "right": all.right(), "total": all.total(), "cells": cells })
}

/// Flows with losses, and those of which bursts and episodes are found exactly.
fn found(family: Family, stacks: Stacks, scenarios: u64) -> Value {
    let (mut flows, mut exact, mut bursts, mut episodes) = (0u64, 0u64, 0usize, 0usize);
    for seed in 0..scenarios {
        let run = family.run_of(seed, stacks);
        let said = losses::said(&run.analysed(Vantage::Both));
        for (end, truth) in losses::truth(&run) {
            let none = losses::Losses::default();
            flows += 1;
            exact += u64::from(truth.agrees_with(said.get(&end).unwrap_or(&none)));
            bursts += truth.bursts.len();
            episodes += truth.episodes.len();
        }
    }
    json!({ "family": family.name(), "flows": flows, "exact": exact, "bursts": bursts, "episodes": episodes })
}

fn costs() -> Value {
    let pairs: Vec<cost::Pair> = (0..cost::PAIRS).map(cost::pair).collect();
    let mut errors: Vec<f64> = pairs.iter().filter_map(cost::Pair::error).collect();
    errors.sort_by(f64::total_cmp);
    json!({ "pairs": pairs.len(), "known": errors.len(), "median_error": errors.get(errors.len() / 2) })
}

fn sender_figures() -> Value {
    let mut by = std::collections::BTreeMap::<&str, [u64; 3]>::new();
    for a in (0..senders::RUNS).flat_map(senders::answers) {
        let [asked, answered, right] = by.entry(a.what).or_default();
        *asked += 1;
        *answered += u64::from(a.said.is_some());
        *right += u64::from(a.right && a.said.is_some());
    }
    by.into_iter()
        .map(|(what, [asked, answered, right])| {
            json!({ "what": what, "asked": asked, "answered": answered, "right": right })
        })
        .collect()
}
