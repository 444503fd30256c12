//! What a link is made of, as plain data: what a scenario says, what a link is built from.

pub use crate::check::SpecError;
pub use crate::queue::QueueSpec;
use instant::{Span, Time};

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// Bits per second; `None` serialises in no time.
    pub rate_bps: Option<u64>,
    /// Propagation, after the last bit has left.
    pub delay: Span,
    /// Bytes that the link layer adds to each packet.
    pub framing_bytes: u32,
    pub queue: QueueSpec,
    /// In the order in which they are asked.
    pub channels: Vec<ChannelSpec>,
    pub arq: Option<ArqSpec>,
}

/// How much a queue holds; the packet that is being sent is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Packets(u32),
    Bytes(u64),
}

/// Where nobody says one.
impl Default for Limit {
    fn default() -> Limit {
        Limit::Packets(1000)
    }
}

/// Where on a link a channel acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// Before the queue.
    Ingress,
    /// After serialisation, before propagation.
    #[default]
    Wire,
    /// On arrival at the far end.
    Egress,
}

/// Which packets a channel looks at; the others pass it untouched and are not counted by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Only {
    #[default]
    All,
    /// Packets that carry payload.
    Data,
    /// Packets without payload.
    Acks,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSpec {
    /// Its name in the scenario: the drop log and the random stream use it.
    pub name: String,
    pub at: Place,
    pub only: Only,
    pub kind: ChannelKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ChannelKind {
    Outage(Outage),
    GilbertElliott(GilbertElliott),
    /// Each bit, byte or packet is hit with this probability; one hit drops the packet. Length includes framing.
    BitError {
        per: PerUnit,
        rate: f64,
    },
    Random {
        loss: f64,
    },
    /// Exactly these packets, counted from 0 among those that the channel looks at.
    List {
        ordinals: Vec<u64>,
    },
    /// Extra propagation delay from `at` on (the last step that has passed counts; may be negative down to
    /// minus the link's delay). Packets under way are not overtaken unless `reorders`.
    DelayStep {
        steps: Vec<(Time, Span)>,
        reorders: bool,
    },
    /// Mahimahi's format: at each of these times a packet of up to 1500 bytes may leave; repeats after the last.
    /// Replaces the link's rate.
    RateTrace {
        opportunities_ms: Vec<u64>,
    },
    /// With `probability` a packet is held back by `by`, so that later ones overtake it.
    Reorder {
        probability: f64,
        by: Span,
    },
    /// With `probability` a packet arrives `1 + copies` times.
    Duplicate {
        probability: f64,
        copies: u32,
    },
    /// Extra delay drawn for each packet; in order unless `reorders`.
    Jitter {
        spread: Spread,
        reorders: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerUnit {
    Bit,
    Byte,
    Packet,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Between zero and twice the mean.
    Uniform {
        mean: Span,
    },
    Exponential {
        mean: Span,
    },
    /// Normal, cut off below zero.
    Normal {
        mean: Span,
        deviation: Span,
    },
}

/// An interval in which the link delivers nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    pub schedule: Schedule,
    pub anchor: Anchor,
    /// Packets are kept and delivered when the outage ends, instead of dropped.
    pub hold: bool,
    /// What the beginning of an outage destroys besides.
    pub flush: Flush,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Outage k covers `[phase + k * every, + length)`.
    Periodic { every: Span, length: Span, phase: Span },
    /// Alternating, each length drawn anew; begins up. Both directions of a link see the same times.
    Exponential { up_mean: Span, down_mean: Span },
    /// Begin and length, ascending, not overlapping; from the list of a scenario or a trace file.
    Intervals(Vec<(Time, Span)>),
}

/// What a schedule's time zero is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Anchor {
    #[default]
    Start,
    /// The first packet that the link sees (a connection's SYN, in either direction).
    FirstSyn,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flush {
    #[default]
    Nothing,
    /// What waits in the queue.
    Queue,
    /// The queue, the packet being sent and everything in flight; and nothing is accepted while it lasts, wherever
    /// the channel acts (ns-2 does so).
    Flight,
}

/// The two-state channel (Gilbert 1960, Elliott 1963): a loss probability in each state.
#[derive(Clone, Debug, PartialEq)]
pub struct GilbertElliott {
    pub dwell: Dwell,
    pub loss_good: f64,
    pub loss_bad: f64,
}

/// How long each state lasts. A chain over packets stands still while nothing is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Dwell {
    /// A step before each packet. Mean burst 1 / `bad_to_good`; stationary share of bad
    /// `good_to_bad / (good_to_bad + bad_to_good)`.
    Packets { good_to_bad: f64, bad_to_good: f64 },
    /// Exponential lengths counted in packets, as ns-2's two-state error model has them: a bad period takes every
    /// packet that it touches. Share of bad packets 1 - g / (g + b) * exp(-1/g).
    PacketLengths { good_mean: f64, bad_mean: f64 },
    /// Exponential lengths in time.
    Time { good_mean: Span, bad_mean: Span },
}

/// A link layer that repeats a frame until it arrives (802.11), while the frames behind it wait. Every try asks
/// the channels at the wire anew and spends the air time.
#[derive(Clone, Debug, PartialEq)]
pub struct ArqSpec {
    /// Tries in all, the first included.
    pub tries: u32,
    /// Air time of each try besides the frame itself (preamble, spacing, acknowledgement); the frame has left when
    /// it is over.
    pub overhead: Span,
    /// Wait before try n (n = 2, 3, ...): uniform over [0, 2^(n-1) * `backoff`), doubling ten times at
    /// most; zero for none.
    pub backoff: Span,
}
