//! The closed sets of the answer: each value once, with the name that JSON, tables and the command line have and the
//! words that pages and figures have. A value that is added here is in all of them; the compiler names the `match`es
//! that have to decide about it.

use crate::closed_sets;
use serde::{Deserialize, Serialize};

closed_sets! {
    /// Where the packets were seen.
    #[derive(Default)]
    "vantage" Vantage {
        Sender = "sender", "at the sender";
        Receiver = "receiver", "at the receiver";
        Middle = "middle", "on the way";
        /// Both captures, joined.
        Both = "both", "at both ends";
        #[default]
        Unknown = "unknown", "where does not show";
    }

    /// What a handshake agreed on (RFC 3168 §6.1.1, RFC 9768 §3.1).
    "ecn" EcnKind {
        Off = "off", "no ECN";
        Classic = "classic", "ECN";
        Accurate = "accurate", "accurate ECN";
    }

    /// What a retransmission in recovery rested on.
    #[derive(Default)]
    "evidence" Evidence {
        Dupack = "dupack", "duplicate ACKs";
        Sack = "sack", "SACK";
        Time = "time", "time";
        #[default]
        None = "none", "nothing";
    }

    /// How it is known that a retransmission was needless (the data had arrived already).
    "needless_proof" Proof {
        /// RFC 2883.
        Dsack = "dsack", "DSACK";
        /// The acknowledgment echoes a timestamp from before the retransmission (RFC 3522).
        Timestamps = "timestamps", "timestamps";
        /// The acknowledgment came sooner after it than a round trip takes.
        EarlyAck = "early-ack", "an ACK that came too early";
        /// The receiver's side saw the data twice.
        Seen = "seen", "the data arrived twice";
    }

    /// What set off the first repair of a burst.
    #[derive(Default)]
    "trigger" Trigger {
        Ack = "ack", "an ACK";
        TimerRto = "timer-rto", "a timeout";
        TimerProbe = "timer-probe", "a tail-loss probe";
        #[default]
        Unrepaired = "unrepaired", "nothing before the end";
    }

    /// How an episode went as a whole.
    #[derive(Default)]
    "episode_kind" EpisodeKind {
        /// Its first burst was repaired on an ACK: *without time lag* in paper `interruption`.
        Ack = "ack", "repaired on an ACK";
        /// On a timer: *with time lag*.
        TimerRto = "timer-rto", "repaired after a timeout";
        TimerProbe = "timer-probe", "repaired after a tail-loss probe";
        /// One segment per timeout: at least two timeouts with progress between and nothing newly lost.
        Intermittent = "intermittent", "repaired one segment per timeout";
        /// Nothing was lost.
        Needless = "needless", "repaired needlessly";
        #[default]
        Unrepaired = "unrepaired", "not repaired before the end";
    }

    /// What keeps a sender from sending more.
    #[derive(Default)]
    "limit" Limit {
        ReceiveWindow = "receive-window", "the receiver's window";
        /// A window of the sender's own: congestion window or send buffer.
        SenderWindow = "sender-window", "the sender's window";
        Application = "application", "the application";
        #[default]
        Unknown = "unknown", "unknown";
    }

    /// What a round trip was measured by.
    "rtt_kind" RttKind {
        /// From ACKs of data sent once (Karn's rule).
        Ack = "ack", "ACKs";
        /// From echoed timestamps (RFC 7323 §4).
        Timestamps = "timestamps", "timestamps";
    }

    /// What a packet is among the others of its direction.
    #[derive(Default)]
    "packet_class" PacketClass {
        #[default]
        Ordinary = "ordinary", "ordinary";
        Retransmission = "retransmission", "retransmission";
        Reordered = "reordered", "reordered";
        Duplicate = "duplicate", "duplicate";
        KeepAlive = "keep-alive", "keep-alive";
        ZeroWindowProbe = "zero-window-probe", "zero-window probe";
    }

    /// How a connection ended.
    #[derive(Default)]
    "closed" Closed {
        Fin = "fin", "closed";
        HalfFin = "half-fin", "closed by one side";
        Reset = "reset", "reset";
        #[default]
        Open = "open", "still open";
    }

    /// A rule by which a sender may compute its retransmission timeout.
    "rto_rule" RtoRule {
        Rfc6298 = "rfc6298", "RFC 6298";
        Linux = "linux", "Linux";
        Linux22 = "linux-2.2", "Linux 2.2";
        Bsd = "bsd", "BSD";
    }

    /// How the window grows between losses.
    "growth" Growth {
        /// About one SMSS a round trip (RFC 5681 §3.1).
        Linear = "linear", "linear";
        /// Concave, then convex (RFC 9438).
        Cubic = "cubic", "CUBIC";
        /// Held constant or by a model of the path (BBR, Vegas, a limit).
        Flat = "flat", "flat";
    }

    /// How several losses of one window are repaired.
    "recovery_style" RecoveryStyle {
        /// Slow start from the hole after every loss (Tahoe).
        GoBackN = "go-back-n", "go-back-N";
        /// One hole a round trip, on duplicate ACKs (NewReno, RFC 6582).
        NewReno = "new-reno", "NewReno";
        /// Several holes a round trip, by SACK (RFC 6675, RFC 8985).
        Sack = "sack", "SACK";
        /// One segment a timeout.
        OnePerTimeout = "one-per-timeout", "one segment a timeout";
    }
}

impl Vantage {
    /// What the sender sends has come some way, or not come at all; what it hears has some way to go.
    pub fn is_remote(self) -> bool {
        matches!(self, Vantage::Receiver | Vantage::Middle)
    }
}

impl EpisodeKind {
    /// Whether about one segment was repaired a timeout, not that two timeouts fell into one repair.
    pub fn one_per_timeout(self, timeouts: u32, lost_segments: u32) -> bool {
        self == EpisodeKind::Intermittent && timeouts >= 3 && timeouts.saturating_mul(2) >= lost_segments
    }
    /// Whether the end of what the application had was lost: a timer had to repair it because nothing came behind it.
    /// `limit` held the sender back when it fell silent.
    pub fn is_tail(self, limit: Limit) -> bool {
        let by_timer =
            matches!(self, EpisodeKind::TimerRto | EpisodeKind::TimerProbe | EpisodeKind::Intermittent);
        by_timer && limit == Limit::Application
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needless {
    Yes(Proof),
    No,
    #[default]
    Unknown,
}
