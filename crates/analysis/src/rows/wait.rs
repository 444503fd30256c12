//! What the next byte of a conversation was waiting for.

use super::FlowId;
use crate::closed_sets;
use serde::{Deserialize, Serialize};
use wire::{Span, Time};

closed_sets! {
    /// The event that released a data packet.
    #[derive(Default)]
    "release" Release {
        /// Room in a window of the sender's own (congestion window, send buffer).
        Ack = "ack", "an ACK";
        /// Room in the receive window.
        Window = "window", "room in the receive window";
        /// Data of the other host: a request, or an answer.
        Message = "message", "a message of the other host";
        /// The program wrote it then.
        Write = "write", "a write of the program";
        /// A retransmission timer or a probe's.
        Timer = "timer", "a timer";
        /// The sender spaces its packets itself.
        Pace = "pace", "pacing";
        #[default]
        Unknown = "unknown", "unknown";
    }

    /// The two hosts of a conversation.
    #[derive(Default, PartialOrd, Ord)]
    "role" Role {
        /// It opened the connection; where no handshake was seen, the host of the first packet.
        #[default]
        Client = "client", "the client";
        Server = "server", "the server";
    }

    /// What a conversation waits for at a moment, for one of its two hosts.
    #[derive(Default)]
    "wait" Wait {
        Handshake = "handshake", "the handshake";
        /// All that was written is under way, or its ACK is.
        Path = "path", "packets under way";
        /// The program of this host has written nothing.
        Program = "program", "the program";
        /// Data fills the receive window.
        Window = "window", "the receive window";
        /// The receive window is closed.
        Closed = "closed-window", "a closed receive window";
        /// Data fills a window of the sender's own, or a repair is under way.
        Ack = "ack", "an ACK";
        /// A small segment waits for the ACK of the one before it (RFC 896).
        Small = "small-segment", "an ACK, with a small segment held back";
        Timer = "timer", "a timer";
        Pace = "pace", "pacing";
        Unknown = "unknown", "unknown";
        /// Nothing is owed: no more data follows.
        #[default]
        Nothing = "nothing", "nothing";
    }
}

impl Role {
    /// 0: the client; 1: the server.
    pub fn of(side: usize) -> Role {
        if side == 0 { Role::Client } else { Role::Server }
    }
}

/// For how long a conversation waited for one thing in a stretch of about a round trip, or in one pause. The rows of a
/// conversation with the same beginning are as long together as their stretch, and the stretches follow each other
/// without gaps from its first packet to its last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaitRow {
    /// The flow of the client's data; of the server's where the client sent none.
    pub flow: FlowId,
    /// Of the stretch.
    pub start: Time,
    pub end: Time,
    /// The host whose data waited, or whose program the conversation waited for.
    pub host: Role,
    pub waits_for: Wait,
    pub time: Span,
    /// New payload bytes that this host sent in the stretch, and messages with which it answered the other; 0 in all of
    /// a stretch's rows of one host but the first.
    pub bytes: u64,
    pub turns: u32,
}
