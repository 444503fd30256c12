//! Paper `ns3`'s link against ns-3.20 itself: four complete traces, and every figure of all its rows.
//!
//! ns-3.20's random numbers are not drawn again: the arrivals that its error model discarded are listed.

mod rows;
#[path = "../support/mod.rs"]
mod support;
mod traces;

use sim::Rows;
use support::{lines, reference, run, scenario};

/// Paper `ns3`'s set-up with one thing changed.
struct Setup<'a> {
    variant: &'a str,
    rate_mbps: u32,
    delay: &'a str,
    queue_packets: u32,
    /// Arrivals at the receiver that are discarded; the SYN is number 0.
    discarded: Vec<u64>,
}

impl Default for Setup<'_> {
    fn default() -> Self {
        Setup { variant: "newreno", rate_mbps: 5, delay: "5ms", queue_packets: 10, discarded: vec![] }
    }
}

impl Setup<'_> {
    /// PPP framing, and an application that writes 1460 bytes at 100 Mbps from 1 s on.
    fn scenario(&self) -> String {
        let Setup { variant, rate_mbps, delay, queue_packets, discarded } = self;
        let errors = match &discarded[..] {
            [] => String::new(),
            _ => format!(
                "[[link.channel]]\nname = \"errors\"\nkind = \"list\"\npackets = {discarded:?}\n\
                 at = \"egress\"\ndirection = \"forward\"\n"
            ),
        };
        format!(
            r#"
name = "ns3"
duration = "10s"
[[node]]
name = "n0"
input = "in-turn"
[[node]]
name = "n1"
input = "in-turn"
[[link]]
name = "p2p"
between = ["n0", "n1"]
rate = "{rate_mbps}Mbps"
delay = "{delay}"
framing = "ppp"
queue = {{ kind = "droptail", packets = {queue_packets} }}
{errors}
[[flow]]
name = "f"
from = "n0"
to = "n1"
start = "1s"
stack = "ns3.20-{variant}"
workload = {{ kind = "constant-rate", rate = "100Mbps", message = "1460B" }}
[record]
capture = ["n0"]
state = true
queues = true
packets = true
drops = true
"#
        )
    }

    fn run(&self) -> Rows {
        run(&scenario(&self.scenario()), 1).1
    }
}

/// Ordinals from 1 in the file, from 0 in a list channel.
fn discarded(file: &str) -> Vec<u64> {
    let ordinal = |line: &String| line.rsplit(',').next().and_then(|n| n.trim().parse::<u64>().ok());
    lines(&reference(&format!("ns-3.20/{file}")))
        .iter()
        .filter(|l| !l.is_empty())
        .map(|l| ordinal(l).expect("an ordinal") - 1)
        .collect()
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
