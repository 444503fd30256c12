//! The window that the other host advertises.

use wire::{Span, Time};

/// What any ACK is compared with comes last, beside what else ACKs touch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Window {
    /// Its scale is known: the handshake was seen.
    pub known: bool,
    pub max: u64,
    pub min: u64,
    /// What it was before an ACK changed it last, and when that was.
    pub before: u64,
    pub changed: Time,
    pub zero_since: Option<Time>,
    /// When it was last probed while it was closed.
    pub probed: Time,
    /// When it was last opened again.
    pub reopened: Time,
    pub zeros: u64,
    pub zero_time: Span,
    /// Where data arrives: up to where the receiver takes it, as far as its sender had heard; and as far as it had when the
    /// data before this left.
    pub edge: u64,
    pub edge_before: u64,
    /// The peer's advertised window, bytes; scaled only where its scale is known.
    pub now: u64,
}

impl Default for Window {
    fn default() -> Window {
        Window {
            now: u64::MAX,
            known: false,
            max: 0,
            min: u64::MAX,
            before: u64::MAX,
            changed: Time::FAR_PAST,
            zero_since: None,
            probed: Time::FAR_PAST,
            reopened: Time::FAR_PAST,
            zeros: 0,
            zero_time: Span::ZERO,
            edge: 0,
            edge_before: 0,
        }
    }
}

impl Window {
    /// It is closed, and what is to be sent waits: it was probed.
    pub fn is_closed_to_data(&self) -> bool {
        self.zero_since.is_some_and(|since| self.probed >= since)
    }
    /// Where data arrives: what came up to `next` had taken all the room that its sender knew of, but for less than `room`.
    pub fn was_full(&self, next: u64, room: u64) -> bool {
        self.known && self.edge_before > 0 && next + room > self.edge_before
    }
    /// What is advertised, where its scale is known and one was seen.
    pub fn told(&self) -> Option<u64> {
        (self.known && self.now != u64::MAX).then_some(self.now)
    }
}
