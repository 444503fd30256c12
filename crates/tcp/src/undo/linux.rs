//! Undo as Linux has it since 3.10 (tcp_init_undo, tcp_may_undo, tcp_packet_delayed, tcp_process_loss): what a repair
//! did to the window is taken back when all of its segments were reported twice, when an ACK that advances echoes a time
//! before the first of them left, or, after a timeout, when an original arrives that was never resent.

use crate::congestion::Window;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Linux {
    /// cwnd, and the ssthresh to go back to, as the repair began; `None` once taken back.
    prior: Option<(u32, u32)>,
    /// SND.UNA then: reports from below belong to an earlier repair.
    from: u64,
    /// Resent and not yet reported twice; `None` before anything was.
    unreported: Option<u32>,
    /// TSval of the first retransmission since the sender was last in Open.
    first: Option<u32>,
    /// F-RTO runs.
    pub(crate) frto: bool,
}

impl Linux {
    /// A repair begins. `on_way`: segments that were resent before and are on their way.
    pub(crate) fn begin(&mut self, w: &Window, from: u64, on_way: u32) {
        // Three quarters of cwnd: what ssthresh would be had cwnd not been reduced (tcp_current_ssthresh).
        let ssthresh = w.ssthresh.max(w.cwnd / 2 + w.cwnd / 4);
        self.prior = Some((w.cwnd, ssthresh));
        self.from = from;
        self.unreported = (on_way > 0).then_some(on_way);
    }

    /// The sender is in Open, and nothing that was resent is on its way.
    pub(crate) fn forget_first(&mut self) {
        self.first = None;
    }

    pub(crate) fn resent(&mut self, tsval: u32) {
        self.first.get_or_insert(tsval);
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
    }

    /// The receiver had `[_, right)` twice.
    pub(crate) fn on_duplicate(&mut self, right: u64) {
        if self.prior.is_some() && right > self.from {
            self.unreported = self.unreported.map(|n| n.saturating_sub(1));
        }
    }

    /// All that was resent came twice.
    pub(crate) fn all_reported(&self) -> bool {
        self.prior.is_some() && self.unreported == Some(0)
    }

    /// An ACK that advances: does it answer an original? Without a retransmission it must.
    pub(crate) fn is_late(&self, tsecr: Option<u32>) -> bool {
        self.prior.is_some()
            && match self.first {
                None => true,
                Some(first) => tsecr.is_some_and(|ecr| (ecr.wrapping_sub(first) as i32) < 0),
            }
    }

    /// A repair began, and was not taken back.
    pub(crate) fn may_be_taken(&self) -> bool {
        self.prior.is_some()
    }

    /// The way back, once: cwnd and ssthresh as they were.
    pub(crate) fn take(&mut self) -> Option<(u32, u32)> {
        self.prior.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Window = Window { cwnd: 10_000, ssthresh: 6000, smss: 1000 };

    #[test]
    fn all_that_was_resent_must_be_reported() {
        let mut u = Linux::default();
        u.begin(&BEFORE, 100, 1);
        u.resent(7);
        u.on_duplicate(100);
        u.on_duplicate(200);
        assert!(!u.all_reported(), "one of two, and one from before");
        u.on_duplicate(300);
        assert!(u.all_reported());
        assert_eq!(u.take(), Some((10_000, 7500)));
        assert!(!u.all_reported(), "once");
    }

    #[test]
    fn an_echo_from_before_the_first_retransmission_is_of_an_original() {
        let mut u = Linux::default();
        u.begin(&BEFORE, 0, 0);
        assert!(u.is_late(None), "nothing was resent yet");
        u.resent(1000);
        u.resent(1500);
        assert!(u.is_late(Some(999)) && !u.is_late(Some(1000)) && !u.is_late(None));
        // The next repair begins while those are on their way: their time still counts.
        u.begin(&BEFORE, 0, 2);
        assert!(!u.is_late(Some(1200)));
        u.forget_first();
        assert!(u.is_late(Some(1200)));
    }
}
