//! What a stack is made of, as plain data: what a stack file says, what a sender and a receiver are built from.
//!
//! Each choice names a strategy; none names a system. What no strategy here does is a new strategy with a name.

pub use crate::congestion::WindowRuleKind;
pub use crate::oneway::spec::{OneWay, OneWayVariant};
use crate::own::OwnRules;
use wire::Span;

/// A named bundle of sender and receiver behaviour.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    pub name: String,
    pub about: String,
    /// Where it is known from: the stack as a whole (""), and each section of its file.
    pub sources: Vec<(&'static str, Vec<String>)>,
    /// The sections of which something has no source and is what seems likely.
    pub assumed: Vec<&'static str>,
    /// The congestion control of a Linux kernel that may stand for it; `None` if none may.
    pub kernel: Option<String>,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A real endpoint, which would interoperate.
    Wire(Box<Wire>),
    /// ns-2's agents: data one way, numbers count packets, no SYN.
    OneWay(Box<OneWay>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Wire {
    pub options: Options,
    pub detect: Detect,
    pub recovery: Recovery,
    pub congestion: Congestion,
    pub rto: RtoRule,
    pub undo: Undo,
    pub send: Send,
    pub receive: Receive,
    /// What the sections whose rule is `Own` name.
    pub own: OwnRules,
}

/// What the SYN offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Largest payload of a segment without options, bytes; the path's MTU may lower it.
    pub mss_bytes: u16,
    /// The SYN says the MSS (RFC 9293 §3.7.1). Without, the peer takes 536 bytes.
    pub announces_mss: bool,
    /// `None` offers no scaling; the shift that is needed for the largest receive buffer otherwise.
    pub window_scale: bool,
    /// In place of the shift that is needed for the largest receive buffer.
    pub window_shift: Option<u8>,
    pub sack: bool,
    /// RFC 7323.
    pub timestamps: bool,
    /// The tick of the timestamp clock.
    pub timestamp_tick: Span,
    /// RFC 3168.
    pub ecn: EcnUse,
}

params::words! {
    /// Whether congestion may be marked instead of dropped (RFC 3168).
    #[derive(Default)]
    pub enum EcnUse {
        #[default]
        Off = "off", "never";
        Passive = "passive", "where the peer asks for it (Linux: tcp_ecn 2)";
        On = "on", "asks for it, too (tcp_ecn 1)";
    }
}

// ---- which segments are lost? ----

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detect {
    pub rule: DetectRule,
    pub dupthresh: u32,
    /// Linux: DupThresh that the host remembers of earlier connections to the peer (tcp_metrics), where SACK tells of losses.
    pub remembered: Option<u32>,
    /// RFC 3042: new segments on the first two duplicate ACKs.
    pub limited_transmit: bool,
    /// RFC 8985 §7; needs SACK, and a rule that goes by time.
    pub tail_loss_probe: bool,
    /// A probe waits so much longer where one segment is out, whose ACK may be delayed (TLP.max_ack_delay).
    pub max_ack_delay: Span,
    /// The timers of probes and of reordering wait so much longer.
    pub timer_slack: Span,
    /// After what wait a probe leaves, and which count.
    pub probe: ProbeRule,
    /// RFC 5827, with a quarter of a round trip for reordering, where detection goes by time.
    pub early_retransmit: bool,
}

params::words! {
    /// After what wait a tail-loss probe leaves, and which probes count.
    #[derive(Default)]
    pub enum ProbeRule {
        #[default]
        Rfc8985 = "rfc8985", "two round trips, and max_ack_delay where one segment is out; one probe at a time (RFC 8985, section 7)";
        Draft = "draft", "two round trips and 10 ms at least, one and a half and max_ack_delay where one segment is out; probes of              new data do not count; none while cwnd has room for data that waits (draft-dukkipati-tcpm-tcp-loss-probe-01;              Linux 3.10 to 4.13)";
    }
}

impl Detect {
    /// Without probes.
    pub const fn new(rule: DetectRule, dupthresh: u32, limited_transmit: bool) -> Detect {
        Detect {
            rule,
            dupthresh,
            remembered: None,
            limited_transmit,
            tail_loss_probe: false,
            max_ack_delay: Span::from_millis(200),
            timer_slack: Span::ZERO,
            probe: ProbeRule::Rfc8985,
            early_retransmit: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectRule {
    /// RFC 5681 §3.2: DupThresh duplicate ACKs.
    DupAcks,
    /// RFC 6675: SACK scoreboard, IsLost. Falls back to duplicate ACKs where the peer does not do SACK.
    Rfc6675,
    /// Linux before RACK, FACK off: like RFC 6675, counted in segments, and the first hole is lost on entry.
    LinuxSack,
    /// Linux before RACK as it shipped, FACK on: DupThresh segments between a hole and the highest SACKed byte
    /// condemn it, SACKed or not (Mathis and Mahdavi 1996), so one SACK behind a burst begins recovery.
    LinuxFack,
    /// OS X 10.7 (xnu-1699): SACK holes are forgotten at a timeout, DupThresh 2 behind one, its counter restarts.
    Xnu1699,
    /// RACK, RFC 8985 §6, as Linux has it: by time. Falls back to duplicate ACKs where the peer does not do SACK.
    Rack,
    /// FACK begins a repair; during it RACK, without timer, finds what else is lost (Linux 4.4 to 4.14).
    FackRack,
    /// FACK; a repair is lost once an original is SACKed that left after it (Linux before 4.4).
    FackOrder,
    /// Of somebody's own ([`crate::own`]).
    Own,
}

// ---- how much may be sent while repairing? ----

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovery {
    pub rule: RecoveryRule,
    /// What follows a timeout.
    pub after_timeout: AfterTimeout,
    /// What is believed to be in the network is counted in this.
    pub pipe: PipeUnit,
    /// When nothing is known lost and nothing new can be sent, what is not SACKed goes again: NextSeg (3) and (4) of
    /// RFC 6675 §4.
    pub rescue: bool,
    /// What was SACKed is still known after a timeout.
    pub keeps_sacks: bool,
    /// Which repair, besides the timer's own, sets the timer anew.
    pub restarts_timer: RestartsTimer,
    /// A timeout within a recovery reduces ssthresh once more.
    pub timeout_reduces_again: bool,
    /// How much proportional rate reduction sends once less than ssthresh is in flight.
    pub bound: ReductionBound,
}

impl Recovery {
    /// As RFC 6675 and RFC 6298 have the rest.
    pub const fn new(rule: RecoveryRule, after_timeout: AfterTimeout) -> Recovery {
        Recovery {
            rule,
            after_timeout,
            pipe: PipeUnit::Bytes,
            rescue: true,
            keeps_sacks: true,
            restarts_timer: RestartsTimer::None,
            timeout_reduces_again: true,
            bound: ReductionBound::SafeAck,
        }
    }
}

params::words! {
    /// What the pipe is counted in.
    pub enum PipeUnit {
        Bytes = "bytes", "bytes (RFC 6675, section 4)";
        Segments = "segments", "segments, whatever they hold (Linux)";
    }
}

params::words! {
    /// Which repair sets the timer anew.
    pub enum RestartsTimer {
        None = "none", "none: ACKs do (RFC 6298, section 5)";
        Oldest = "oldest", "the oldest segment, whenever it leaves again (Linux)";
        First = "first", "the first of a recovery (BSD's fast retransmit)";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryRule {
    /// Tahoe: fast retransmit, then slow start from one segment.
    None,
    /// RFC 5681 §3.2: inflation, over at the first ACK that advances.
    Reno,
    /// RFC 6582: partial ACKs retransmit and deflate.
    NewReno { impatient: bool },
    /// RFC 6675: pipe.
    Pipe,
    /// RFC 6937 as revised (RFC 9937): proportional rate reduction.
    Prr { of: PrrOf },
    /// Linux before 3.2: cwnd down by one for every second ACK.
    RateHalving,
    /// ns-3.20's TcpTahoe, TcpReno and TcpNewReno, to the byte.
    Ns320 { variant: Ns320 },
    /// Of somebody's own ([`crate::own`]).
    Own,
}

params::words! {
    /// What proportional rate reduction takes for the data in flight as recovery begins.
    pub enum PrrOf {
        Flight = "flight", "what is in flight (RecoverFS of RFC 9937, section 6.1)";
        Cwnd = "cwnd", "cwnd (Linux)";
    }
}

params::words! {
    /// How much proportional rate reduction sends once less than ssthresh is in flight.
    #[derive(Default)]
    pub enum ReductionBound {
        #[default]
        SafeAck = "safe-ack", "what is delivered, and a segment more where data is acknowledged and nothing more is found lost (RFC 9937)";
        Repairs = "repairs", "what this ACK delivers; in slow start where it acknowledges a repair and none is found lost (Linux 4.3 to 5.19)";
        SlowStart = "slow-start", "in slow start, always (PRR-SSRB of RFC 6937; Linux 3.2 to 4.2)";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ns320 {
    Tahoe,
    Reno,
    NewReno,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterTimeout {
    /// Sends everything again from SND.UNA on, as the window grows (BSD, ns-3).
    GoBackN,
    /// Marks what is not SACKed lost and repairs it in slow start (Linux, RFC 6675 §5.1).
    MarkLost,
    /// The same, and no new data until all that was sent is acknowledged (Linux 2.2).
    RepairsOnly,
    /// Paper `wireless`: fast recovery instead of slow start after the timeout's retransmission.
    FastRecovery,
}

// ---- how large is the window otherwise? ----

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    pub rule: WindowRuleKind,
    pub initial_window: InitialWindow,
    /// `None` is unbounded (RFC 5681 §3.1), bytes.
    pub initial_ssthresh_bytes: Option<u32>,
    pub slow_start: SlowStartKind,
    /// RFC 5681 §4.1: back to the initial window after an RTO of silence.
    pub restart_after_idle: bool,
    /// Grows only while the window is what limits (RFC 9293's advice, Linux; ns-3.20 grows always).
    pub grows_only_when_limited: bool,
    pub limited_by: LimitedBy,
}

params::words! {
    /// When is it the window that limits?
    #[derive(Default)]
    pub enum LimitedBy {
        #[default]
        Now = "now", "as an ACK comes, cwnd has no room for a segment";
        Window = "window", "cwnd had no room at some time in the last window, or is, in slow start, less than twice what was out \
             (Linux since 3.16)";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    Segments(u32),
    /// RFC 3390: min(4 SMSS, max(2 SMSS, 4380 bytes)).
    Rfc3390,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowStartKind {
    /// RFC 5681 with RFC 3465: cwnd += min(bytes acknowledged, limit * SMSS) at each ACK; limit 0 is no limit.
    Bytes { limit: u32 },
    /// One segment at each ACK, however much it acknowledges (before RFC 3465).
    PerAck,
    /// RFC 9406: like `Bytes`, and conservative once the RTT grows.
    HyStartPlusPlus { limit: u32 },
}

// ---- when does the timer fire? ----

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RtoRule {
    pub rule: RtoKind,
    pub initial: Span,
    pub min: Span,
    pub max: Span,
    /// The clock's grain, G of RFC 6298; times are measured and the timer set in it (0: exact).
    pub granularity: Span,
    /// Added to every time-out (xnu: 200 ms).
    pub slop: Span,
    /// The longer a wait, the coarser the moments at which it may end, in steps of the grain (Linux since 4.8).
    pub wheel: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoKind {
    Rfc6298,
    /// Linux 2.4 and later: mdev_max over an RTT, effective minimum about SRTT + 200 ms, back-off cleared at a sample.
    Linux,
    /// The same in microseconds, of the segments' own times rather than of timestamps, and of SACKed ones too; timers run in
    /// the clock's grain (Linux since 4.x).
    LinuxMicroseconds,
    /// Linux 2.2 (paper `rto`): the back-off survives while retransmissions are outstanding.
    Linux22,
    /// The paper's cure: cleared when the segment that earned it is acknowledged.
    Linux22Cured,
    /// ns-3.20's RttMeanDeviation.
    Ns320,
    /// BSD's integers on a slow timer's ticks.
    Bsd,
}

/// Signs that a repair was needless, and the way back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Undo {
    /// RFC 5682.
    pub f_rto: bool,
    /// RFC 3522 with the response of RFC 4015 (needs timestamps).
    pub eifel: bool,
    /// RFC 2883, RFC 3708: all retransmissions were reported as duplicates.
    pub dsack: bool,
    /// xnu-1699: an ACK within a full SRTT of the first timeout proves it spurious, timestamps or not.
    pub bad_retransmit_window: bool,
    /// How the signs are read, and what is taken back.
    pub rule: UndoRule,
}

params::words! {
    /// How the signs are read, and what is taken back.
    #[derive(Default)]
    pub enum UndoRule {
        #[default]
        Rfc = "rfc", "RFC 5682, RFC 3522 and RFC 4015";
        Linux = "linux", "for detection by time (rack): originals that arrive at any time of F-RTO, timestamps at each ACK that \
             advances; cwnd and ssthresh are raised to what they were, and the window rule keeps what it learned (Linux since \
             3.10)";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Send {
    pub nagle: bool,
    /// Most that the application may have written and not yet had acknowledged, bytes; `None` is no limit.
    pub buffer_bytes: Option<u64>,
    /// Most new segments sent at one ACK; `None` is no limit.
    pub max_burst_segments: Option<u32>,
    /// Data leaves in small bursts, at the pace of cwnd in an SRTT; a window rule that has a rate of its own paces anyway.
    pub pacing: bool,
    /// Segments leave in packets of several, which wait for a millisecond to be full.
    pub offload: bool,
    /// First keep-alive after this silence, then every `keepalive_interval`.
    pub keepalive_idle: Option<Span>,
    pub keepalive_interval: Span,
    pub keepalive_probes: u32,
    /// Timeouts in a row before the connection is given up; 0 never gives up.
    pub max_retries: u32,
    /// What `max_retries` stands for.
    pub retries: Retries,
    /// With few segments out, and not in the first slow start, the first timeouts in a row do not back off.
    pub thin_linear_timeouts: bool,
    /// What asks whether a closed window has opened.
    pub window_probe: WindowProbe,
}

params::words! {
    /// What the most retries before a connection is given up stand for.
    #[derive(Default)]
    pub enum Retries {
        #[default]
        Count = "count", "so many timeouts in a row";
        Time = "time", "as long as so many would take from 200 ms on, doubled up to `rto.max` (Linux: tcp_retries2)";
    }
}

params::words! {
    /// What asks whether a closed window has opened.
    #[derive(Default)]
    pub enum WindowProbe {
        #[default]
        Byte = "byte", "one byte beyond the window (RFC 9293, section 3.8.6.1)";
        Old = "old", "an empty segment whose number was used before (Linux)";
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receive {
    pub delayed_ack: DelayedAck,
    /// RFC 2883.
    pub dsack: bool,
    /// A FIN behind a hole is in a SACK block: it has a sequence number (RFC 9293 §3.4).
    pub sack_fin: bool,
    pub window: WindowPolicy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment at once.
    Off,
    /// Every `every`-th full segment, or `timeout` after the first not acknowledged; gaps at once (RFC 5681 §4.2).
    Every { every: u32, timeout: Span },
    /// Like `Every`, but the first segment of a connection at once (ns-3.20).
    Ns320 { every: u32, timeout: Span },
    /// Like `Every { 2 }`, at once for the first `quick` segments and after gaps; the time-out adapts
    /// between `min` and `max` to the spacing of arrivals (Linux). Behind a hole, with SACK, ACKs from the fourth on wait for
    /// a twentieth of the round trip, `compress` at most. `pushed`: once all is read, which is so
    /// long after it was last read at the earliest, a full segment with PSH is acknowledged, as a short one is. `growing`: what
    /// makes the window grow is acknowledged at once.
    Quick { quick: u32, min: Span, max: Span, compress: Option<Span>, pushed: Option<Span>, growing: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowPolicy {
    Fixed {
        buffer_bytes: u32,
    },
    /// Dynamic right-sizing (Fisk and Feng 2001): from `initial` up to `max`, twice what was read in a round trip;
    /// up to `untuned`, two segments for each that arrives (Linux; equal to `initial` does without).
    AutoTuned {
        initial_bytes: u32,
        untuned_bytes: u32,
        max_bytes: u32,
        /// And twice as much more as reading grew by since the last round trip, so that slow start is not held up;
        /// room comes by two segments for each that arrives, and what reading leaves in the queue is taken off (Linux
        /// since 6.16).
        ahead: bool,
    },
    /// As Linux 2.6.32 has it, in memory.
    Linux26(Linux26Window),
}

/// Linux 2.6.32's receive buffer: memory, of which three quarters are for payload (tcp_adv_win_scale 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linux26Window {
    /// At the beginning, and at most (tcp_rmem[1] and [2]).
    pub buffer_bytes: u32,
    pub max_bytes: u32,
    /// What a segment takes of it, whatever it carries: the card's buffer and the kernel's header (truesize).
    pub segment_memory_bytes: u32,
    /// Reading makes the buffer larger (tcp_moderate_rcvbuf).
    pub moderated: bool,
}
