//! The result rows. One row is one fact with its unit in its name; what cannot be known is `None`.
//!
//! Times are absolute (`Time`, nanoseconds since the capture's epoch); who prints them makes them relative.

mod flow;

pub use flow::{
    Closed, FlowRow, Growth, Inference, Inferred, Limits, RecoveryStyle, Reset, RtoRule, Summary, Timers,
    delivered,
};
use serde::{Deserialize, Serialize};
use wire::{Span, Time};

/// A data direction of a connection. Connections count from 0 in the order of their first packet; a direction's
/// id is twice that, plus 1 for the direction towards the initiator.
pub type FlowId = u32;

/// Where the packets were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vantage {
    Sender,
    Receiver,
    Middle,
    /// Both captures, joined.
    Both,
    #[default]
    Unknown,
}

/// Why a segment was sent again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// In fast recovery (RFC 5681 §3.2, RFC 6675, RFC 8985).
    Recovery,
    /// The retransmission timer's own retransmission (RFC 6298 §5.4).
    Timeout,
    /// Slow-start retransmission after a timeout, until all that was in flight then is acknowledged.
    LossState,
    /// Tail-loss probe that repeats data (RFC 8985 §7.3).
    Probe,
    /// Zero-window probe (RFC 9293 §3.8.6.1).
    Persist,
    /// SYN or SYN-ACK.
    Handshake,
    #[default]
    Unknown,
}

impl Cause {
    pub const ALL: [Cause; 7] = [
        Cause::Recovery,
        Cause::Timeout,
        Cause::LossState,
        Cause::Probe,
        Cause::Persist,
        Cause::Handshake,
        Cause::Unknown,
    ];
    pub fn name(self) -> &'static str {
        match self {
            Cause::Recovery => "recovery",
            Cause::Timeout => "timeout",
            Cause::LossState => "loss-state",
            Cause::Probe => "probe",
            Cause::Persist => "persist",
            Cause::Handshake => "handshake",
            Cause::Unknown => "unknown",
        }
    }
}

/// What a retransmission in recovery rested on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    Dupack,
    Sack,
    Time,
    #[default]
    None,
}

/// How it is known that a retransmission was needless (the data had arrived already).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// RFC 2883.
    Dsack,
    /// The acknowledgment echoes a timestamp from before the retransmission (RFC 3522).
    Timestamps,
    /// The acknowledgment came sooner after it than a round trip takes.
    EarlyAck,
    /// The receiver's side saw the data twice.
    Seen,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needless {
    Yes(Proof),
    No,
    #[default]
    Unknown,
}

/// What set off the first repair of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    Ack,
    TimerRto,
    TimerProbe,
    #[default]
    Unrepaired,
}

impl Trigger {
    pub fn name(self) -> &'static str {
        match self {
            Trigger::Ack => "ack",
            Trigger::TimerRto => "timer-rto",
            Trigger::TimerProbe => "timer-probe",
            Trigger::Unrepaired => "unrepaired",
        }
    }
}

/// How an episode went as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EpisodeKind {
    /// Its first burst was repaired on an ACK: *without time lag* in paper `interruption`.
    Ack,
    /// On a timer: *with time lag*.
    TimerRto,
    TimerProbe,
    /// One segment per timeout: at least two timeouts with progress between and nothing newly lost.
    Intermittent,
    /// Nothing was lost.
    Needless,
    #[default]
    Unrepaired,
}

impl EpisodeKind {
    pub fn name(self) -> &'static str {
        match self {
            EpisodeKind::Ack => "ack",
            EpisodeKind::TimerRto => "timer-rto",
            EpisodeKind::TimerProbe => "timer-probe",
            EpisodeKind::Intermittent => "intermittent",
            EpisodeKind::Needless => "needless",
            EpisodeKind::Unrepaired => "unrepaired",
        }
    }
}

/// Why the sender sat idle; in order of precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdleCause {
    Handshake,
    ZeroWindow,
    Timeout,
    TimeoutBackoff,
    ReceiveWindow,
    /// A small segment waited for the ACK of the one before it (RFC 896).
    Nagle,
    /// There was nothing to send until the other host's data came: a request, or an answer.
    Peer,
    AckClock,
    Application,
    #[default]
    Unknown,
}

impl IdleCause {
    pub fn name(self) -> &'static str {
        match self {
            IdleCause::Handshake => "handshake",
            IdleCause::ZeroWindow => "zero-window",
            IdleCause::Timeout => "timeout",
            IdleCause::TimeoutBackoff => "timeout-backoff",
            IdleCause::ReceiveWindow => "receive-window",
            IdleCause::Nagle => "nagle",
            IdleCause::Peer => "peer",
            IdleCause::AckClock => "ack-clock",
            IdleCause::Application => "application",
            IdleCause::Unknown => "unknown",
        }
    }
}

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
    /// The last RTT sample before `start`: near its minimum, no queue was about to overflow.
    pub rtt_before: Option<Span>,
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
    /// New data sent between the first lost copy's burst and the first repair, bytes.
    pub sent_after_loss_bytes: u64,
    /// What held the sender back when it fell silent.
    pub limit: Limit,
}

/// What keeps a sender from sending more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    ReceiveWindow,
    /// A window of the sender's own: congestion window or send buffer.
    SenderWindow,
    Application,
    #[default]
    Unknown,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RttKind {
    /// From ACKs of data sent once (Karn's rule).
    Ack,
    /// From echoed timestamps (RFC 7323 §4).
    Timestamps,
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
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacketClass {
    #[default]
    Ordinary,
    Retransmission,
    Reordered,
    Duplicate,
    KeepAlive,
    ZeroWindowProbe,
}
