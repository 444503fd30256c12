//! Packets in, answers out: what was lost, how each burst was repaired, how long the sender sat idle and why.
//!
//! The analysis sees packets, times and vantage points only. State grows with connections and with what is in
//! flight; rows leave through a [`Sink`].

pub mod config;
pub mod infer;
pub mod rows;
pub mod sink;
pub mod summary;
pub mod timers;

pub use config::Config;
pub use sink::{Rows, Sink, Wanted};

use wire::Packet;

/// The fate of a packet, where a second capture of the same transfer tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    #[default]
    Unknown,
    Arrived,
    Lost,
}

/// Counts over the whole analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub connections: u64,
    /// Directions that carried data, each with a row.
    pub flows: u64,
    pub packets: u64,
}

/// Takes packets in capture order and writes rows to its sink.
pub struct Analyzer<S: Sink> {
    sink: S,
    totals: Totals,
}

impl<S: Sink> Analyzer<S> {
    pub fn new(_config: Config, sink: S) -> Analyzer<S> {
        Analyzer { sink, totals: Totals::default() }
    }
    /// Packets in the order of the capture. Cheapest in batches of a hundred or so.
    pub fn push(&mut self, packets: &[Packet]) {
        self.totals.packets += packets.len() as u64;
    }
    /// One packet whose fate is known from a second capture (see the join in `rexmit-analysis::join`).
    pub fn push_with_fate(&mut self, packet: &Packet, _fate: Fate) {
        self.push(std::slice::from_ref(packet));
    }
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }
    /// Ends every connection that is still open and gives the sink back.
    pub fn finish(self) -> (Totals, S) {
        (self.totals, self.sink)
    }
}
