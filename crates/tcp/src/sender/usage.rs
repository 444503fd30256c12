//! Is the window what limits sending? Only then it grows (RFC 7661 §3).

use super::Sender;
use crate::stack::LimitedBy;

/// Of the last window, as Linux keeps it (tcp_cwnd_validate).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// cwnd left no room at some time.
    limited: bool,
    /// The most segments that were out, while it did.
    most_out: u32,
    /// The window ends when this is acknowledged.
    end: u64,
    /// New data left since this was asked.
    sent: bool,
}

impl Usage {
    #[inline]
    pub(super) fn sent(&mut self) {
        self.sent = true;
    }
}

impl Sender {
    /// As an ACK comes, before it is taken in.
    #[inline]
    pub(super) fn is_limited(&mut self) -> bool {
        match self.rules.limited_by {
            LimitedBy::Now => self.occupied().saturating_add(self.window.smss) > self.window.cwnd,
            LimitedBy::Window => self.was_limited(),
        }
    }

    /// tcp_is_cwnd_limited: in slow start cwnd may be twice what was out.
    #[inline]
    fn was_limited(&mut self) -> bool {
        // A packet that waits for more room fills it, too (tcp_tso_should_defer).
        let full = self.offload.begin() || self.occupied() >= self.window.cwnd;
        let sent = std::mem::take(&mut self.usage.sent);
        if sent || (full && self.written > self.nxt) {
            let out = self.board.segments();
            let u = self.usage;
            if self.una() >= u.end || full || (!u.limited && out > u.most_out) {
                self.usage = Usage { limited: full, most_out: out, end: self.nxt, sent: false };
            }
        }
        let slow_start = self.window.cwnd < self.window.ssthresh;
        let twice = self.usage.most_out.saturating_mul(2).saturating_mul(self.window.smss);
        self.usage.limited || (slow_start && self.window.cwnd < twice)
    }
}
