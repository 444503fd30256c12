//! What all flows from one host to another delivered together, in bins of time.

use serde::{Deserialize, Serialize};
use wire::{Host, Span, Time};

/// One bin of one direction between two hosts. Bins in which nothing was delivered, sent or lost have no row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathRow {
    pub from: Host,
    pub to: Host,
    pub start: Time,
    pub width: Span,
    /// Payload sent (retransmissions included), retransmitted, and known to have arrived. A flow's counts are spread over each of its round trips.
    pub sent_bytes: u64,
    pub resent_bytes: u64,
    pub delivered_bytes: u64,
    /// Copies lost, by when they were sent.
    pub lost_copies: u64,
    /// Round trips: the least, and how many there were with their sum.
    pub rtt_min: Option<Span>,
    pub rtt_sum: Span,
    pub rtt_n: u64,
}
