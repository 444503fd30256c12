//! The beginning and the end of a repair, and its being taken back.

use super::ack::{AckIn, News};
use super::{Phase, Sender};
use crate::congestion::{AckFacts, Window};
use crate::detect::Verdict;
use crate::endpoint::Why;
use crate::recovery;
use crate::stack::{AfterTimeout, RestartsTimer};
use crate::timers::{Timer, Timers};
use crate::undo::{FrtoAck, FrtoStep, Prior};
use wire::Time;

impl Sender {
    pub(super) fn why_recovery(&self) -> Why {
        Why::Recovery { evidence: self.evidence }
    }

    #[inline(never)]
    pub(super) fn enter_recovery(&mut self, a: &AckIn, news: &News, verdict: Verdict, timers: &mut Timers) {
        let before = self.begin_recovery(a.now, news);
        if self.recovery.uses_pipe() {
            // RFC 6675 §5 (4.3): the segment at HighACK + 1 is presumed dropped, whatever IsLost says.
            self.board.mark_first_lost();
            self.board.mark_lost_below(verdict.lost_below);
        }
        let facts = recovery::Facts { flight: before, more_lost: true, ..self.recovery_facts(news, true) };
        self.recovery.enter(&mut self.window, self.rules.detect.dupthresh, &facts);
        self.resend_first = Some(self.why_recovery());
        self.held = self.rules.habits.enters_with_one_segment;
        if self.rules.recovery.restarts_timer == RestartsTimer::First {
            timers.start(Timer::Retransmit, a.now, self.rto.rto());
        }
    }

    /// What every recovery begins with. Returns what was in flight before this ACK and is not SACKed (RFC 9937 §6.1).
    pub(super) fn begin_recovery(&mut self, now: Time, news: &News) -> u32 {
        self.begin_undo();
        let loss = self.loss_facts(now, false);
        let before = self.board.out().saturating_sub(self.board.sacked.bytes) + news.delivered();
        self.tells_of_reduction();
        self.window.ssthresh = self.congestion.ssthresh_on_loss(&self.window, &loss);
        self.phase = Phase::Recovery;
        self.recover = self.board.end();
        self.partial_acks = 0;
        self.rescued = false;
        self.limited_bytes = 0;
        before
    }

    pub(super) fn begin_undo(&mut self) {
        if let Some(linux) = self.undo.linux_mut() {
            linux.begin(&self.window, self.board.una(), self.board.repaired.segments);
        } else if self.undo.watches() {
            self.undo.begin(self.prior(), self.una());
        }
    }

    pub(super) fn exit_recovery(&mut self, a: &AckIn, timers: &mut Timers, news: &News, ack: &AckFacts) {
        let acked = news.acked.bytes;
        let facts = recovery::Facts { flight: self.flight(), acked, ..recovery::Facts::default() };
        self.recovery.exit(&mut self.window, &facts);
        if self.rules.habits.last_ack_grows {
            self.congestion.on_ack(&mut self.window, ack);
        }
        if self.rules.habits.ends_at_any_advance {
            // Reno does not remember: the next three duplicates halve again (RFC 5681 has no recovery point).
            self.recover = self.recover.min(a.ack.saturating_sub(1));
        }
        self.end_repair(a.now);
        let verdict = self.detector.judge(&self.detect_facts());
        if verdict.begins {
            // Holes above the recovery point: the next repair begins with this ACK.
            self.enter_recovery(a, news, verdict, timers);
        }
    }

    /// Recovery or the slow start after a timeout is over.
    pub(super) fn end_repair(&mut self, now: Time) {
        self.congestion.on_recovery_end(&mut self.window, now);
        self.settle();
    }

    fn settle(&mut self) {
        // A recovery that began on the way back to where a timeout came leaves the rest of the way.
        self.phase = if self.nxt < self.board.end() { Phase::Loss } else { Phase::Open };
        self.dupacks = 0;
        self.assumed_sacked = 0;
        self.limited_bytes = 0;
        self.resend_first = None;
        self.new_allowed = 0;
        self.board.forget_losses();
    }

    /// Tahoe: a fast retransmit, then slow start (RFC 5681 without its §3.2 (3) to (6)).
    pub(super) fn slow_start_at_once(&mut self, now: Time, timers: &mut Timers) {
        let loss = self.loss_facts(now, false);
        self.window.ssthresh = self.congestion.ssthresh_on_loss(&self.window, &loss);
        self.window.cwnd = self.window.smss;
        self.begin_loss();
        self.resend_first = Some(self.why_recovery());
        self.repair_by_slow_start(false);
        if self.rules.habits.fast_retransmit_restarts_timer {
            timers.start(Timer::Retransmit, now, self.rto.rto());
        }
    }

    /// Into the state in which everything not SACKed is repaired by slow start.
    pub(super) fn begin_loss(&mut self) {
        self.phase = Phase::Loss;
        self.recover = self.board.end();
        self.held = false;
        if self.rules.habits.remembers_repairs {
            self.dupacks = 0;
        }
        self.assumed_sacked = 0;
        self.limited_bytes = 0;
        self.new_allowed = 0;
        self.board.forget_losses();
    }

    /// What was sent is resent as the window grows. `late`: new segments of F-RTO are on their way.
    pub(super) fn repair_by_slow_start(&mut self, late: bool) {
        if self.marks_lost() {
            self.board.mark_all_lost(self.recover);
            return;
        }
        if late {
            self.recover = self.board.end();
        }
        self.nxt = self.una();
    }

    // ---- taking it back ----

    /// F-RTO's turn in the Loss phase; true if it dealt with the ACK.
    pub(super) fn frto_step(&mut self, a: &AckIn, news: &News) -> bool {
        let ack = FrtoAck {
            advanced: news.advanced,
            reaches_recover: a.ack >= self.recover,
            covers_resent: news.advanced && a.ack >= self.timed_out_end,
            duplicate: news.duplicate || (!news.advanced && a.bare),
            sacked_original: news.sacked.original_below,
        };
        match self.undo.frto.on_ack(&ack) {
            FrtoStep::Wait => false,
            FrtoStep::SendNew => {
                // RFC 5682 §2.1 (2b): without new data to send the algorithm cannot go on.
                if self.written > self.board.end() && self.edge > self.board.end() {
                    self.new_allowed = 2;
                } else {
                    self.undo.frto = crate::undo::Frto::Off;
                    self.repair_by_slow_start(false);
                    return false;
                }
                true
            }
            FrtoStep::Conventional { late } => {
                self.new_allowed = 0;
                if late {
                    // RFC 5682 §2.1 (3a).
                    self.window.cwnd = self.window.smss.saturating_mul(3);
                }
                self.repair_by_slow_start(late);
                false
            }
            FrtoStep::Spurious => {
                self.undo_now(news);
                true
            }
        }
    }

    /// The other detectors; true if the repair was taken back.
    #[inline]
    pub(super) fn undone(&mut self, a: &AckIn, news: &News) -> bool {
        let by_duplicate = match news.dsack {
            Some((_, right)) => self.undo.dsack.on_duplicate(right),
            None => false,
        };
        let by_advance = news.advanced
            && self.phase != Phase::Open
            && (self.undo.eifel.on_advance(a.tsecr) | self.undo.bad.on_advance(a.now));
        if !(by_duplicate || by_advance) {
            return false;
        }
        self.undo_now(news)
    }

    #[inline(never)]
    fn undo_now(&mut self, news: &News) -> bool {
        let Some(prior) = self.undo.take() else { return false };
        self.window = self.window_after_undo(&prior, news.acked.bytes);
        self.congestion = prior.congestion;
        self.nxt = self.board.end();
        self.settle();
        true
    }

    fn window_after_undo(&self, prior: &Prior, acked: u32) -> Window {
        let mut w = prior.window;
        if self.undo.spec().eifel {
            // RFC 4015 §3.2 (0) and (9): pipe_prev, and no burst.
            let initial_window = (4 * w.smss).min(4380.max(2 * w.smss));
            w.ssthresh = prior.flight.max(prior.window.ssthresh);
            w.cwnd = self.board.out().saturating_add(acked.min(initial_window));
        } else {
            w.ssthresh = w.ssthresh.max(self.window.ssthresh);
            w.cwnd = w.cwnd.max(self.window.cwnd);
        }
        w.cwnd = w.cwnd.max(w.smss);
        w
    }

    pub(super) fn cwnd_after_timeout(&self) -> u32 {
        match self.rules.recovery.after_timeout {
            AfterTimeout::FastRecovery => self.window.ssthresh,
            AfterTimeout::GoBackN | AfterTimeout::MarkLost | AfterTimeout::RepairsOnly => self.window.smss,
        }
    }
}
