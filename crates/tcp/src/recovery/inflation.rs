//! Reno and NewReno: each duplicate ACK is a segment that left the network, so cwnd is inflated by it.

use super::Facts;
use crate::congestion::Window;

/// Fast recovery of RFC 5681 §3.2, and as amended by RFC 6582 §3.2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inflation {
    newreno: bool,
    /// Only the first partial ACK restarts the timer (RFC 6582 §4).
    impatient: bool,
}

impl Inflation {
    pub(super) fn reno() -> Inflation {
        Inflation { newreno: false, impatient: false }
    }
    pub(super) fn newreno(impatient: bool) -> Inflation {
        Inflation { newreno: true, impatient }
    }
    pub(super) fn is_impatient(&self) -> bool {
        self.impatient
    }

    /// RFC 5681 §3.2 (3): the duplicates that led here have left the network.
    pub(super) fn enter(&mut self, w: &mut Window, dupthresh: u32) {
        w.cwnd = w.ssthresh.saturating_add(dupthresh.saturating_mul(w.smss));
    }

    pub(super) fn on_ack(&mut self, w: &mut Window, f: &Facts) {
        if f.acked > 0 {
            self.deflate(w, f.acked);
        } else if f.duplicate {
            // RFC 5681 §3.2 (4).
            w.cwnd = w.cwnd.saturating_add(w.smss);
        }
    }

    /// RFC 6582 §3.2 (5), partial acknowledgment.
    fn deflate(&mut self, w: &mut Window, acked: u32) {
        w.cwnd = w.cwnd.saturating_sub(acked);
        if acked >= w.smss {
            w.cwnd = w.cwnd.saturating_add(w.smss);
        }
    }

    pub(super) fn exit(&mut self, w: &mut Window, f: &Facts) {
        w.cwnd = if self.newreno {
            // RFC 6582 §3.2 (5), full acknowledgment, option (1): no burst when little is in flight.
            w.ssthresh.min(f.flight.max(w.smss).saturating_add(w.smss))
        } else {
            // RFC 5681 §3.2 (6).
            w.ssthresh
        };
    }
}
