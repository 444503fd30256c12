//! Rate halving, Linux before 3.2: cwnd goes down by a segment at every second ACK, and never leaves more room
//! than one segment at an ACK.

use super::Facts;
use crate::congestion::Window;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Halving {
    /// An ACK has been counted towards the next segment down.
    odd: bool,
}

impl Halving {
    pub(super) fn enter(&mut self, w: &mut Window, f: &Facts) {
        self.odd = false;
        self.on_ack(w, f);
    }

    pub(super) fn on_ack(&mut self, w: &mut Window, f: &Facts) {
        if self.odd && w.cwnd > w.ssthresh {
            w.cwnd -= w.smss.min(w.cwnd - w.ssthresh);
        }
        self.odd = !self.odd;
        w.cwnd = w.cwnd.min(f.pipe.saturating_add(w.smss));
    }
}
