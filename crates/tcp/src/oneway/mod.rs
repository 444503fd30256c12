//! ns-2's one-way TCP: a sender and a sink that count packets, as ns-2.35 runs them.
//!
//! No bytes, no three-way handshake, no FIN, no advertised window: data packets carry a number, acknowledgements the
//! highest number received in order. The variants are Tahoe, Reno, NewReno, Sack1 and Vegas, each with the switches
//! that ns-2 has grown ([`crate::stack::OneWay`] names them). They are kept apart from [`crate::stack::Wire`]
//! endpoints because papers rest on their quirks: a window that is a fraction of packets, a timer on ticks, one RTT
//! timed at a time, recovery rules that predate their RFCs.
//!
//! Sans-IO like every endpoint here: time comes in, packets go out. Times are integer nanoseconds where ns-2 has
//! doubles; what ns-2 rounds to ticks is rounded the same way (`rto::ticks`). The tests replay ns-2.35's own traces.
//!
//! Who does what: `sender` is the door, `core` what all variants share (sequence, timers, output), `window` how cwnd
//! moves, `timeout` the retransmission timer's rule; `tahoe`, `reno`, `newreno`, `sack` (with its `board`) and
//! `vegas` are one page a variant; `sink` is the receiver (with its `arrived`).

mod arrived;
mod board;
mod core;
mod newreno;
mod reno;
mod sack;
mod sender;
mod sink;
pub(crate) mod spec;
mod tahoe;
mod timeout;
mod vegas;
mod window;

pub use sender::{Phase, Sender, View};
pub use sink::Sink;

use wire::Time;

/// A packet's number; the first is 0. Signed, as "none yet" is -1.
pub type Number = i64;

/// A data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    pub number: Number,
    /// On the wire.
    pub bytes: u32,
    /// When it was sent; the sink echoes it.
    pub sent: Time,
    /// It stands for the SYN, and brings nothing.
    pub syn: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The highest number up to which everything has arrived; -1 while packet 0 is missing.
    pub cumulative: Number,
    pub sack: SackBlocks,
    /// Send time of the packet that this answers (RFC 7323's rule for which).
    pub echo: Time,
    /// On the wire, SACK blocks included.
    pub bytes: u32,
    /// Nothing but the packet that stands for the SYN has arrived.
    pub syn: bool,
}

/// Up to three runs of packets beyond the cumulative one, the latest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [Run; 3],
    len: u8,
}

/// Packets `left ..< right`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    pub left: Number,
    pub right: Number,
}

impl SackBlocks {
    pub const MOST: usize = 3;

    /// What does not fit is left out.
    pub fn push(&mut self, run: Run) {
        if let Some(place) = self.blocks.get_mut(self.len as usize) {
            *place = run;
            self.len += 1;
        }
    }
    pub fn as_slice(&self) -> &[Run] {
        &self.blocks[..self.len as usize]
    }
}

/// A data packet that leaves, and the truth about why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub data: Data,
    pub why: Why,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Packet 0 where a SYN is modelled; sent again it has the reason of that.
    Syn,
    /// Never sent before.
    New,
    /// DupThresh duplicate acknowledgements.
    FastRetransmit,
    /// An acknowledgement in recovery that advanced, though not to the end.
    PartialAck,
    /// Sack1: a hole in the scoreboard.
    Hole,
    /// Vegas: a duplicate acknowledgement, or one of the first after a retransmission, found the packet overdue by
    /// the fine-grained clock.
    Overdue,
    /// The retransmission timer; the back-off that it leaves, 1, 2, 4 ...
    Timeout { backoff: u32 },
    /// Sent before, and again as the window grows after a timeout (or Tahoe's fast retransmit).
    GoBackN,
}

#[cfg(test)]
mod tests;
