//! What is told of a flow as a whole.

use super::{AckWay, ByCause, Closed, EcnKind, FlowId, Growth, RecoveryStyle, RtoRule, Vantage};
use serde::{Deserialize, Serialize};
use wire::{Endpoint, Span, Time};

/// A distribution in five figures; seconds. `p50` is an estimate from logarithmic bins 2% wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub n: u64,
    pub min: f64,
    pub mean: f64,
    pub stddev: f64,
    pub max: f64,
}

/// A reset that ended a connection before the sender of this flow had said that its data was complete (FIN).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reset {
    /// The flow's own sender sent it, else its receiver.
    pub by_sender: bool,
    /// Who sent it had closed its own stream (FIN) before, as a program does that has had enough.
    pub closed_before: bool,
    /// When the first passed.
    pub time: Time,
}

impl Reset {
    /// `sender` or `receiver`, of the flow.
    pub fn by(self) -> &'static str {
        if self.by_sender { "sender" } else { "receiver" }
    }
}

/// Explicit congestion notification of a flow (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ecn {
    /// `None` where the handshake was not seen whole.
    pub agreed: Option<EcnKind>,
    /// Some of its data said in its IP header that it may be marked (ECT).
    pub capable: bool,
    /// Data packets that came here with a mark (CE); `None` where data is seen before it meets a router.
    pub marked_packets: Option<u32>,
    /// ACKs with ECE, and data packets with CWR; `None` but for classic ECN, where these bits say so.
    pub echoes: Option<u32>,
    pub reductions: Option<u32>,
    /// Those of them behind an ECE, and not within a repair: the window was reduced for a mark, not for a loss.
    pub reductions_by_marks: Option<u32>,
}

/// Data packets from some size on vanished while smaller ones came through, for as long as that is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TooLarge {
    /// The smallest payload that vanished, and the largest that came through meanwhile.
    pub lost_from_bytes: u32,
    pub through_to_bytes: u32,
    /// Copies that vanished, repairs among them.
    pub lost: u32,
    /// When the first of them was sent, and the first behind the last of them that came through, if any did.
    pub since: Time,
    pub until: Option<Time>,
}

impl TooLarge {
    /// Whether it lasted at `time`, of a flow that ends at `over`.
    pub fn holds(&self, time: Time, over: Time) -> bool {
        self.meets(time, Some(time), over)
    }
    /// Whether it lasted at some time from `start` to `end`, or on.
    pub fn meets(&self, start: Time, end: Option<Time>, over: Time) -> bool {
        start <= self.until.unwrap_or(over) && end.is_none_or(|end| end >= self.since)
    }
}

/// Things about a flow that limit the answer, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// No SYN seen: windows cannot be scaled, and of the options only what passes shows.
    pub mid_stream: bool,
    /// Packets of one direction only.
    pub one_way: bool,
    /// TCP options cut off by the snap length, packets of either direction: ACKs' options tell of the data.
    pub options_cut: u64,
    /// Acknowledged but never seen: bytes missing from the capture.
    pub missing_bytes: u64,
    /// ACKs of data that the capture must lack: none without data is in it, and those with data came too late for an answer.
    pub acks_missing: u64,
    /// Ranges of the stream that must have been sent, and were neither seen nor acknowledged.
    pub unfilled_gaps: u64,
    /// Segments that were followed no more: too many were outstanding in too many pieces.
    pub not_followed: u64,
    /// Packets of more than one MSS (TSO, GSO, GRO, LRO), and the largest payload.
    pub super_packets: u64,
    pub largest_payload: u32,
    /// The capture holds these packets twice.
    pub captured_twice: u64,
    pub out_of_capture_order: u64,
    /// Doubled by the network.
    pub duplicated: u64,
    pub reordered: u64,
    pub bad_checksums: u64,
    pub partial_checksums: u64,
}

/// Everything known about one data direction; the row of the `flows` table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowRow {
    pub flow: FlowId,
    /// Why there is nothing else: the analysis of the connection failed. The row then stands for both directions.
    pub fault: Option<Box<str>>,
    pub sender: Endpoint,
    pub receiver: Endpoint,
    pub vantage: Vantage,
    pub start: Time,
    /// Its last packet; or, where its sender waited for the other host to the end of the observation, that end.
    pub end: Time,
    /// To the reset, to the last packet if both hosts closed the connection, or to the end of the capture.
    pub observed_until: Time,
    /// First and last data packet.
    pub first_data: Option<Time>,
    pub last_data: Option<Time>,
    /// The last packet that told its sender of an arrival: an ACK of more, a SACK, or a duplicate ACK; in no table.
    pub last_answer: Option<Time>,
    /// When its sender closed: its first FIN; in no table.
    pub fin: Option<Time>,
    /// Distinct payload bytes sent, and acknowledged.
    pub bytes: u64,
    pub acked_bytes: u64,
    /// Data packets, and MSS-sized segments in them; retransmissions included.
    pub packets: u64,
    pub segments: u64,
    pub acks: u64,
    pub duplicate_acks: u64,
    pub mss: u32,
    /// Agreed on; `None` where neither the handshake nor the packets tell.
    pub sack_permitted: Option<bool>,
    pub timestamps: Option<bool>,
    pub window_scale: Option<u8>,
    pub ecn: Ecn,
    pub closed: Closed,
    /// What cut it off.
    pub reset: Option<Reset>,
    pub syn_retransmissions: u32,
    /// First SYN to SYN-ACK and on to the ACK, as seen here.
    pub handshake: Option<Span>,
    /// SYNs and SYN-ACKs of both hosts that were sent again.
    pub handshake_resent: u32,
    pub retransmitted_segments: u64,
    pub retransmitted_packets: u64,
    pub retransmitted_bytes: u64,
    pub by_cause: ByCause,
    pub needless: u64,
    pub needless_unknown: u64,
    /// ACKs that told its sender of a needless copy (RFC 2883); in no table.
    pub dsacks: u64,
    pub most_copies_of_one_segment: u32,
    pub probes_new_data: u64,
    pub probes_repeat: u64,
    pub keep_alives: u64,
    pub window_probes: u64,
    /// Those of them after which the receiver's host sent nothing, until the next or to the end.
    pub window_probes_unanswered: u64,
    pub zero_windows: u64,
    pub zero_window_time: Span,
    pub lost_copies: Option<u64>,
    pub lost_segments: Option<u64>,
    pub bursts: u32,
    pub mean_burst: f64,
    pub largest_burst: u32,
    pub episodes: u32,
    pub timeouts: u64,
    pub max_backoff: u32,
    pub cost: Option<Span>,
    pub idle_total: Span,
    /// The part of it in which there was something to send: see [`IdleCause::holds_data_back`](super::IdleCause).
    pub idle_blocked: Span,
    pub idle_longest: Span,
    pub idle_gaps: u32,
    pub rtt_ack: Summary,
    pub rtt_timestamps: Summary,
    pub flight_max_bytes: u64,
    /// Where no SYN told the scale: the least with which the window holds what was in flight, if that filled the window most of
    /// the time. The window is known where enough flights tell; else it may be what held the sender back.
    pub window_scale_fits: Option<u8>,
    /// `None` where the scale is not known.
    pub window_max_bytes: Option<u64>,
    pub window_min_bytes: Option<u64>,
    pub timers: Timers,
    pub inference: Inference,
    pub ack_way: AckWay,
    /// Its sender counts its packets in the IP identification, and none is missing here: nothing was lost on its way here.
    pub none_missing: bool,
    /// Large packets alone vanished.
    pub too_large: Option<TooLarge>,
    pub limits: Limits,
}

impl FlowRow {
    /// What got there, as far as it is known from here: with both captures what was acknowledged. What was sent alone
    /// makes a rate above the path's.
    pub fn delivered_bytes(&self) -> u64 {
        delivered(self.vantage, self.limits.one_way, self.bytes, self.acked_bytes)
    }
    /// The advertised window, whose scale is not known, may have held the sender back.
    pub fn window_may_hold(&self) -> bool {
        self.window_scale_fits.is_some() && self.window_max_bytes.is_none()
    }
    /// This host called, again and again, and nobody answered: neither with a SYN nor with a reset.
    pub fn is_unanswered(&self) -> bool {
        let silent = self.first_data.is_none() && self.acks == 0 && self.handshake.is_none();
        silent && self.syn_retransmissions > 0 && self.closed == Closed::Open
    }
    /// The time that it lost: the larger of what its episodes cost and of its idle time while data waited, and its
    /// handshake if that had to be sent again, or how long it called in vain. Both directions of a connection wait for
    /// its handshake.
    pub fn lost(&self) -> Span {
        if self.is_unanswered() {
            return self.end - self.start;
        }
        let handshake = self.handshake.filter(|_| self.handshake_resent > 0);
        self.cost.unwrap_or(Span::ZERO).max(self.idle_blocked) + handshake.unwrap_or(Span::ZERO)
    }
}

/// [`FlowRow::delivered_bytes`] of a row that was taken apart.
pub fn delivered(vantage: Vantage, one_way: bool, bytes: u64, acked_bytes: u64) -> u64 {
    match vantage {
        Vantage::Both if !one_way => acked_bytes,
        _ => bytes,
    }
}

/// The state of the retransmission timer as far as it can be rebuilt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timers {
    /// Timeouts that could be compared with the rules.
    pub compared: u32,
    /// The rule whose RTO lies nearest to what was observed, and its mean relative error.
    pub best: Option<RtoRule>,
    pub error: Option<f64>,
    /// At the end of the flow, under the best rule (under Linux's if nothing was compared).
    pub srtt: Option<Span>,
    pub rttvar: Option<Span>,
    pub rto: Option<Span>,
}

/// A figure that was inferred, with a confidence in 0..1; `None` means "cannot tell".
pub type Inferred<T> = Option<(T, f32)>;

/// What the sender seems to be made of, each with a confidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inference {
    pub initial_window_segments: Inferred<u32>,
    /// Window after a loss over window before it.
    pub decrease_factor: Inferred<f64>,
    pub growth: Inferred<Growth>,
    pub recovery: Inferred<RecoveryStyle>,
    pub tail_loss_probes: Inferred<bool>,
    pub f_rto: Inferred<bool>,
}
