//! What a link is made of, as plain data: what a scenario says, what a link is built from.

pub use crate::channel::ChannelKind;
pub use crate::channel::bit_error::PerUnit;
pub use crate::channel::gilbert_elliott::{Dwell, Params as GilbertElliott};
pub use crate::channel::jitter::Spread;
pub use crate::channel::outage::{Anchor, Flush, Params as Outage, Schedule};
pub use crate::check::SpecError;
pub use crate::queue::QueueSpec;
use instant::Span;
use std::ops::Range;

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

params::words! {
    /// Where on a link a channel acts.
    #[derive(Default)]
    pub enum Place {
        /// Before the queue.
        Ingress = "ingress", "before the queue";
        /// After serialisation, before propagation.
        #[default]
        Wire = "wire", "after serialisation, before propagation";
        /// On arrival at the far end.
        Egress = "egress", "on arrival at the far end";
    }
}

params::words! {
    /// Which packets a channel looks at; the others pass it untouched and are not counted by it.
    #[derive(Default)]
    pub enum Only {
        #[default]
        All = "all", "every packet";
        /// Packets that carry payload.
        Data = "data", "packets that carry payload";
        /// Packets without payload.
        Acks = "acks", "packets without payload";
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSpec {
    /// Its name in the scenario: the drop log and the random stream use it.
    pub name: String,
    pub at: Place,
    pub only: Only,
    /// It looks at these only, by [`crate::Facts::flow`]: ascending, apart from each other. Empty for all.
    pub flows: Vec<Range<u32>>,
    pub kind: ChannelKind,
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
