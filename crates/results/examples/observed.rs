//! What stood around each retransmission where data arrives, and why it was truly sent again, for
//! `validation/fit_likelihoods.py`: a line of FAMILY,JUDGED,TRUTH and the step of each observation.
//!
//!     cargo run --release -p rexmit-results --example observed FROM TO [today]
//!
//! Seeds FROM to TO - 1 of each family. `today`: between today's stacks alone. Truths that no row stands for follow
//! as FAMILY,none,TRUTH.

#[path = "../tests/score/mod.rs"]
mod score;

use analysis::rows::{Cause, RetransmissionRow, Vantage};
use analysis::{Analyzer, Config, Observed, Sink, TOLD_APART, Wanted};
use score::causes;
use score::paths::Family;
use score::random::TODAY;
use score::{WIRE, run::Run};
use std::collections::{HashMap, HashSet};

#[derive(Default)]
struct Heard {
    observed: HashMap<u64, Observed>,
    rows: Vec<RetransmissionRow>,
}

impl Sink for Heard {
    fn retransmission(&mut self, row: RetransmissionRow) {
        self.rows.push(row);
    }
    fn observed(&mut self, packet: u64, observed: &Observed) {
        self.observed.insert(packet, *observed);
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize| words.get(i).and_then(|w| w.parse::<u64>().ok()).expect("two numbers of seeds");
    let stacks = if words.iter().any(|w| w == "today") { TODAY } else { WIRE };
    println!("family,judged,truth,{}", analysis::OBSERVATIONS.join(","));
    println!("causes,{}", TOLD_APART.map(Cause::name).join(","));
    for family in Family::ALL {
        for seed in number(0)..number(1) {
            tell(family, &family.run_of(seed, stacks));
        }
    }
}

fn tell(family: Family, run: &Run) {
    let wanted = Wanted { retransmissions: true, ..Wanted::default() };
    let config = Config { vantage: Some(Vantage::Receiver), wanted, ..Config::default() };
    let mut analyzer = Analyzer::new(config, Heard::default());
    analyzer.push(&run.captures[1]);
    let heard = analyzer.finish().1;
    let truths = causes::truths(run);
    let truth: HashMap<u64, Cause> = run
        .arrivals
        .iter()
        .filter_map(|(n, f)| Some((*n, truths.get(&f.copy).copied().flatten()?)))
        .collect();
    let mut told = HashSet::new();
    for row in heard.rows.iter().filter(|r| r.cause != Cause::Handshake) {
        told.insert(row.packet);
        let truth = truth.get(&row.packet).map_or("new", |c| c.name());
        let steps = heard.observed.get(&row.packet).copied().unwrap_or_default().0;
        let steps = steps.map(|s| s.map_or(String::new(), |s| s.to_string()));
        println!("{},{},{truth},{}", family.name(), row.cause.name(), steps.join(","));
    }
    let untold = truth.iter().filter(|(n, c)| !told.contains(n) && **c != Cause::Handshake);
    for cause in untold.map(|(_, c)| c.name()) {
        println!("{},none,{cause}", family.name());
    }
}
