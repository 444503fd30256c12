//! The limits, what each of them rests on, and which one counts where several hold at once.

use crate::closed_sets;

closed_sets! {
    /// What kept a transfer from going faster.
    #[derive(PartialOrd, Ord)]
    "limited_by" LimitedBy {
        Application = "application", "the application";
        Start = "start", "start";
        Loss = "loss", "loss";
        ReceiverWindow = "receiver-window", "the receiver's window";
        Sender = "sender", "the sender";
        Network = "network", "the network";
        /// It does not show.
        Open = "open", "cannot tell";
    }

    /// How it is known what the path can carry, the best first.
    #[derive(PartialOrd, Ord)]
    "path_rate" How {
        /// A queue stood at the bottleneck: what came out of it then.
        Full = "full", "what came through while a queue stood";
        /// The spacing of packets that the bottleneck let through one behind the other.
        Trains = "trains", "by the spacing of packets";
        /// The largest rate over a round: it can carry as much at least.
        Reached = "reached", "at least, by its best round trip";
    }

    /// A limit in particular.
    #[derive(PartialOrd, Ord)]
    "limit_detail" Why {
        Handshake = "handshake", "handshake";
        SlowStart = "slow-start", "first slow start";
        /// No loss yet, and the window still grows, slower than slow start.
        Growing = "growing", "window still growing";
        NothingToSend = "nothing-to-send", "nothing to send";
        /// Nothing to send until the other host's data came.
        NotAsked = "not-asked", "waiting for the other host's data";
        Nagle = "nagle", "Nagle";
        /// After the last data: the connection stays open, or is closed.
        Done = "done", "after the last data";
        /// The program at the receiver does not read.
        NothingRead = "nothing-read", "nothing read at the receiver";
        SteadyWindow = "steady-window", "full";
        /// The sender waits for its timer.
        Timer = "timer", "waiting for a timer";
        Repairing = "repairing", "repairing";
        SlowStartAgain = "slow-start-again", "slow start after a timeout";
        SmallWindow = "small-window", "window kept small";
        /// The sender holds no more than its buffer takes, or a window of its own that does not grow.
        Buffer = "buffer", "its window or buffer full";
        Pacing = "pacing", "pacing";
        Outage = "outage", "outage";
        /// What was sent was larger than the path takes.
        TooLarge = "too-large", "packets larger than the path takes";
        BottleneckFull = "bottleneck-full", "bottleneck full";
        /// An ACK was awaited for long, and why it took so long does not show.
        LateAck = "late-ack", "waiting for an ACK";
        Unknown = "unknown", "nothing shows";
    }

    /// What a claim rests on, the stronger first: where two overlap the one that stands higher counts. The rows of a flow
    /// come before what is read from its rounds, since they say when to the packet.
    #[derive(PartialOrd, Ord)]
    "limit_basis" Basis {
        /// The sender's own kernel counted what held it (TCP_INFO).
        Kernel = "kernel", "the sender's kernel says so";
        /// The SYN, its answer, and the ACK of that.
        Handshake = "handshake", "the SYN and its answer";
        /// Everything sent vanished, or nothing came.
        PathDark = "path-dark", "everything vanished, or nothing came";
        /// Large packets vanished, repairs too, and smaller ones came through.
        SizesApart = "sizes-apart", "none of the large packets came through, and smaller ones did";
        /// The path was back, and the sender did not know it yet.
        PathBack = "path-back", "the path was back before the sender knew";
        /// A timer fired in vain, again and again.
        TimersInVain = "timers-in-vain", "a timer fired in vain, again and again";
        /// The window was closed.
        WindowClosed = "window-closed", "a window of 0 was advertised";
        /// All data was acknowledged.
        Over = "over", "all data was acknowledged";
        /// A silence that began with PSH and nothing in flight.
        Silence = "silence", "nothing in flight, and the last data had PSH";
        /// A silence with little in flight, room in every window, and nothing lost.
        RoomLeft = "room-left", "a silence with little in flight and nothing lost";
        /// A silence with the window full.
        WindowFullGap = "window-full-gap", "a silence with the window full";
        /// A silence that a timer ended.
        TimerGap = "timer-gap", "a silence that the timer ended";
        /// Round trips longer than the least by a queue's worth.
        Queue = "queue", "round trips longer than the least, by a queue";
        /// As much was delivered as when the bottleneck was full.
        PathRate = "path-rate", "as fast as when a queue stood at the bottleneck";
        /// From the first lost copy to the ACK that ends the repair.
        Episode = "episode", "from the first lost copy to the ACK of its repair";
        /// A silence until an ACK came.
        AckGap = "ack-gap", "a silence that an ACK ended";
        /// Data waited for the advertised window, round after round.
        WindowFull = "window-full", "data waited for the advertised window";
        /// Data came later than it could have been sent, behind PSH.
        Pushed = "pushed", "data came late, behind PSH";
        /// The flight grew each round, before anything was lost.
        Growth = "growth", "the flight grew, and nothing had been lost";
        /// The flight does not grow, and nothing was lost.
        Plateau = "plateau", "the flight did not grow, and nothing was lost meanwhile";
        /// Data left without an ACK to set it off, in bursts as a pacing sender sends them.
        Paced = "paced", "data left at an even rate, with no ACK to set it off";
        /// Data left without an ACK to set it off, and not paced.
        Unhurried = "unhurried", "data left with no ACK to set it off and room in every window";
        /// Losses before, no queue, room in the advertised window.
        AfterLoss = "after-loss", "losses before, no queue, room in the advertised window";
        /// Nothing speaks for any of these.
        Nothing = "nothing", "nothing speaks for any limit";
    }
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
            Why::Outage | Why::TooLarge | Why::BottleneckFull => LimitedBy::Network,
            Why::LateAck | Why::Unknown => LimitedBy::Open,
        }
    }
}
