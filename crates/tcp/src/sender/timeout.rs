//! The timers of the sender half: retransmission, and probes of a closed window.

use super::{Phase, ProbeDue, Sender};
use crate::endpoint::Why;
use crate::stack::{Retries, Send, WindowProbe};
use crate::timers::{Timer, Timers};
use crate::undo::Frto;
use wire::{Span, Time};

/// Probes of a closed window come at least this often (RFC 9293 §3.8.6.1 leaves it open; BSD: 60 s).
const PERSIST_MAX: Span = Span::from_secs(60);
/// Linux's probes of a closed window begin after this at least (TCP_RTO_MIN), and none comes sooner than two ticks of
/// 1 ms (TCP_TIMEOUT_MIN).
const LEAST_PROBE_WAIT: Span = Span::from_millis(200);
const LEAST_TIMEOUT: Span = Span::from_millis(2);
/// Fewer are a thin stream; and so many of its timeouts in a row do not back off.
const THIN_SEGMENTS: u32 = 4;
const THIN_LINEAR_RETRIES: u32 = 6;

/// What so many retries take, the first after 200 ms (tcp_model_timeout: TCP_RTO_MIN, whatever the timer is).
pub(crate) fn longest_silence(send: &Send, rto_max: Span) -> Option<Span> {
    if send.retries == Retries::Count || send.max_retries == 0 {
        return None;
    }
    let least = LEAST_PROBE_WAIT.0;
    let doublings = (rto_max.0 / least).max(1).ilog2();
    let doubled = doublings.min(send.max_retries).min(32);
    let rest = i64::from(send.max_retries - doubled.min(send.max_retries));
    Some(Span((((2i64 << doubled) - 1) * least).saturating_add(rest.saturating_mul(rto_max.0))))
}

impl Sender {
    /// RFC 6298 (5.4) to (5.6).
    pub(crate) fn on_timeout(&mut self, now: Time, timers: &mut Timers) {
        if self.board.out() == 0 {
            return;
        }
        self.end_reducing();
        self.timeouts += 1;
        self.unanswered += 1;
        self.burst_left = self.rules.max_burst;
        if self.timeouts == 1 {
            self.silent_since = now;
        } else if self.user_timeout.is_some_and(|most| now - self.silent_since >= most) {
            // retransmits_timed_out
            self.failed = true;
            return;
        }
        if self.is_given_up(now) {
            self.failed = true;
            return;
        }
        if self.detector.by_time().is_some() || self.undo.is_linux() {
            self.time_out_as_linux(now, timers);
            return;
        }
        let undisturbed = self.phase == Phase::Open || (self.undo.frto == Frto::First && self.timeouts > 1);
        self.reduce(now);
        self.forget_what_the_receiver_may_have_dropped();
        self.begin_loss();
        self.window.cwnd = self.cwnd_after_timeout();
        let loss = self.loss_facts(now, true);
        self.congestion.timed_out(&self.window, &loss, &self.progress());
        self.back_off();
        self.undo.timed_out(now, self.rto.srtt(), self.timeouts == 1);
        self.timed_out_end = self.una() + u64::from(self.board.get(0).map_or(0, |s| s.space()));
        // RFC 5682 §2.1 (1): not within a recovery.
        if self.undo.spec().f_rto && undisturbed {
            self.undo.begin_frto();
        } else {
            self.undo.frto = Frto::Off;
            self.repair_by_slow_start(false);
        }
        self.resend_first = Some(Why::Timeout { backoff: self.timeouts - 1 });
        timers.set(Timer::Retransmit, self.rto.fires_at(now, self.rto.rto()));
    }

    /// RFC 9293 §3.8.6.1: a peer that answers, if with a closed window, is not given up. As time it is counted from the
    /// first retransmission (retransmits_timed_out).
    fn is_given_up(&self, now: Time) -> bool {
        match self.rules.longest_silence {
            Some(most) => self.unanswered > 1 && now - self.silent_since >= most,
            None => self.rules.max_retries > 0 && self.unanswered > self.rules.max_retries,
        }
    }

    /// RFC 6298 (5.5). A thin stream has too few segments out for a fast retransmit, and waits for its timer each time:
    /// Linux spares it the first back-offs (tcp_stream_is_thin, TCP_THIN_LINEAR_RETRIES).
    pub(super) fn back_off(&mut self) {
        let thin = self.rules.thin_linear_timeouts
            && self.board.segments() < THIN_SEGMENTS
            && self.window.ssthresh < u32::MAX
            && self.timeouts <= THIN_LINEAR_RETRIES;
        if !thin {
            self.rto.on_timeout();
        }
    }

    /// RFC 5681 §3.1: ssthresh is set at the first timeout of a segment and kept at the next ones.
    pub(super) fn reduce(&mut self, now: Time) {
        if self.timeouts > 1 && self.rules.habits.remembers_repairs {
            return;
        }
        self.begin_undo();
        let loss = self.loss_facts(now, true);
        self.tells_of_reduction();
        self.window.ssthresh = self.congestion.ssthresh_on_loss(&self.window, &loss);
    }

    /// The last timeout comes as the application's patience ends (tcp_clamp_rto_to_user_timeout).
    pub(super) fn rto_within_patience(&self, now: Time) -> Span {
        let rto = self.rto.rto();
        match self.user_timeout {
            Some(most) if self.timeouts > 0 => rto.min(self.silent_since + most - now).max(Span(1)),
            _ => rto,
        }
    }

    pub(super) fn forget_what_the_receiver_may_have_dropped(&mut self) {
        // RFC 2018 §8: a receiver that SACKed the oldest segment would have acknowledged it, had it kept it.
        let reneged = self.board.get(0).is_some_and(|s| s.sacked());
        if reneged || !self.rules.recovery.keeps_sacks {
            self.board.forget_sacks();
        }
    }

    /// The persist timer fired. Linux asks no longer than the application's patience, or `max_retries` times without any
    /// answer (tcp_probe_timer).
    pub(crate) fn on_persist(&mut self, now: Time) {
        if self.rules.window_probe == WindowProbe::Old {
            if self.probes == 0 {
                self.silent_since = now;
            } else if self.user_timeout.is_some_and(|most| now - self.silent_since >= most) {
                self.failed = true;
                return;
            }
            if self.rules.max_retries > 0 && self.unanswered_probes >= self.rules.max_retries {
                self.failed = true;
                return;
            }
        }
        self.probe_due = ProbeDue::Window;
    }

    /// Data waits, the window is closed and nothing is on its way: only a probe can learn that it opened.
    pub(super) fn persist(&mut self, now: Time, timers: &mut Timers) {
        if !timers.is_set(Timer::Persist) {
            let wait = match self.rules.window_probe {
                WindowProbe::Byte => self.backed_off(self.rto.rto()).min(PERSIST_MAX),
                WindowProbe::Old => self.probe_wait(now),
            };
            timers.start(Timer::Persist, now, wait);
        }
    }

    fn backed_off(&self, first: Span) -> Span {
        Span(first.0.saturating_mul(1 << self.probes.min(16)))
    }

    /// tcp_probe0_when, which an RTO_MIN of the socket's does not shorten, and tcp_clamp_probe0_to_user_timeout.
    fn probe_wait(&self, now: Time) -> Span {
        let (_, most) = self.rto.bounds();
        let wait = self.backed_off(self.rto.rto().max(LEAST_PROBE_WAIT)).min(most);
        match self.user_timeout {
            Some(patience) if self.probes > 0 => {
                wait.min((self.silent_since + patience - now).max(LEAST_TIMEOUT))
            }
            _ => wait,
        }
    }

    /// A closed window may stay closed: its peer is there (icsk_probes_out).
    #[inline]
    pub(crate) fn heard_of_peer(&mut self) {
        self.unanswered_probes = 0;
    }

    /// The peer's window changed, or an ACK of a probe came.
    pub(crate) fn window_seen(&mut self, now: Time, timers: &mut Timers) {
        if self.probes == 0 {
            if timers.is_set(Timer::Persist) && self.edge > self.nxt {
                timers.stop(Timer::Persist);
            }
            return;
        }
        self.heard_of_peer();
        if self.edge > self.board.end().max(self.una() + 1) {
            // It opened and did not take the probe's byte: that leaves again with what follows it.
            timers.stop(Timer::Persist);
            self.probes = 0;
            self.probe_due = ProbeDue::None;
            if self.board.out() == 1 {
                timers.stop(Timer::Retransmit);
                self.board.take_back_probe();
                self.nxt = self.una();
            } else if self.board.out() > 0 && !timers.is_set(Timer::Retransmit) {
                // The probe repeated data, which is out still.
                timers.start(Timer::Retransmit, now, self.rto.rto());
            }
        }
    }
}
