//! Whether the sender's TCP is from before or after 2013 (RFC 6928; Linux 3.10), when the reaction to spurious timeouts
//! changed and tail-loss probes came.

use super::SenderModel;
use crate::infer::LEAST_MSS;
use wire::Span;

/// The first write of a transfer may be short, and be acknowledged by itself.
const FIRST_WRITE: u64 = 536;
/// RFC 3390 allows at most four segments. One more is for a short first write, and one for what the ACK of that write
/// adds to cwnd.
const OLD_WINDOW_SEGMENTS: u64 = 6;
/// A flight shows the initial window only until this many segments are acknowledged; after that the sender may have
/// received ACKs that the capture missed.
const INITIAL_WINDOW_SHOWS_SEGMENTS: u64 = 4;

/// A sender since RFC 6928 (2013) began with more than RFC 3390 allows, or has sent a tail-loss probe (RFC 8985 §7).
/// Linux has believed since then at once that a timeout was needless: data sent once before it and acknowledged
/// after it is enough, or a DSACK for the timer's copy. RFC 5682 waits for one more ACK.
#[derive(Clone, Debug, Default)]
pub(super) struct StackEra {
    recent: bool,
    /// The offset behind a short first write; 0 if the stream began before the capture.
    first_write_end: u64,
    /// Its first flight was a single segment: its SYN may have been lost (RFC 5681 §3.1), so the initial window shows nothing.
    first_flight_is_one_segment: bool,
    /// It has SACK, and its timestamps count milliseconds, as Linux's do since 4.13 (TCP_TS_HZ); before, jiffies.
    in_ms: bool,
}

/// What Linux offers with its SYN: 20 segments since 3.10, since 4.20 as many as 16 bits hold. Before, it was 4 or 10.
const OFFERED_SEGMENTS: u32 = 20;
/// Bytes that timestamps take in each segment (RFC 7323 §3.2); the window in a SYN-ACK takes them into account.
const TIMESTAMPS: u32 = 12;

impl StackEra {
    pub(super) fn since_2013(&self) -> bool {
        self.recent || self.first_flight_is_one_segment && self.in_ms
    }
    /// No more than a short first write has been acknowledged.
    pub(super) fn only_first_write_acked(&self, una: u64) -> bool {
        una < self.first_write_end
    }
    pub(super) fn on_handshake(&mut self, una: u64) {
        self.first_write_end = una + FIRST_WRITE;
    }
    /// A repair was triggered by no ACK, and it was not the first segment, which the RTO repeats: a reordering timer (RFC 8985
    /// §6.2) or pacing sent it.
    pub(super) fn note_timed_repair(&mut self) {
        self.recent = true;
    }
    pub(super) fn note_probe(&mut self) {
        self.recent = true;
    }

    /// New data up to `end` leaves.
    #[inline]
    pub(super) fn note_new_data(&mut self, una: u64, end: u64, mss: u32) {
        let acked = una.saturating_sub(self.first_write_end.saturating_sub(FIRST_WRITE));
        if self.first_write_end > 0 && acked == 0 {
            self.first_flight_is_one_segment = end - una <= u64::from(mss);
        }
        if self.first_write_end > 0 && acked <= INITIAL_WINDOW_SHOWS_SEGMENTS * u64::from(mss) {
            // Slow start adds to the window no more than is acknowledged (RFC 5681 §3.1, RFC 3465).
            self.recent |= end > una + acked + OLD_WINDOW_SEGMENTS * u64::from(mss);
        }
    }
}

impl SenderModel {
    /// Its SYN offers a window of `window` bytes and an MSS of `mss` bytes.
    pub fn note_syn(&mut self, window: u32, mss: u32) {
        let whole = |m: u32| window == OFFERED_SEGMENTS * m || window == u32::from(u16::MAX) / m * m;
        self.era.recent |= mss > LEAST_MSS && (whole(mss) || whole(mss - TIMESTAMPS));
    }

    /// The tick of its timestamps, and whether it has SACK.
    #[inline]
    pub fn note_stamps(&mut self, tick: Span, sack: bool) {
        self.era.in_ms = sack && tick == Span::from_millis(1);
    }
    pub fn is_recent(&self) -> bool {
        self.era.since_2013()
    }

    /// New data up to `end` leaves: its initial window shows the era of the stack.
    #[inline]
    pub fn note_opening(&mut self, end: u64, mss: u32) {
        self.era.note_new_data(self.una, end, mss);
    }
}
