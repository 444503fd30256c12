//! The result rows. One row is one fact with its unit in its name; what cannot be known is `None`.
//!
//! Times are absolute (`Time`, nanoseconds since the capture's epoch); who prints them makes them relative.

mod ack_way;
mod flow;
mod path;
mod round;
mod sets;
mod wait;

pub use crate::cause::{ByCause, Cause};
pub use crate::closed_set::ClosedSet;
pub use crate::idle_cause::IdleCause;
pub use ack_way::AckWay;
pub use flow::{Ecn, FlowRow, Inference, Inferred, Limits, Reset, Summary, Timers, TooLarge, delivered};
pub use path::PathRow;
pub use round::{RoundRow, Waited};
use serde::{Deserialize, Serialize};
pub use sets::{
    Closed, EcnKind, EpisodeKind, Evidence, Growth, Limit, Needless, PacketClass, Proof, RecoveryStyle,
    RtoRule, RttKind, Trigger, Vantage,
};
pub use wait::{Release, Role, Wait, WaitRow};
use wire::{Span, Time};

/// A data direction of a connection. Connections count from 0 in the order of their first packet; a direction's
/// id is twice that, plus 1 for the direction towards the initiator.
pub type FlowId = u32;

/// A maximal run of lost copies in transmission order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BurstRow {
    pub flow: FlowId,
    /// When the first and the last lost copy were sent (at the receiver's side: when the gap was seen).
    pub start: Time,
    pub last: Time,
    /// When the first copy behind it that arrived was sent: by then something came through again. `None` if none did,
    /// or if an ACK set the repair off, and so said it.
    pub back: Option<Time>,
    /// MSS-sized copies lost; `None` where copies cannot be counted from here.
    pub lost_copies: Option<u32>,
    /// Distinct MSS-sized segments among them.
    pub lost_segments: u32,
    pub lost_bytes: u64,
    /// ACKs lost while the burst lasted; known with both captures only.
    pub lost_acks: Option<u32>,
    pub trigger: Trigger,
    pub first_repair: Option<Time>,
    /// From the last data packet before the first repair to that repair.
    pub silence: Option<Span>,
    /// First lost and last lost sequence number, relative to the first of the stream.
    pub seq_start: u64,
    pub seq_end: u64,
    /// The episode that repaired it, counting from 0 within the flow.
    pub episode: Option<u32>,
    /// The last RTT sample before `start`: near its minimum, no queue was about to overflow. `None` where data arrives: from
    /// there it does not show.
    pub rtt_before: Option<Span>,
    /// For how long the retransmission timer had run when the first repair left, in microseconds, as long as there is room
    /// for: since it was last restarted, as far as can be told (RFC 6298 §5.3); in no table.
    pub timer_ran_us: u32,
    /// Where data arrives; in no table.
    pub neighbours: Option<Box<Neighbours>>,
    /// The sender's own kernel said what set the repair off (`rexmit record`); in no table.
    #[serde(skip)]
    pub told: bool,
}

/// Data pauses for less than this on any path.
const SILENCE: Span = Span::from_millis(50);

impl BurstRow {
    /// Copies that were lost; segments, where it is not known how many copies of each.
    pub fn lost(&self) -> u32 {
        self.lost_copies.unwrap_or(self.lost_segments)
    }
    /// The packets around the gap, if no data had arrived for [`SILENCE`] before the packet that showed it.
    pub fn behind_silence(&self) -> Option<&Neighbours> {
        self.neighbours.as_deref().filter(|n| self.start - n.before >= SILENCE)
    }
}

/// Around the packet that showed a gap: when the data before it arrived, and the next behind it, if any did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours {
    pub before: Time,
    pub after: Option<Time>,
}

/// Bursts whose repair overlaps, from the first lost copy to the ACK that ends the repair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRow {
    pub flow: FlowId,
    /// Counts from 0 within the flow.
    pub number: u32,
    pub start: Time,
    pub first_repair: Time,
    /// `None`: the capture or the connection ended first.
    pub end: Option<Time>,
    pub kind: EpisodeKind,
    /// An ACK or a timer: the event that set off the repair of its first burst.
    pub trigger: Trigger,
    pub bursts: u32,
    pub lost_copies: Option<u32>,
    pub lost_segments: u32,
    /// ACKs of this flow lost between `start` and `first_repair`; both captures only.
    pub lost_acks: Option<u32>,
    pub retransmissions: u32,
    pub needless: u32,
    pub timeouts: u32,
    pub probes: u32,
    /// The largest number of timeouts in a row without progress, less one.
    pub max_backoff: u32,
    /// Bytes newly delivered from `start` to `end`.
    pub delivered_bytes: u64,
    /// Delivery rate before it, the R of the cost; `None` where there is no such window.
    pub rate_before_bps: Option<f64>,
    pub cost: Option<Span>,
    /// Bytes in flight (sent, not acknowledged, not SACKed) when the first repair left.
    pub flight_bytes: u64,
    /// Silence of the first burst.
    pub silence: Option<Span>,
    /// Where data arrives: how long none had before the last that came before the first repair; in no table.
    pub silence_before: Span,
    /// When its last repair left; in no table.
    pub last_repair: Time,
    /// Bytes of new data sent after the burst that holds the first lost copy and before the first repair.
    pub sent_after_loss_bytes: u64,
    /// What held the sender back when it fell silent.
    pub limit: Limit,
    /// The sender's own kernel said what sent each of its repairs; in no table.
    #[serde(skip)]
    pub told: bool,
}

impl EpisodeRow {
    /// As of a burst: see [`BurstRow::lost`].
    pub fn lost(&self) -> u32 {
        self.lost_copies.unwrap_or(self.lost_segments)
    }
    /// See [`EpisodeKind::is_tail`].
    pub fn is_tail(&self) -> bool {
        self.kind.is_tail(self.limit)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RetransmissionRow {
    pub flow: FlowId,
    pub packet: u64,
    pub time: Time,
    pub seq_start: u64,
    pub seq_end: u64,
    /// MSS-sized segments it counts for.
    pub segments: u32,
    pub cause: Cause,
    /// Where what was seen does not decide it: the cause that fits nearly as well, `unknown` for new data.
    pub other_candidate: Option<Cause>,
    pub evidence: Evidence,
    pub trigger: Trigger,
    /// How often the timer had fired before, without progress; for `timeout`.
    pub backoff: u32,
    /// The how-maniest copy of this data it is; the first retransmission is 2.
    pub copy: u32,
    /// Since the copy before it.
    pub since_previous: Option<Span>,
    pub needless: Needless,
    /// Whether this copy itself was lost; `None` if unknown.
    pub lost: Option<bool>,
    pub episode: Option<u32>,
}

/// A tail-loss probe, or what must be one: sent by a timer, not by an ACK.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeRow {
    pub flow: FlowId,
    pub packet: u64,
    pub time: Time,
    pub new_data: bool,
    /// This sender has been seen to probe before, and its packets are seen to leave; else it is likely.
    pub known: bool,
    /// Since the last packet or ACK of the flow.
    pub after: Span,
    pub seq_start: u64,
    pub seq_end: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdleRow {
    pub flow: FlowId,
    pub start: Time,
    pub end: Time,
    /// Length beyond the threshold.
    pub excess: Span,
    pub cause: IdleCause,
    /// Bytes in flight while it lasted.
    pub flight_bytes: u64,
    /// The sender's own kernel said what ended it, or that nothing waited to be sent; in no table.
    #[serde(skip)]
    pub told: bool,
}

/// One interval (default 1 s) of one flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntervalRow {
    pub flow: FlowId,
    pub start: Time,
    /// Payload bytes sent (seen), retransmissions included; new data among them; bytes newly acknowledged.
    pub sent_bytes: u64,
    pub new_bytes: u64,
    pub acked_bytes: u64,
    pub retransmitted_segments: u32,
    pub duplicate_acks: u32,
    pub flight_max_bytes: u64,
    /// The peer's advertised window, scaled, largest and smallest in the interval; `None` where its scale is not
    /// known.
    pub window_max_bytes: Option<u64>,
    pub window_min_bytes: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RttRow {
    pub flow: FlowId,
    pub time: Time,
    pub seq: u64,
    pub rtt: Span,
    pub kind: RttKind,
}

/// One packet of a flow, for figures and the `packets` table; written only when asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PacketRow {
    /// The data direction it belongs to: its own for data, the opposite one for a pure ACK.
    pub flow: FlowId,
    pub packet: u64,
    pub time: Time,
    /// True: travels with the data; false: comes back (an ACK).
    pub data: bool,
    pub flags: u8,
    /// Relative to the first sequence number of the stream (SYN = 0, first byte = 1).
    pub seq: u64,
    pub len: u32,
    pub ack: Option<u64>,
    /// Scaled; `None` where the scale is not known.
    pub window_bytes: Option<u64>,
    pub sack: [Option<(u64, u64)>; 4],
    pub dsack: bool,
    pub ts_val: Option<u32>,
    pub ts_ecr: Option<u32>,
    /// Set if the packet is a retransmission; figures colour by it.
    pub cause: Option<Cause>,
    /// Bytes in flight after it, SACKed bytes not counted.
    pub flight_bytes: u64,
    /// 0: new data or ACK; 1: retransmission; 2: reordered; 3: duplicated by network or capture;
    /// 4: keep-alive; 5: zero-window probe.
    pub class: PacketClass,
    /// The event that released the packet (see [`Release`]); data only.
    pub release: Option<Release>,
}
