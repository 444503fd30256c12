//! The retransmission timer's rule, for all variants but Vegas.

use super::Why;
use super::core::{Core, LastCut};
use super::window::CutTo;
use wire::Time;

impl Core {
    /// The timer fired: the window closes, and everything not acknowledged is to be sent again. The caller sends.
    ///
    /// The timer runs on while nothing is outstanding, so that its firing closes the window of a sender that has been
    /// idle for an RTO (`slow_start_restart_`); only with outstanding packets it counts as a loss.
    pub(super) fn on_timeout(&mut self, now: Time) -> Why {
        let idle = self.highest_ack == self.highest_sent;
        self.cwnd = self.cwnd.max(1.0);
        if !idle || self.spec.restart_after_idle {
            self.close_window(idle);
        }
        if !(idle && self.spec.restart_keeps_ssthresh) {
            self.rto.on_timeout();
        }
        self.restart_timer(now);
        self.go_back();
        self.last_cut = LastCut::Timeout;
        Why::Timeout { backoff: self.rto.backoff() }
    }

    fn close_window(&mut self, idle: bool) {
        self.recover = self.highest_sent;
        // The first packet was lost: no larger initial window after that (RFC 3390).
        if self.highest_ack == -1 && self.spec.bug_fix_first_window {
            self.initial_window = 1.0;
        }
        if idle && self.spec.restart_keeps_ssthresh {
            self.slow_down_keeping_ssthresh(CutTo::One);
        } else {
            self.last_cut = LastCut::Timeout;
            self.slow_down(CutTo::One);
        }
    }
}
