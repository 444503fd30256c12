//! The timer of Linux 2.2, whose back-off outlives the segment that caused it (paper `rto`).

use super::{doubled, smoothed::Smoothed};
use wire::Span;

pub const MIN: Span = Span::from_millis(200);
pub const MAX: Span = Span::from_secs(120);

/// RTO = (SRTT + 4 mdev) (1 + 1/4 + 1/2^(cwnd-1)) 2^backoff, equation (1) of paper `rto`. The back-off stays
/// while, after a timeout, anything is unacknowledged: each new ACK computes the RTO anew and shifts it again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linux22 {
    backoff: u32,
    /// Congestion window in segments as far as it shows in the formula: 1 at a timeout, one more per ACK.
    cwnd: u32,
}

/// Where 1/2^(cwnd-1) no longer matters.
const LARGE: u32 = 32;

impl Default for Linux22 {
    fn default() -> Linux22 {
        Linux22 { backoff: 0, cwnd: 2 }
    }
}

impl Linux22 {
    /// An ACK advanced; `outstanding` says whether it left anything unacknowledged.
    #[inline]
    pub fn on_ack(&mut self, outstanding: bool) {
        self.cwnd = (self.cwnd + 1).min(LARGE);
        if !outstanding {
            self.backoff = 0;
        }
    }
    pub fn on_timeout(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
        self.cwnd = 1;
    }
    /// The back-off is the rule's own: that of the segment at hand would be the cure that the paper asks for.
    pub fn rto(&self, s: &Smoothed) -> Span {
        let base = s.sum();
        let rto = base + (base >> 2) + (base >> (self.cwnd.clamp(1, LARGE) - 1));
        doubled(rto.max(MIN.0), self.backoff, MAX)
    }
}
