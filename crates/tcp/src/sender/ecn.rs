//! Explicit congestion notification at the sender (RFC 3168 §6.1.2): an echo reduces the window once a round trip.

use super::ack::{AckIn, News};
use super::{Phase, Sender};
use crate::recovery;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Echoes {
    /// Echoes count again when this is acknowledged, SND.NXT as the last one did.
    mark: u64,
    /// The window goes down in step with what is delivered (Linux, state CWR).
    pub(super) reducing: bool,
    /// The next new data says that the window was reduced.
    cwr_due: bool,
}

impl Sender {
    /// The window was reduced for whatever reason: the peer may stop echoing (RFC 3168 §6.1.2).
    pub(super) fn tells_of_reduction(&mut self) {
        self.echoes.cwr_due = true;
    }

    /// Once: does new data that leaves now carry CWR?
    pub(crate) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.echoes.cwr_due)
    }
    pub(crate) fn owes_cwr(&self) -> bool {
        self.echoes.cwr_due
    }
    pub(crate) fn is_reducing(&self) -> bool {
        self.echoes.reducing
    }

    /// A repair takes over, or the timer does. Was a reduction going on?
    pub(super) fn end_reducing(&mut self) -> bool {
        std::mem::take(&mut self.echoes.reducing)
    }

    /// RFC 3168 §6.1.2, at once; for detection that counts.
    pub(super) fn on_echo(&mut self, a: &AckIn) {
        if !a.ece || self.phase != Phase::Open || a.ack < self.echoes.mark {
            return;
        }
        self.begin_echo(a);
        self.window.cwnd = self.window.ssthresh;
    }

    fn begin_echo(&mut self, a: &AckIn) {
        let loss = self.loss_facts(a.now, false);
        self.window.ssthresh = self.congestion.ssthresh_on_loss(&self.window, &loss);
        self.echoes.mark = self.board.end();
        self.echoes.cwr_due = true;
    }

    /// As Linux has it (tcp_enter_cwr, tcp_cwnd_reduction, tcp_end_cwnd_reduction): true while the reduction owns the
    /// window. It ends when something above the mark is acknowledged, so that the peer has heard of it.
    pub(super) fn reduces_by_echo(&mut self, a: &AckIn, news: &News) -> bool {
        if self.phase != Phase::Open {
            return false;
        }
        if self.echoes.reducing && a.ack > self.echoes.mark {
            self.echoes.reducing = false;
            self.window.cwnd = self.window.ssthresh;
        }
        if a.ece && !self.echoes.reducing {
            self.begin_echo(a);
            self.echoes.reducing = true;
            let before = self.board.out().saturating_sub(self.board.sacked.bytes) + news.delivered();
            let facts = recovery::Facts { flight: before, ..self.recovery_facts(news, false) };
            self.recovery.enter(&mut self.window, self.rules.detect.dupthresh, &facts);
        } else if self.echoes.reducing {
            let facts = self.recovery_facts(news, false);
            self.recovery.on_ack(&mut self.window, &facts);
        }
        self.echoes.reducing
    }
}
