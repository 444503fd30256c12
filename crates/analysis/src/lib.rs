//! Packets in, answers out: what was lost, how each burst was repaired, how long the sender sat idle and why.
//!
//! The analysis sees packets, times and vantage points only. State grows with connections and with what is in
//! flight; rows leave through a [`Sink`].

mod analyzer;
pub mod ascending;
pub mod assumptions;
mod capture_progress;
pub mod cause;
mod chunks;
mod clock;
pub mod closed_set;
pub mod config;
mod connection;
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
mod short_connections;
pub mod sink;
mod stream;
pub mod summary;
pub mod sure;
mod table;
pub mod timers;
mod vantage;
pub mod waits;
pub mod words;

pub use analyzer::{Analyzer, review_every};
pub use capture_progress::{CaptureProgress, SHARES, part};
pub use config::Config;
pub use sink::{Flows, Rows, Sink, Wanted};
pub use stream::repair::evidence::{NAMES as OBSERVATIONS, Observed, TOLD_APART};

/// The fate of a packet, where a second capture of the same transfer tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fate {
    #[default]
    Unknown,
    Arrived,
    /// It arrived after a packet that was sent after it.
    Late,
    /// It arrived with a wrong checksum, seen there: its host drops it.
    Damaged,
    Lost,
    /// It was inside the network when both captures ended: sent, and neither lost nor arrived.
    UnderWay,
    /// So many bytes of a super-packet.
    PartlyLost(u32),
    /// It is seen as it arrives, whatever of its direction was lost before: the other capture is its sender's.
    Here,
}

/// Counts over the whole analysis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub connections: u64,
    /// Directions that carried data, each with a row.
    pub flows: u64,
    pub packets: u64,
    /// Packets that came once the memory of their share was used up: counted, and no more.
    pub not_analysed: u64,
}
