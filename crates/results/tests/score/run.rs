//! A simulated run, seen at both ends, with the truth about every packet that the sender's side sent.

use analysis::join::{Joiner, Side};
use analysis::rows::Vantage;
use analysis::{Analyzer, Config, Rows, Wanted};
use scenario::model::Scenario;
use sim::rows::{HostRow, PacketFacts, StateRow};
use sim::{Simulation, Summary};
use std::collections::HashSet;
use std::path::Path;
use wire::Packet;

/// One packet that the sender's side sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub packet: Packet,
    pub facts: PacketFacts,
    pub arrived: bool,
}

/// What was recorded of a run in which the clients at one node send to the servers at another.
pub struct Run {
    pub seed: u64,
    pub summary: Summary,
    /// The captures at the clients' node and at the servers'.
    pub captures: [Vec<Packet>; 2],
    /// In the order in which they were sent.
    pub sent: Vec<Sent>,
    /// By the number in the servers' capture: which copy it is, for its first arrival.
    pub arrivals: Vec<(u64, PacketFacts)>,
    pub states: Vec<StateRow>,
    pub scenario: Scenario,
}

pub fn scenario(text: &str) -> Scenario {
    let read = |_: &Path, _: scenario::file::Form| Err("these scenarios name no files".to_owned());
    scenario::parse(text, "test.toml", Path::new("."), &[], &read).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

impl Run {
    /// Runs a scenario that records the captures of both ends, packets and retransmissions. `server`: the number of
    /// the servers' node; the clients' is 0.
    pub fn of(text: &str, seed: u64, server: u32) -> Run {
        let scenario = scenario(text);
        let mut run =
            Simulation::recorded(&scenario, seed, sim::Rows::default()).expect("a net can be built");
        let summary = run.run(&mut |_| true);
        let (_, rows) = run.finish();
        let at = |node: u32| rows.packets.iter().filter(move |(n, _)| n.0 == node).map(|(_, p)| *p).collect();
        let captures: [Vec<Packet>; 2] = [at(0), at(server)];
        let hosts = |node: u32| rows.hosts.iter().filter(move |r| r.node == node);
        let arrived: HashSet<u64> = hosts(server).filter(|r| !r.sent).map(|r| r.packet.copy).collect();
        let sent = |(p, r): (&Packet, &HostRow)| Sent {
            packet: *p,
            facts: r.packet,
            arrived: arrived.contains(&r.packet.copy),
        };
        let mut seen = HashSet::new();
        Run {
            seed,
            summary,
            sent: captures[0].iter().zip(hosts(0)).filter(|(_, r)| r.sent).map(sent).collect(),
            arrivals: captures[1]
                .iter()
                .zip(hosts(server))
                .filter(|(_, r)| !r.sent && seen.insert(r.packet.copy))
                .map(|(p, r)| (p.number, r.packet))
                .collect(),
            captures,
            states: rows.states,
            scenario,
        }
    }

    /// What the analysis says of it, from the sender's side, the receiver's, or both.
    pub fn analysed(&self, at: Vantage) -> Rows {
        let wanted = Wanted { retransmissions: true, ..Wanted::default() };
        let config = Config { vantage: Some(at), wanted, ..Config::default() };
        let mut analyzer = Analyzer::new(config, Rows::default());
        match at {
            Vantage::Both => {
                let mut joined = self.joined();
                let mut fates = joined.fates(Side::Sender);
                for packet in &self.captures[0] {
                    analyzer.push_with_fate(packet, fates.of(packet));
                }
            }
            Vantage::Receiver => analyzer.push(&self.captures[1]),
            _ => analyzer.push(&self.captures[0]),
        }
        analyzer.finish().1
    }

    fn joined(&self) -> analysis::join::Joined {
        let mut joiner = Joiner::new();
        let mut batches = self.captures.each_ref().map(|c| c.chunks(128));
        let mut ended = [false; 2];
        while ended != [true; 2] {
            let side = match (joiner.wants(), ended) {
                (_, [true, false]) => Side::Receiver,
                (_, [false, true]) => Side::Sender,
                (wanted, _) => wanted,
            };
            match batches[side as usize].next() {
                Some(batch) => joiner.push(side, batch),
                None => {
                    joiner.end(side);
                    ended[side as usize] = true;
                }
            }
        }
        joiner.finish()
    }
}
