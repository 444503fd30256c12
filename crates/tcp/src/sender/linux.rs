//! A timeout, and the way back from a needless repair, as Linux has them (net/ipv4/tcp_input.c): tcp_enter_loss,
//! tcp_process_loss, tcp_may_undo. Losses may be found by time or, without SACK, by counting.

use super::ack::{AckIn, News};
use super::{Phase, Sender};
use crate::congestion::AckFacts;
use crate::endpoint::{Evidence, Why};
use crate::recovery;
use crate::stack::DetectRule;
use crate::timers::{Timer, Timers};
use wire::Time;

/// tcp_max_reordering.
const MAX_REORDERING: u32 = 300;

impl Sender {
    /// tcp_enter_loss: what left less than a round trip ago is spared.
    pub(super) fn time_out_as_linux(&mut self, now: Time, timers: &mut Timers) {
        let undisturbed = self.phase == Phase::Open || self.timeouts > 1;
        if self.phase != Phase::Recovery
            || self.una() >= self.recover
            || self.rules.recovery.timeout_reduces_again
        {
            self.reduce(now);
        }
        self.forget_what_the_receiver_may_have_dropped();
        self.tail.forget();
        self.assumed_sacked = 0;
        self.limited_bytes = 0;
        self.phase = Phase::Loss;
        self.recover = self.board.end();
        self.new_first = false;
        let spared = self.detector.by_time().map_or(now, |rack| rack.spared_since(now));
        self.board.mark_lost_at_timeout(spared);
        self.window.cwnd = self.pipe().saturating_add(self.window.smss);
        let loss = self.loss_facts(now, true);
        self.congestion.timed_out(&self.window, &loss, &self.progress());
        self.back_off();
        let f_rto = self.undo.spec().f_rto && undisturbed;
        if let Some(linux) = self.undo.linux_mut() {
            linux.frto = f_rto;
        }
        self.resend_first = Some(Why::Timeout { backoff: self.timeouts - 1 });
        timers.arm(Timer::Retransmit, self.rto.fires_at(now, self.rto_within_patience(now)));
    }

    /// DSACKs of the last repair may come after it.
    pub(super) fn undo_in_open(&mut self, a: &AckIn, news: &News) {
        if self.counts_dsack(a, news) {
            self.take_back(false);
        }
    }

    pub(super) fn counts_dsack(&mut self, a: &AckIn, news: &News) -> bool {
        let wanted = self.undo.spec().dsack;
        // What this very ACK acknowledges says nothing yet (tcp_is_sackblock_valid).
        let una = a.ack - u64::from(news.acked.bytes);
        let told = news.dsack.filter(|&(left, right)| right <= una || left > una);
        match self.undo.linux_mut() {
            Some(linux) if wanted => {
                if let Some((_, right)) = told {
                    linux.on_duplicate(right);
                }
                linux.all_reported()
            }
            _ => false,
        }
    }

    pub(super) fn is_late(&mut self, a: &AckIn) -> bool {
        let wanted = self.undo.spec().eifel;
        self.undo.linux_mut().is_some_and(|linux| wanted && linux.is_late(a.tsecr))
    }

    /// `unmarks`: what is marked lost is believed to be on its way, too.
    pub(super) fn take_back(&mut self, unmarks: bool) {
        if unmarks {
            self.board.unmark_lost();
        }
        if let Some((cwnd, ssthresh)) = self.undo.linux_mut().and_then(|linux| linux.take()) {
            self.congestion.taken_back(&mut self.window, cwnd, ssthresh);
        }
        if let Some(rack) = self.detector.by_time_mut() {
            if unmarks { rack.taken_back() } else { rack.taken_back_by_dsack() }
        }
    }

    /// tcp_process_loss, with the SACK-enhanced F-RTO of RFC 5682 §3.1. `original`: what was never resent, and left
    /// before the timeout or before F-RTO's new data, arrived.
    pub(super) fn step_in_loss(&mut self, a: &AckIn, news: &News, original: bool) {
        let reported = self.counts_dsack(a, news);
        let recovered = a.ack >= self.recover;
        if news.advanced && (reported || self.is_late(a)) {
            self.take_back(true);
            if self.sack {
                self.open();
            }
            return;
        }
        let frto = self.undo.linux_mut().is_some_and(|linux| linux.frto);
        if frto {
            if original {
                // Step 3b: what was never resent arrives.
                self.take_back(true);
                if !self.keeps_state(a) {
                    self.open();
                }
                return;
            }
            if self.step_of_frto(a, news, recovered) {
                return;
            }
        }
        if recovered && !self.keeps_state(a) {
            self.congestion.on_recovery_end(&mut self.window, a.now);
            self.open();
        }
    }

    /// Without SACK, duplicates of what was resent may follow the ACK of all of it: a repair lasts until more is
    /// acknowledged (tcp_is_non_sack_preventing_reopen, RFC 6582 §3.2 (1)).
    fn keeps_state(&self, a: &AckIn) -> bool {
        !self.sack && a.ack == self.recover
    }

    /// Without SACK duplicates are what Linux goes by: a repair begins with as many as it takes for reordering.
    #[inline]
    pub(super) fn counts_assumed(&self) -> bool {
        !self.sack && self.undo.is_linux() && self.rules.detect.rule == DetectRule::Rack
    }

    /// An ACK of so many segments: one was a hole, the others are what duplicates stood for (tcp_remove_reno_sacks).
    pub(super) fn take_from_assumed(&mut self, acked: u32) {
        self.assumed_sacked = self.assumed_sacked.saturating_sub(acked.saturating_sub(1));
        self.limit_assumed(acked);
    }

    /// Duplicates stand for no more than can have arrived: of what is out the lost are not there, or one hole at least
    /// (tcp_limit_reno_sacked). More came: segments were overtaken by all that was out, as far as the sender knows, and as
    /// many duplicates are no loss from now on (tcp_check_reno_reordering).
    pub(super) fn limit_assumed(&mut self, acked: u32) {
        let out = self.board.segments();
        let least = u32::from(self.undo.is_linux());
        let holes = self.board.lost.segments.max(least).min(out);
        if self.assumed_sacked + holes > out {
            self.assumed_sacked = out - holes;
            if self.counts_assumed() {
                self.counted_reordering = (out + acked).min(MAX_REORDERING);
            }
        }
    }

    /// The Loss state without SACK.
    pub(super) fn count_in_loss(&mut self, a: &AckIn, news: &News, facts: &AckFacts, timers: &mut Timers) {
        // Where a repair is acknowledged with originals, what told of it is not known (tcp_clean_rtx_queue).
        let before = a.ack - u64::from(news.acked.bytes);
        let original = news.acked.original && !news.acked.resent && before < self.recover;
        self.new_first = false;
        self.take_from_assumed(news.acked.segments);
        self.step_in_loss(a, news, original);
        if news.advanced {
            let counted = self.assumed_sacked;
            if a.ack != self.recover || self.phase == Phase::Open {
                // At the end of what the timeout found lost, duplicates of new data still count (tcp_process_loss).
                self.assumed_sacked = 0;
            }
            if self.phase == Phase::Open && counted >= self.reordering() && self.board.out() > 0 {
                // Enough of it came for the oldest to be lost, and a recovery begins at once (tcp_newreno_mark_lost).
                self.evidence = Evidence::DupAck;
                let verdict = self.detector.judge(&self.detect_facts());
                self.enter_recovery(a, news, verdict, timers);
                return;
            }
            self.congestion.on_ack(&mut self.window, facts);
        } else if news.duplicate && a.ack < self.recover && self.board.end() > self.recover {
            // F-RTO's new data arrives.
            self.assume_sacked();
        }
    }

    /// An ACK that advances in Recovery without SACK. False where it acknowledges a part, and repair goes on.
    pub(super) fn count_in_recovery(&mut self, a: &AckIn, news: &News, facts: &AckFacts) -> bool {
        let late = self.is_late(a);
        let part = a.ack < self.recover;
        if part && !late {
            return false;
        }
        // Needless so far, but repairs are on their way: new data goes out, nothing more is repaired.
        let waits = part && self.board.repaired.segments > 0;
        if !part {
            self.assumed_sacked = 0;
        }
        if late && !waits {
            self.take_back(part);
        }
        if waits || self.keeps_state(a) {
            let repair = self.recovery_after_counting(news, facts, false);
            self.recovery.on_ack(&mut self.window, &repair);
            return true;
        }
        // What was taken back is not reduced once more (tcp_end_cwnd_reduction).
        if self.undo.linux_mut().is_some_and(|linux| linux.may_be_taken()) {
            let flight = self.flight();
            let ended = recovery::Facts { flight, acked: news.acked.bytes, ..recovery::Facts::default() };
            self.recovery.exit(&mut self.window, &ended);
        }
        self.congestion.on_recovery_end(&mut self.window, a.now);
        self.open();
        self.congestion.on_ack(&mut self.window, facts);
        true
    }

    /// True where new data goes first.
    fn step_of_frto(&mut self, a: &AckIn, news: &News, recovered: bool) -> bool {
        let has_new = self.written > self.board.end() && self.edge > self.board.end();
        let off = if self.board.end() > self.recover {
            // Step 3a: the loss was real.
            news.sacked.segments > 0 || (!news.advanced && a.bare)
        } else if news.advanced && !recovered {
            // Step 2b, and originals are those that left before now.
            self.recover = self.board.end();
            if has_new {
                self.new_first = true;
                return true;
            }
            true
        } else {
            false
        };
        if off && let Some(linux) = self.undo.linux_mut() {
            linux.frto = false;
        }
        false
    }

    /// F-RTO wants new data out: does some leave, or has some left, before repairs go on?
    pub(super) fn new_leaves_first(&mut self) -> bool {
        if self.board.end() > self.recover {
            return true;
        }
        // Less than a segment of the peer's window is none (tcp_snd_wnd_test), and then repairs go on at once
        // (tcp_xmit_recovery).
        let room = self.pipe() < self.window.cwnd;
        let segment = self.written.saturating_sub(self.nxt).min(u64::from(self.window.smss));
        if room && segment > 0 && self.edge >= self.nxt + segment {
            return true;
        }
        self.new_first = false;
        if let Some(linux) = self.undo.linux_mut() {
            linux.frto = false;
        }
        false
    }

    /// Nothing is wrong any more.
    pub(super) fn open(&mut self) {
        self.phase = Phase::Open;
        self.dupacks = 0;
        self.limited_bytes = 0;
        self.resend_first = None;
        if self.board.repaired.segments == 0
            && let Some(linux) = self.undo.linux_mut()
        {
            linux.forget_first();
        }
    }
}
