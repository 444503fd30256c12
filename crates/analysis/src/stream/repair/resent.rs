//! What the sender has sent again, as far as it was seen.

use super::Repair;
use wire::{Span, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct Resent {
    /// Where the last repair ended, and the highest since the repair began.
    pub(super) end: u64,
    pub(super) high: u64,
    /// When it left.
    pub(super) at: Time,
    /// How long after the cumulative ACK that asked for it the last repair in fast recovery came.
    pub(super) answered_in: Span,
    /// After a fast retransmit it sends again what had arrived: Tahoe.
    pub(super) goes_back: bool,
    /// New segments that it has sent since fast recovery began.
    pub(super) inflated: u32,
    /// It went on repairing before.
    pub(super) goes_on: bool,
}

impl Default for Resent {
    fn default() -> Resent {
        Resent {
            end: 0,
            high: 0,
            at: Time::FAR_PAST,
            answered_in: Span::ZERO,
            goes_back: false,
            inflated: 0,
            goes_on: false,
        }
    }
}

impl Repair {
    /// New data among repairs: duplicate ACKs inflate its window (RFC 5681 §3.2 step 4). Tahoe sends none before it has sent
    /// all again.
    pub(super) fn inflates(&self) -> bool {
        self.resent.inflated > 2
    }
}
