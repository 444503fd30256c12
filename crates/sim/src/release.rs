//! What let a packet go, as its host knows it.

use crate::rows::Block;
use tcp::endpoint::Why;

/// What let a packet leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// An ACK made room in the congestion window or in the send buffer, or showed a loss.
    Ack,
    /// An ACK or a window update made room in the window that the peer offers.
    Window,
    /// The program answered at once what it read.
    Message,
    /// The program wrote, opened or closed at a time of its own.
    #[default]
    Write,
    /// A timer: retransmission, loss probe, reordering, window probe, keep-alive.
    Timer,
    /// It was its turn at the sender's pace.
    Pace,
    /// Of a bare ACK: at once, because of the segment that came.
    Data,
    /// Of a bare ACK: a timer that had held it back.
    Delayed,
    /// Of a bare ACK: a program read later than the data came, and its reading made room.
    Reader,
    /// Of a bare ACK: a probe or a keep-alive came.
    Probe,
}

/// What a host acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The program writes, or closes.
    Write,
    /// The same, at the moment at which it read what it answers.
    Answer,
    /// The program reads what came before.
    Read,
    /// A segment came; a probe of the window or of silence.
    Arrival { probe: bool },
    /// A timer fired; the only one that may release data is that of pacing; an ACK that it releases was held back.
    Wake { paced: bool, holds_ack: bool },
}

impl Release {
    /// Of a packet that leaves when `event` happens to a sender that `before` had kept from sending more.
    pub fn of(event: Event, before: Block, why: Why) -> Release {
        match why {
            Why::Ack => Release::of_ack(event),
            Why::Timeout { .. } | Why::Probe { .. } | Why::Persist | Why::KeepAlive => Release::Timer,
            Why::Handshake | Why::Rst => match event {
                Event::Arrival { .. } => Release::Message,
                Event::Wake { .. } => Release::Timer,
                Event::Write | Event::Answer | Event::Read => Release::Write,
            },
            Why::Recovery { .. } | Why::LossState => Release::of_data(event, before, Release::Ack),
            Why::New | Why::Fin => Release::of_data(event, before, Release::Message),
        }
    }

    pub fn of_ack(event: Event) -> Release {
        match event {
            Event::Read => Release::Reader,
            Event::Arrival { probe: true } => Release::Probe,
            Event::Wake { holds_ack: true, .. } => Release::Delayed,
            _ => Release::Data,
        }
    }

    /// `unblocked`: what an arrival that found nothing waiting releases.
    fn of_data(event: Event, before: Block, unblocked: Release) -> Release {
        match (event, before) {
            (Event::Wake { paced: true, .. }, _) | (_, Block::Pacing) => Release::Pace,
            (Event::Wake { .. }, _) => Release::Timer,
            (Event::Write, _) => Release::Write,
            (Event::Answer | Event::Read, _) => Release::Message,
            (Event::Arrival { .. }, Block::ReceiveWindow) if unblocked == Release::Message => Release::Window,
            (Event::Arrival { .. }, Block::Application | Block::Closed) => unblocked,
            (Event::Arrival { .. }, _) => Release::Ack,
        }
    }
}
