//! What a run leaves: captures on the disk, what the bridge knows, what the ends counted.

pub use crate::bins::{Bin, Bins};
pub use crate::bridge::{Inside, Quality};
pub use crate::command::Exit;
pub use crate::counts::Counts;
pub use crate::frames::{Headers, TCP};
pub use crate::info::Info;
pub use crate::lateness::Lateness;
pub use crate::passed::{Drop, Ends, Passed, Queued, Way, Which};
pub use crate::poll::Polled;
pub use crate::record::Taken;
pub use crate::told::{Explained, Viewed};
pub use crate::trace::Probe;
pub use crate::transfer::{Ended, Side};
use instant::Time;
use links::Counters;
use links::counters::Tallies;

/// Why a run is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything was sent, acknowledged and closed.
    Done,
    /// The scenario's duration has passed.
    Duration,
    /// It was told to stop.
    Stopped,
    /// It has no duration, and was not done within what any run may take.
    Overdue,
    /// It could not go on.
    Failed(String),
}

/// What an ACK found at a kernel's sender, or a packet as it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    pub time: Time,
    /// Of the plan.
    pub connection: u32,
    /// The client's sender, or the server's.
    pub forward: bool,
    /// SND.UNA and SND.NXT; the SYN is 0.
    pub una: u64,
    pub nxt: u64,
    pub probe: Probe,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub end: End,
    /// The wall clock at virtual time zero.
    pub origin: Time,
    /// How long it took, in virtual time.
    pub time: Time,
    /// When the first packet came to the bridge.
    pub first: Option<Time>,
    /// By connection of the plan.
    pub ended: Vec<Ended>,
    /// The senders' state, where it was asked for.
    pub polled: Vec<Polled>,
    /// The same at every ACK and every packet, where the kernel lets us look.
    pub probed: Vec<Probed>,
    /// Whether it does, where it was asked for; the error is why not.
    pub traced: Option<Result<(), String>>,
    /// The same of rexmit's own TCP, at every change.
    pub viewed: Vec<Viewed>,
    /// Why it sent what, wherever that was no new data and no mere ACK.
    pub explained: Vec<Explained>,
    /// By program of the plan.
    pub exits: Vec<Exit>,
    /// By link: forward, back.
    pub links: Vec<[Counters; 2]>,
    pub tallies: Vec<[Tallies; 2]>,
    /// By link: when its first packet came, where an outage's schedule waited for it.
    pub anchors: Vec<Option<Time>>,
    /// Connections as they passed the bridge, in the order of their first packets.
    pub passed: Vec<Passed>,
    pub drops: Vec<Drop>,
    pub queued: Vec<Queued>,
    /// What passed the bridge by intervals, where the plan asked for it.
    pub bins: Option<Bins>,
    /// Packets that came to the bridge.
    pub packets: u64,
    /// Those that were inside at the end, neither lost nor delivered; each as often as it was carried.
    pub inside: Vec<Inside>,
    pub quality: Quality,
    pub captures: Vec<Taken>,
    /// The kernel that ran.
    pub kernel: String,
    /// What a reader has to know.
    pub warnings: Vec<String>,
}
