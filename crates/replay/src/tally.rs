//! What a replay found.

use tcp::endpoint::Phase;
use wire::{Span, Time};

/// Where the replayed sender stood as it sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Open,
    Recovery,
    Loss,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Recovery => "recovery",
            State::Loss => "loss",
        }
    }
}

impl From<Phase> for State {
    fn from(phase: Phase) -> State {
        match phase {
            Phase::Open => State::Open,
            Phase::Recovery => State::Recovery,
            Phase::Loss => State::Loss,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub sends: u64,
    pub right: u64,
    /// As many a sender would have right that always sends the next new segment.
    pub null_right: u64,
}

/// How a send differed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It was recorded, and the stack would not have sent it then.
    NotMade,
    /// The stack would have sent it, and it was not recorded then.
    MadeBesides,
    /// Both sent it by a timer, at other times.
    TimerOff,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::NotMade => "not made",
            Kind::MadeBesides => "made besides",
            Kind::TimerOff => "timer off",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    pub kind: Kind,
    /// In the capture's time.
    pub at: Time,
    /// The packet's number; `None` where none was recorded.
    pub packet: Option<u64>,
    /// Of its first byte, from 0.
    pub offset: u64,
    pub payload: u32,
    pub again: bool,
    pub state: State,
    /// Of the stack, then, segments of pipe and cwnd; bytes of ssthresh if it is bounded.
    pub pipe: u32,
    pub cwnd: u32,
    pub ssthresh: Option<u32>,
    /// Recorded less the stack's time, where both sent it by a timer.
    pub off: Option<Span>,
}

/// Why sends could not be judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unusable {
    /// The segments on the board begin or end elsewhere.
    pub other_bounds: u64,
    /// What was acknowledged already left again.
    pub acknowledged: u64,
    /// The capture misses data that was acknowledged.
    pub missing: u64,
}

impl Unusable {
    pub fn sends(&self) -> u64 {
        self.other_bounds + self.acknowledged + self.missing
    }
}

/// Where a transfer was entered that had begun before its capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entered {
    /// Sends of the first round trip, which are not judged.
    pub not_judged: u64,
    /// The most that was out in it, segments, is taken for cwnd.
    pub cwnd: u32,
    /// And for slow start, rather than for ssthresh.
    pub slow_start: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    pub all: Count,
    pub open: Count,
    pub recovery: Count,
    pub loss: Count,
    /// Of all, those that repeat data.
    pub retransmissions: Count,
    /// Sends that waited for the application as far as the capture tells: judged once it had written.
    pub application: u64,
    /// How often segments left that the stack would have held back for a fuller packet: a packet of the sender's buffer ended
    /// there. They are right.
    pub packet_ends: u64,
    /// How often new data left before what is lost, as the pace ended within 0.1 ms of an ACK. It is right.
    pub overtaken: u64,
    /// How often more would have left at an ACK than did, since the host held it back: cwnd was full soon after. What left of
    /// it later is right.
    pub held_back: u64,
    /// More is right if the sender's host paced it, which the stack does not by itself.
    pub paced: bool,
    /// More is right if the buffer of the sender's host held no more data than this, bytes.
    pub buffer: Option<u64>,
    /// More is right if the sender's host waited for so many duplicates, which it remembered of earlier connections.
    pub remembered: Option<u32>,
    pub unusable: Unusable,
    /// Of a transfer that the capture finds under way: how it was entered.
    pub entered: Option<Entered>,
    pub differences: Vec<Difference>,
    /// Of sends that were right, how long after the stack's moment the recorded one left: sorted.
    pub apart: Vec<Span>,
}

impl Replay {
    pub(crate) fn count(&mut self, state: State, again: bool, right: bool, null_right: bool) {
        let by_state = match state {
            State::Open => &mut self.open,
            State::Recovery => &mut self.recovery,
            State::Loss => &mut self.loss,
        };
        let retransmissions = again.then_some(&mut self.retransmissions);
        for count in [Some(&mut self.all), Some(by_state), retransmissions].into_iter().flatten() {
            count.sends += 1;
            count.right += u64::from(right);
            count.null_right += u64::from(null_right);
        }
    }
}
