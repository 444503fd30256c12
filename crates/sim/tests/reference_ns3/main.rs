//! Paper `ns3`'s link against ns-3.20 itself: four complete traces, and every figure of all its rows.
//!
//! ns-3.20's random numbers are not drawn again: the arrivals that its error model discarded are listed.

mod rows;
#[path = "../support/mod.rs"]
mod support;
mod traces;

use sim::Rows;
use support::{lines, reference, scenario};

/// The scenario beside the reference files, as `validation/reference.py` makes it.
fn run(name: &str) -> Rows {
    let text = lines(&reference(&format!("ns-3.20/{name}.toml"))).join("\n");
    support::run(&scenario(&text), 1).1
}

/// Values that cwnd took: time in ns, before, after.
fn cwnd_changes(rows: &Rows) -> Vec<(i64, u64, u64)> {
    let mut last = 0;
    let mut changes = Vec::new();
    for row in rows.states.iter().filter(|r| r.forward) {
        let cwnd = row.state.cwnd_bytes as u64;
        if cwnd != last {
            changes.push((row.time.0, last, cwnd));
            last = cwnd;
        }
    }
    changes
}
