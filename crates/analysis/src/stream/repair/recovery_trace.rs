//! What the capture has shown of the current repair (fast recovery or loss state), and of how this sender repairs
//! losses.

use super::SenderModel;
use wire::{Span, Time};

#[derive(Clone, Copy, Debug)]
pub(super) struct RecoveryTrace {
    /// End of the last retransmission, and of the highest since the repair began.
    pub(super) end: u64,
    pub(super) high: u64,
    /// When the last retransmission left.
    pub(super) at: Time,
    /// Time from the cumulative ACK that triggered the last repair in fast recovery to that repair.
    pub(super) answered_in: Span,
    /// The sender goes back N after a fast retransmit, as Tahoe does: it resends data that had arrived.
    pub(super) go_back_n: bool,
    /// New segments sent since fast recovery began.
    pub(super) new_in_recovery: u32,
    /// It went on retransmitting after an earlier timeout that ACKs had shown to be spurious.
    pub(super) ignored_undo: bool,
}

impl Default for RecoveryTrace {
    fn default() -> RecoveryTrace {
        RecoveryTrace {
            end: 0,
            high: 0,
            at: Time::FAR_PAST,
            answered_in: Span::ZERO,
            go_back_n: false,
            new_in_recovery: 0,
            ignored_undo: false,
        }
    }
}

impl SenderModel {
    /// It sends new data during fast recovery: duplicate ACKs inflate its window (RFC 5681 §3.2 step 4). Tahoe sends none
    /// before it has resent everything.
    pub(super) fn sends_new_in_recovery(&self) -> bool {
        self.trace.new_in_recovery > 2
    }
}
