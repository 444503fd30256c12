//! A transfer in pieces of about a round trip: what its limits are read from.

use super::FlowId;
use serde::{Deserialize, Serialize};
use wire::{Span, Time};

/// About one round trip of a flow, or a few together where it was long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoundRow {
    pub flow: FlowId,
    pub start: Time,
    pub end: Time,
    /// Payload sent, and sent again; bytes that are known to have arrived (acknowledged or SACKed).
    pub sent_bytes: u64,
    pub resent_bytes: u64,
    pub delivered_bytes: u64,
    /// The largest flight that an ACK met: what the sender had let out before it had to wait.
    pub flight_bytes: u64,
    /// The window that the receiver advertised, smallest and largest; `None` where its scale is not known.
    pub window_min_bytes: Option<u64>,
    pub window_max_bytes: Option<u64>,
    /// Round trips measured in it: how many, the least, and all together.
    pub rtt_n: u32,
    pub rtt_min: Option<Span>,
    pub rtt_sum: Span,
    pub waited: Waited,
    /// The longest train: bytes that arrived after its first, and how long they took.
    pub train_bytes: u64,
    pub train: Span,
    /// The longest time in which nothing arrived; 0 where it was shorter than the gaps within a train.
    pub quiet: Span,
}

/// How long new data waited for what set it off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waited {
    /// An ACK, with the advertised window full until then; or a wider window.
    pub window: Span,
    /// An ACK, with room in the advertised window: a window of the sender's own was full.
    pub ack: Span,
    /// No ACK, and the data before it was a short segment with PSH: there had been nothing more to send.
    pub application: Span,
    /// Neither: paced, or set off by something that does not show.
    pub other: Span,
    /// How many waits there were.
    pub times: u32,
    /// Those that an ACK ended, as its sender sees them: how many, and how long after the ACK the data left, together.
    pub answers: u32,
    pub turn: Span,
}

impl Waited {
    pub fn total(&self) -> Span {
        self.window + self.ack + self.application + self.other
    }
    /// How long it took this host to answer an ACK with data.
    pub fn turn_mean(&self) -> Option<Span> {
        (self.answers > 0).then(|| self.turn / i64::from(self.answers))
    }
}

impl RoundRow {
    pub fn length(&self) -> Span {
        self.end - self.start
    }
    /// Bytes delivered in a second.
    pub fn rate(&self) -> f64 {
        self.delivered_bytes as f64 / self.length().as_secs().max(1e-9)
    }
    pub fn rtt_mean(&self) -> Option<Span> {
        (self.rtt_n > 0).then(|| self.rtt_sum / i64::from(self.rtt_n))
    }
    /// The rate of the train, bytes a second.
    pub fn train_rate(&self) -> Option<f64> {
        (self.train > Span::ZERO).then(|| self.train_bytes as f64 / self.train.as_secs())
    }

    /// Both as one. `self` came first.
    pub(crate) fn with(&self, next: &RoundRow) -> RoundRow {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        let longer = if next.train_bytes > self.train_bytes { next } else { self };
        RoundRow {
            flow: self.flow,
            start: self.start,
            end: next.end,
            sent_bytes: self.sent_bytes + next.sent_bytes,
            resent_bytes: self.resent_bytes + next.resent_bytes,
            delivered_bytes: self.delivered_bytes + next.delivered_bytes,
            flight_bytes: self.flight_bytes.max(next.flight_bytes),
            window_min_bytes: least(self.window_min_bytes, next.window_min_bytes),
            window_max_bytes: self.window_max_bytes.max(next.window_max_bytes),
            rtt_n: self.rtt_n.saturating_add(next.rtt_n),
            rtt_min: self.rtt_min.into_iter().chain(next.rtt_min).min(),
            rtt_sum: self.rtt_sum + next.rtt_sum,
            waited: Waited {
                window: self.waited.window + next.waited.window,
                ack: self.waited.ack + next.waited.ack,
                application: self.waited.application + next.waited.application,
                other: self.waited.other + next.waited.other,
                times: self.waited.times.saturating_add(next.waited.times),
                answers: self.waited.answers.saturating_add(next.waited.answers),
                turn: self.waited.turn + next.waited.turn,
            },
            train_bytes: longer.train_bytes,
            train: longer.train,
            quiet: self.quiet.max(next.quiet),
        }
    }
}
