//! The words of the answer, as they stand in JSON and tables.

use crate::json::write::Put;
use analysis::rows::*;

/// A value of a closed set, by its name.
pub trait Name {
    fn name(&self) -> &'static str;
}

macro_rules! names {
    ($($t:ident { $($variant:ident = $name:literal),* $(,)? })*) => {$(
        impl Name for $t {
            fn name(&self) -> &'static str {
                match self { $($t::$variant => $name),* }
            }
        }
        impl Put for $t {
            fn put(&self, out: &mut Vec<u8>) {
                match self { $($t::$variant => out.extend_from_slice(concat!('"', $name, '"').as_bytes())),* }
            }
        }
    )*};
}

names! {
    Vantage { Sender = "sender", Receiver = "receiver", Middle = "middle", Both = "both", Unknown = "unknown" }
    Cause {
        Recovery = "recovery", Timeout = "timeout", LossState = "loss-state", Probe = "probe",
        Persist = "persist", Handshake = "handshake", Unknown = "unknown",
    }
    Evidence { Dupack = "dupack", Sack = "sack", Time = "time", None = "none" }
    Proof { Dsack = "dsack", Timestamps = "timestamps", EarlyAck = "early-ack", Seen = "seen" }
    Trigger { Ack = "ack", TimerRto = "timer-rto", TimerProbe = "timer-probe", Unrepaired = "unrepaired" }
    EpisodeKind {
        Ack = "ack", TimerRto = "timer-rto", TimerProbe = "timer-probe", Intermittent = "intermittent",
        Needless = "needless", Unrepaired = "unrepaired",
    }
    IdleCause {
        Handshake = "handshake", ZeroWindow = "zero-window", Timeout = "timeout",
        TimeoutBackoff = "timeout-backoff", ReceiveWindow = "receive-window", Nagle = "nagle",
        Peer = "peer", AckClock = "ack-clock", Application = "application", Unknown = "unknown",
    }
    Limit {
        ReceiveWindow = "receive-window", SenderWindow = "sender-window", Application = "application",
        Unknown = "unknown",
    }
    RttKind { Ack = "ack", Timestamps = "timestamps" }
    PacketClass {
        Ordinary = "ordinary", Retransmission = "retransmission", Reordered = "reordered",
        Duplicate = "duplicate", KeepAlive = "keep-alive", ZeroWindowProbe = "zero-window-probe",
    }
    Closed { Fin = "fin", HalfFin = "half-fin", Reset = "reset", Open = "open" }
    RtoRule { Rfc6298 = "rfc6298", Linux = "linux", Linux22 = "linux-2.2", Bsd = "bsd" }
    Growth { Linear = "linear", Cubic = "cubic", Flat = "flat" }
    RecoveryStyle {
        GoBackN = "go-back-n", NewReno = "new-reno", Sack = "sack", OnePerTimeout = "one-per-timeout",
    }
}

/// Needless: yes, no, or null for unknown.
pub fn needless(n: Needless) -> Option<bool> {
    match n {
        Needless::Yes(_) => Some(true),
        Needless::No => Some(false),
        Needless::Unknown => None,
    }
}
/// What proves that it was.
pub fn proof(n: Needless) -> Option<Proof> {
    match n {
        Needless::Yes(proof) => Some(proof),
        Needless::No | Needless::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_rows_serialise_to() {
        fn same(v: impl Name + serde::Serialize) {
            assert_eq!(serde_json::to_value(&v).unwrap(), v.name());
        }
        Cause::ALL.into_iter().for_each(same);
        Cause::ALL.into_iter().for_each(|c| assert_eq!(c.name(), Name::name(&c)));
        [Vantage::Sender, Vantage::Receiver, Vantage::Middle, Vantage::Both].into_iter().for_each(same);
        [Evidence::Dupack, Evidence::Sack, Evidence::Time, Evidence::None].into_iter().for_each(same);
        [Proof::Dsack, Proof::Timestamps, Proof::EarlyAck, Proof::Seen].into_iter().for_each(same);
        [Trigger::Ack, Trigger::TimerRto, Trigger::TimerProbe].into_iter().for_each(same);
        [EpisodeKind::Intermittent, EpisodeKind::TimerRto, EpisodeKind::Needless].into_iter().for_each(same);
        [IdleCause::ZeroWindow, IdleCause::TimeoutBackoff, IdleCause::AckClock].into_iter().for_each(same);
        [Limit::ReceiveWindow, Limit::SenderWindow, Limit::Application].into_iter().for_each(same);
        [PacketClass::KeepAlive, PacketClass::ZeroWindowProbe].into_iter().for_each(same);
        [Closed::Fin, Closed::HalfFin, Closed::Reset, Closed::Open].into_iter().for_each(same);
        [RtoRule::Rfc6298, RtoRule::Linux, RtoRule::Linux22, RtoRule::Bsd].into_iter().for_each(same);
        [RecoveryStyle::GoBackN, RecoveryStyle::NewReno, RecoveryStyle::OnePerTimeout]
            .into_iter()
            .for_each(same);
        [Growth::Linear, Growth::Cubic, Growth::Flat].into_iter().for_each(same);
        [RttKind::Ack, RttKind::Timestamps].into_iter().for_each(same);
    }
}
