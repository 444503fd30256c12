//! The closed sets of the answer: each value once, with the name that JSON, tables and the command line have and the
//! words that pages and figures have. A value that is added here is in all of them; the compiler names the `match`es
//! that have to decide about it.

use serde::{Deserialize, Serialize};

/// One of a closed set of values.
pub trait ClosedSet: Copy + Sized + 'static {
    /// What the set is called in documents and in Python.
    const SET: &'static str;
    /// Every value, in the order in which tables and figures list them.
    const ALL: &'static [Self];
    /// As it stands in JSON and tables.
    fn name(self) -> &'static str;
    /// As it stands in a sentence or a legend.
    fn in_words(self) -> &'static str;
}

/// Declares closed sets: `Variant = "name", "in words";`.
#[macro_export]
macro_rules! closed_sets {
    ($(
        $(#[$meta:meta])*
        $set:literal $enum:ident { $( $(#[$about:meta])* $variant:ident = $name:literal, $words:literal; )* }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ::serde::Serialize, ::serde::Deserialize)]
        pub enum $enum { $( $(#[$about])* #[serde(rename = $name)] $variant ),* }

        impl $enum {
            pub const ALL: &[$enum] = &[$($enum::$variant),*];
            /// As it stands in JSON and tables.
            pub const fn name(self) -> &'static str {
                match self { $($enum::$variant => $name),* }
            }
            /// As it stands in a sentence or a legend.
            pub const fn in_words(self) -> &'static str {
                match self { $($enum::$variant => $words),* }
            }
        }
        impl $crate::rows::ClosedSet for $enum {
            const SET: &'static str = $set;
            const ALL: &'static [$enum] = $enum::ALL;
            fn name(self) -> &'static str {
                $enum::name(self)
            }
            fn in_words(self) -> &'static str {
                $enum::in_words(self)
            }
        }
    )*};
}

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

    /// Why a segment was sent again.
    #[derive(Default)]
    "cause" Cause {
        /// In fast recovery (RFC 5681 §3.2, RFC 6675, RFC 8985).
        Recovery = "recovery", "fast recovery";
        /// The retransmission timer's own retransmission (RFC 6298 §5.4).
        Timeout = "timeout", "timeout";
        /// Slow-start retransmission after a timeout, until all that was in flight then is acknowledged.
        LossState = "loss-state", "slow start after a timeout";
        /// Tail-loss probe that repeats data (RFC 8985 §7.3).
        Probe = "probe", "tail-loss probe";
        /// Zero-window probe (RFC 9293 §3.8.6.1).
        Persist = "persist", "zero-window probe";
        /// SYN or SYN-ACK.
        Handshake = "handshake", "handshake";
        #[default]
        Unknown = "unknown", "unknown";
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

    /// Why the sender sat idle; in order of precedence.
    #[derive(Default)]
    "idle_cause" IdleCause {
        Handshake = "handshake", "in the handshake";
        ZeroWindow = "zero-window", "the receiver's window closed";
        Timeout = "timeout", "waiting for a timer";
        TimeoutBackoff = "timeout-backoff", "waiting for a backed-off timer";
        ReceiveWindow = "receive-window", "the receiver's window used up";
        /// A small segment waited for the ACK of the one before it (RFC 896).
        Nagle = "nagle", "small segments held back (Nagle)";
        /// There was nothing to send until the other host's data came: a request, or an answer.
        Peer = "peer", "waiting for the other host's data";
        AckClock = "ack-clock", "waiting for ACKs";
        Application = "application", "nothing to send";
        #[default]
        Unknown = "unknown", "for no visible reason";
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

/// A count of segments for each cause, in the order of [`Cause::ALL`].
pub type ByCause = [u64; Cause::ALL.len()];

impl Vantage {
    /// What the sender sends has come some way, or not come at all; what it hears has some way to go.
    pub fn is_away(self) -> bool {
        matches!(self, Vantage::Receiver | Vantage::Middle)
    }
}

impl EpisodeKind {
    /// Whether about one segment was repaired a timeout, not that two timeouts fell into one repair.
    pub fn one_per_timeout(self, timeouts: u32, lost_segments: u32) -> bool {
        self == EpisodeKind::Intermittent && timeouts >= 3 && timeouts.saturating_mul(2) >= lost_segments
    }
}

impl IdleCause {
    /// Whether data waited meanwhile: a window, a timer or an ACK held it back. A gap without a known cause counts
    /// where something was in flight.
    pub fn holds_data_back(self, flight_bytes: u64) -> bool {
        match self {
            IdleCause::ZeroWindow
            | IdleCause::Timeout
            | IdleCause::TimeoutBackoff
            | IdleCause::ReceiveWindow
            | IdleCause::AckClock => true,
            IdleCause::Unknown => flight_bytes > 0,
            IdleCause::Handshake | IdleCause::Nagle | IdleCause::Peer | IdleCause::Application => false,
        }
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
