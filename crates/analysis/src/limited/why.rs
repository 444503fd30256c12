//! The limits, what each of them rests on, and which one counts where several hold at once.

use serde::{Deserialize, Serialize};

/// What kept a transfer from going faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    Application,
    Start,
    Loss,
    ReceiverWindow,
    Sender,
    Network,
    /// It does not show.
    Open,
}

impl LimitedBy {
    pub const ALL: [LimitedBy; 7] = [
        LimitedBy::Application,
        LimitedBy::Start,
        LimitedBy::Loss,
        LimitedBy::ReceiverWindow,
        LimitedBy::Sender,
        LimitedBy::Network,
        LimitedBy::Open,
    ];
    pub fn name(self) -> &'static str {
        match self {
            LimitedBy::Application => "application",
            LimitedBy::Start => "start",
            LimitedBy::Loss => "loss",
            LimitedBy::ReceiverWindow => "receiver-window",
            LimitedBy::Sender => "sender",
            LimitedBy::Network => "network",
            LimitedBy::Open => "open",
        }
    }
}

/// How well it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sure {
    Open,
    Likely,
    Known,
}

impl Sure {
    pub fn name(self) -> &'static str {
        match self {
            Sure::Open => "open",
            Sure::Likely => "likely",
            Sure::Known => "known",
        }
    }
}

/// A limit in particular.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    Handshake,
    SlowStart,
    /// No loss yet, and the window still grows, slower than slow start.
    Growing,
    NothingToSend,
    /// Nothing to send until the other host's data came.
    NotAsked,
    Nagle,
    /// After the last data: the connection stays open, or is closed.
    Done,
    /// The program at the receiver does not read.
    NothingRead,
    SteadyWindow,
    /// The sender waits for its timer.
    Timer,
    Repairing,
    SlowStartAgain,
    SmallWindow,
    /// The sender holds no more than its buffer takes, or a window of its own that does not grow.
    Buffer,
    Pacing,
    Outage,
    BottleneckFull,
    /// An ACK was awaited for long, and why it took so long does not show.
    LateAck,
    Unknown,
}

impl Why {
    pub fn limit(self) -> LimitedBy {
        match self {
            Why::Handshake | Why::SlowStart | Why::Growing => LimitedBy::Start,
            Why::NothingToSend | Why::NotAsked | Why::Nagle | Why::Done | Why::NothingRead => {
                LimitedBy::Application
            }
            Why::SteadyWindow => LimitedBy::ReceiverWindow,
            Why::Timer | Why::Repairing | Why::SlowStartAgain | Why::SmallWindow => LimitedBy::Loss,
            Why::Buffer | Why::Pacing => LimitedBy::Sender,
            Why::Outage | Why::BottleneckFull => LimitedBy::Network,
            Why::LateAck | Why::Unknown => LimitedBy::Open,
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            Why::Handshake => "handshake",
            Why::SlowStart => "slow-start",
            Why::Growing => "growing",
            Why::NothingToSend => "nothing-to-send",
            Why::NotAsked => "not-asked",
            Why::Nagle => "nagle",
            Why::Done => "done",
            Why::NothingRead => "nothing-read",
            Why::SteadyWindow => "steady-window",
            Why::Timer => "timer",
            Why::Repairing => "repairing",
            Why::SlowStartAgain => "slow-start-again",
            Why::SmallWindow => "small-window",
            Why::Buffer => "buffer",
            Why::Pacing => "pacing",
            Why::Outage => "outage",
            Why::BottleneckFull => "bottleneck-full",
            Why::LateAck => "late-ack",
            Why::Unknown => "unknown",
        }
    }
    /// As it stands in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Why::Handshake => "handshake",
            Why::SlowStart => "first slow start",
            Why::Growing => "the window was still growing",
            Why::NothingToSend => "nothing to send",
            Why::NotAsked => "waiting for the other host's data",
            Why::Nagle => "small segments held back (Nagle)",
            Why::Done => "after the last data",
            Why::NothingRead => "the receiving program did not read",
            Why::SteadyWindow => "the receiver's window was full",
            Why::Timer => "waiting for a timer",
            Why::Repairing => "repairing",
            Why::SlowStartAgain => "slow start after a timeout",
            Why::SmallWindow => "window kept small",
            Why::Buffer => "the sender's own window or buffer was full",
            Why::Pacing => "the sender's pacing",
            Why::Outage => "outage",
            Why::BottleneckFull => "bottleneck full",
            Why::LateAck => "waiting for an ACK",
            Why::Unknown => "cannot tell",
        }
    }
}

/// What a claim rests on, the stronger first: where two overlap the one that stands higher counts. The rows of a flow
/// come before what is read from its rounds, since they say when to the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The SYN, its answer, and the ACK of that.
    Handshake,
    /// Everything sent vanished, or nothing came.
    PathDark,
    /// The path was back, and the sender did not know it yet.
    PathBack,
    /// A timer fired in vain, again and again.
    TimersInVain,
    /// The window was closed.
    WindowClosed,
    /// All data was acknowledged.
    Over,
    /// A silence that began with PSH and nothing in flight.
    Silence,
    /// A silence with little in flight, room in every window, and nothing lost.
    RoomLeft,
    /// A silence with the window full.
    WindowFullGap,
    /// A silence that a timer ended.
    TimerGap,
    /// Round trips longer than the least by a queue's worth.
    Queue,
    /// As much was delivered as when the bottleneck was full.
    PathRate,
    /// From the first lost copy to the ACK that ends the repair.
    Episode,
    /// A silence until an ACK came.
    AckGap,
    /// Data waited for the advertised window, round after round.
    WindowFull,
    /// Data came later than it could have been sent, behind PSH.
    Pushed,
    /// The flight grew each round, before anything was lost.
    Growth,
    /// The flight does not grow, and nothing was lost.
    Plateau,
    /// Data left without an ACK to set it off, in bursts as a pacing sender sends them.
    Paced,
    /// Data left without an ACK to set it off, and not paced.
    Unhurried,
    /// Losses before, no queue, room in the advertised window.
    AfterLoss,
    /// Nothing speaks for any of these.
    Nothing,
}

impl Basis {
    pub const ALL: [Basis; 22] = [
        Basis::Handshake,
        Basis::PathDark,
        Basis::PathBack,
        Basis::TimersInVain,
        Basis::WindowClosed,
        Basis::Over,
        Basis::Silence,
        Basis::RoomLeft,
        Basis::WindowFullGap,
        Basis::TimerGap,
        Basis::Queue,
        Basis::PathRate,
        Basis::Episode,
        Basis::AckGap,
        Basis::WindowFull,
        Basis::Pushed,
        Basis::Growth,
        Basis::Plateau,
        Basis::Paced,
        Basis::Unhurried,
        Basis::AfterLoss,
        Basis::Nothing,
    ];
    /// As it stands in a list of evidence.
    pub fn words(self) -> &'static str {
        match self {
            Basis::Handshake => "the SYN and its answer",
            Basis::PathDark => "everything vanished, or nothing came",
            Basis::PathBack => "the path was back before the sender knew",
            Basis::TimersInVain => "a timer fired in vain, again and again",
            Basis::WindowClosed => "a window of 0 was advertised",
            Basis::Over => "all data was acknowledged",
            Basis::Silence => "nothing in flight, and the last data had PSH",
            Basis::RoomLeft => "a silence with little in flight and nothing lost",
            Basis::WindowFullGap => "a silence with the window full",
            Basis::TimerGap => "a silence that the timer ended",
            Basis::Queue => "round trips longer than the least, by a queue",
            Basis::PathRate => "as fast as when a queue stood at the bottleneck",
            Basis::Episode => "from the first lost copy to the ACK of its repair",
            Basis::AckGap => "a silence that an ACK ended",
            Basis::WindowFull => "data waited for the advertised window",
            Basis::Pushed => "data came late, behind PSH",
            Basis::Growth => "the flight grew, and nothing had been lost",
            Basis::Plateau => "the flight did not grow, and nothing was lost meanwhile",
            Basis::Paced => "data left at an even rate, with no ACK to set it off",
            Basis::Unhurried => "data left with no ACK to set it off and room in every window",
            Basis::AfterLoss => "losses before, no queue, room in the advertised window",
            Basis::Nothing => "nothing speaks for any limit",
        }
    }
}
