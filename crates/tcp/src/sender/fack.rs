//! What is lost where FACK finds it and the rest goes by time: Linux 3.2 to 4.14 (net/ipv4/tcp_input.c, tcp_time_to_recover,
//! tcp_update_scoreboard, tcp_mark_lost_retrans; tcp_recovery.c, tcp_rack_mark_lost), and early retransmit (RFC 5827).

use super::ack::News;
use super::board::Found;
use super::{Phase, Sender};
use crate::detect::{self, Verdict, rack::Copy, rack::Horizon};
use crate::stack::DetectRule;
use crate::timers::{Timer, Timers};
use wire::{Span, Time};

/// Early retransmit is for fewer segments than this (RFC 5827 §3.1).
const FEW: u32 = 4;

impl Sender {
    pub(super) fn finds_by_fack(&self) -> bool {
        self.detector.by_time().is_some_and(|rack| rack.is_beside_fack())
    }

    /// An ACK comes: a probe or an early retransmit that was due gives the timer back to the RTO (tcp_ack).
    pub(super) fn gives_timer_back(&mut self, now: Time, timers: &mut Timers) {
        if timers.is_set(Timer::Probe) || timers.is_set(Timer::Reorder) {
            self.rearm(now, timers);
        }
    }

    /// Losses after an ACK, and whether a repair begins by them.
    pub(super) fn look_by_fack(&mut self, now: Time, news: &News, timers: &mut Timers) -> Found {
        let mut found = Found { ask_again: None, ..self.look_at_copies() };
        let verdict = self.verdict_of_fack();
        match self.phase {
            Phase::Loss if !found.repair_lost => return found,
            Phase::Open if !self.is_time_to_recover(verdict) => {
                if self.may_retransmit_early() {
                    self.pause_early_retransmit(now, timers);
                }
                return found;
            }
            Phase::Open => self.board.mark_first_lost(),
            // An ACK that brings nothing new of the sort leaves the marks (do_lost of tcp_fastretrans_alert).
            Phase::Recovery if !news.advanced && news.sacked.segments == 0 => return found,
            _ => {}
        }
        found.lost |= self.board.mark_lost_below(verdict.lost_below);
        found
    }

    /// Of copies whose order tells, while repairing.
    fn look_at_copies(&mut self) -> Found {
        let (phase, min_rtt) = (self.phase, self.sampler.min_rtt());
        let Some(rack) = self.detector.by_time_mut() else { return Found::default() };
        match phase {
            Phase::Open => Found::default(),
            Phase::Loss if rack.goes_by_order() => Found::default(),
            _ if rack.goes_by_order() => match self.board.highest_original_sacked() {
                Some(sent) => {
                    let newest = Copy { sent, end: u64::MAX };
                    self.board.mark_repairs_lost(&Horizon { newest, wait: Span::ZERO, now: sent })
                }
                None => Found::default(),
            },
            _ => match rack.look_beside_fack(min_rtt) {
                Some(horizon) => self.board.mark_lost_by_time(&horizon),
                None => Found::default(),
            },
        }
    }

    fn verdict_of_fack(&self) -> Verdict {
        let reordering = self.reordering();
        let sorted = reordering == self.rules.detect.dupthresh;
        let rule = if sorted { DetectRule::LinuxFack } else { DetectRule::LinuxSack };
        detect::judge(rule, &detect::Facts { dupthresh: reordering, ..self.detect_facts() })
    }

    /// tcp_time_to_recover, without what early retransmit adds.
    fn is_time_to_recover(&self, verdict: Verdict) -> bool {
        let (out, sacked) = (self.board.segments(), self.board.sacked.segments);
        let most = (out / 2).max(self.rules.detect.dupthresh);
        let stuck = out <= self.reordering() && sacked >= most && !self.may_send_now();
        self.board.lost.segments > 0 || verdict.begins || stuck
    }

    /// cwnd and the peer's window have room for data that waits (tcp_may_send_now).
    pub(super) fn may_send_now(&self) -> bool {
        self.pipe() < self.window.cwnd && self.written > self.nxt && self.edge > self.nxt
    }

    fn may_retransmit_early(&self) -> bool {
        let (out, sacked) = (self.board.segments(), self.board.sacked.segments);
        self.rules.detect.early_retransmit
            && self.reordering_seen() == 0
            && self.board.repaired.segments == 0
            && sacked > 0
            && out > sacked
            && out < FEW
            && !self.may_send_now()
    }

    /// RFC 5827 with a quarter of a round trip for segments that are only late, two milliseconds at least, unless the RTO is due
    /// before (tcp_pause_early_retransmit).
    fn pause_early_retransmit(&mut self, now: Time, timers: &mut Timers) {
        let quarter = self.rto.srtt().map_or(Span::ZERO, |srtt| Span(srtt.0 / 4));
        let wait = self.rto.in_ticks(quarter.max(Span::from_millis(2)));
        if timers.at(Timer::Retransmit) > now + wait {
            timers.arm(Timer::Reorder, self.rto.fires_at(now, wait));
        }
    }

    /// tcp_resume_early_retransmit: the first hole is lost.
    pub(super) fn retransmit_early(&mut self) {
        let verdict = self.verdict_of_fack();
        self.board.mark_first_lost();
        self.board.mark_lost_below(verdict.lost_below);
    }
}
