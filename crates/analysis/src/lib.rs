//! Packets in, answers out: what was lost, how each burst of losses was repaired, how long the sender sat idle and why.
//!
//! The analysis sees packets, times and vantage points only. State grows with connections and with what is in
//! flight; rows leave through a [`Sink`].

mod analyzer;
pub mod ascending;
pub mod assumptions;
mod capture_progress;
pub mod cause;
mod chunks;
pub mod closed_set;
pub mod config;
mod connection;
mod connection_table;
pub mod distribution;
pub mod fault;
pub mod flow_facts;
pub mod idle_cause;
mod incarnation;
pub mod infer;
pub mod join;
mod negotiated;
pub mod paths;
mod prefetch;
mod rounds;
pub mod rows;
mod sender_clock;
mod short_connections;
pub mod sink;
mod stream;
pub mod sure;
pub mod timers;
mod vantage;
pub mod waits;
pub mod words;

pub use analyzer::{Analyzer, review_every};
pub use capture_progress::{CaptureProgress, SHARES, part};
pub use config::Config;
pub use sink::{Flows, Rows, Sink, Wanted};
pub use stream::repair::evidence::{NAMES as OBSERVATIONS, Observed, TOLD_APART};

/// The fate of a packet, as far as a second capture or the simulator shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    #[default]
    Unknown,
    Arrived,
    /// Data that arrived after data that was sent later.
    Late,
    /// This capture saw it arrive with a wrong checksum, so its host drops it. In a capture at its sender the same packet is
    /// [`Fate::Lost`].
    Damaged,
    Lost,
    /// It was inside the network when both captures ended: sent, and neither lost nor arrived.
    UnderWay,
    /// This many bytes of a super-packet were lost.
    PartlyLost(u32),
    /// This capture is at the packet's receiver: the packet was captured on arrival, and losses before this point do not show.
    SeenArriving,
}

/// Counts over the whole analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub connections: u64,
    /// Directions that carried data, each with a row.
    pub flows: u64,
    pub packets: u64,
    /// Packets that were only counted, because the memory of their share of the connections was used up.
    pub not_analysed: u64,
}
