//! How old is the sender's TCP? What Linux does after a timeout changed with 3.10, which probes for lost tails too.

use super::Repair;

/// The first write of a transfer may be a short one, and be acknowledged alone.
const FIRST_WRITE: u64 = 536;
/// RFC 3390 allows four segments; one more is for the ACK of a short first write, and one is that write.
const OLD_WINDOW_SEGMENTS: u64 = 6;

/// A sender since RFC 6928 (2013) began with more than RFC 3390 allows, or has sent a tail-loss probe (RFC 8985 §7).
/// Linux has believed since then at once that a timeout was needless: data sent once before it and acknowledged
/// after it is enough, or a DSACK for the timer's copy. RFC 5682 waits for one more ACK.
#[derive(Clone, Debug, Default)]
pub(super) struct Age {
    recent: bool,
    /// While no more than this is acknowledged it has its initial window; 0 if it began before the capture.
    opening_end: u64,
}

impl Age {
    pub(super) fn recent(&self) -> bool {
        self.recent
    }
    pub(super) fn on_handshake(&mut self, una: u64) {
        self.opening_end = una + FIRST_WRITE;
    }
    pub(super) fn note_probe(&mut self) {
        self.recent = true;
    }

    /// New data up to `end` leaves.
    #[inline]
    pub(super) fn note_new_data(&mut self, una: u64, end: u64, mss: u32) {
        if una < self.opening_end {
            self.recent |= end > una + OLD_WINDOW_SEGMENTS * u64::from(mss);
        }
    }
}

impl Repair {
    /// New data up to `end` leaves: in the initial window it tells how old the sender is.
    #[inline]
    pub fn note_opening(&mut self, end: u64, mss: u32) {
        self.age.note_new_data(self.una, end, mss);
    }
}
