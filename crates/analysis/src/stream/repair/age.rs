//! How old is the sender's TCP? What Linux does after a timeout changed with 3.10, which probes for lost tails too.

use super::Repair;
use crate::infer::LEAST_MSS;
use wire::Span;

/// The first write of a transfer may be a short one, and be acknowledged alone.
const FIRST_WRITE: u64 = 536;
/// RFC 3390 allows four segments; one more is for the ACK of a short first write, and one is that write.
const OLD_WINDOW_SEGMENTS: u64 = 6;
/// Until so many are acknowledged a window shows what the initial one was: later ACKs may have been heard unseen.
const OPENING_SEGMENTS: u64 = 4;

/// A sender since RFC 6928 (2013) began with more than RFC 3390 allows, or has sent a tail-loss probe (RFC 8985 §7).
/// Linux has believed since then at once that a timeout was needless: data sent once before it and acknowledged
/// after it is enough, or a DSACK for the timer's copy. RFC 5682 waits for one more ACK.
#[derive(Clone, Debug, Default)]
pub(super) struct Age {
    recent: bool,
    /// While no more than this is acknowledged it has its initial window; 0 if it began before the capture.
    opening_end: u64,
    /// Its first flight was a single segment: its SYN may have been lost (RFC 5681 §3.1), and its age does not show.
    alone: bool,
    /// It has SACK, and its timestamps count milliseconds, as Linux's do since 4.13 (TCP_TS_HZ); before, jiffies.
    in_ms: bool,
}

/// What Linux offers with its SYN: 20 segments since 3.10, since 4.20 as many as 16 bits hold. Before, it was 4 or 10.
const OFFERED_SEGMENTS: u32 = 20;
/// Timestamps in each segment (RFC 7323 §3.2), which a SYN-ACK reckons with already.
const TIMESTAMPS: u32 = 12;

impl Age {
    pub(super) fn recent(&self) -> bool {
        self.recent || self.alone && self.in_ms
    }
    /// No more has been acknowledged than a short first write.
    pub(super) fn in_opening(&self, una: u64) -> bool {
        una < self.opening_end
    }
    pub(super) fn on_handshake(&mut self, una: u64) {
        self.opening_end = una + FIRST_WRITE;
    }
    /// No ACK let a repair go, and it was not the first segment, which a timer repeats: a reordering timer (RFC 8985 §6.2)
    /// or pacing did.
    pub(super) fn note_timed_repair(&mut self) {
        self.recent = true;
    }
    pub(super) fn note_probe(&mut self) {
        self.recent = true;
    }

    /// New data up to `end` leaves.
    #[inline]
    pub(super) fn note_new_data(&mut self, una: u64, end: u64, mss: u32) {
        let acked = una.saturating_sub(self.opening_end.saturating_sub(FIRST_WRITE));
        if self.opening_end > 0 && acked == 0 {
            self.alone = end - una <= u64::from(mss);
        }
        if self.opening_end > 0 && acked <= OPENING_SEGMENTS * u64::from(mss) {
            // Slow start adds to the window no more than is acknowledged (RFC 5681 §3.1, RFC 3465).
            self.recent |= end > una + acked + OLD_WINDOW_SEGMENTS * u64::from(mss);
        }
    }
}

impl Repair {
    /// Its SYN offers a window of so many bytes, and segments of that size.
    pub fn note_syn(&mut self, window: u32, mss: u32) {
        let whole = |m: u32| window == OFFERED_SEGMENTS * m || window == u32::from(u16::MAX) / m * m;
        self.age.recent |= mss > LEAST_MSS && (whole(mss) || whole(mss - TIMESTAMPS));
    }

    /// How long a tick of its timestamps takes, and whether it has SACK.
    #[inline]
    pub fn note_stamps(&mut self, tick: Span, sack: bool) {
        self.age.in_ms = sack && tick == Span::from_millis(1);
    }
    pub fn is_recent(&self) -> bool {
        self.age.recent()
    }

    /// New data up to `end` leaves: in the initial window it tells how old the sender is.
    #[inline]
    pub fn note_opening(&mut self, end: u64, mss: u32) {
        self.age.note_new_data(self.una, end, mss);
    }
}
