//! Tail-loss probes, and the one timer of loss recovery that they share with reordering and the RTO (RFC 8985 §7, §8).
//!
//! As Linux has it: the RTO counts from when the oldest segment left last while another of the three was pending.

use super::{Outgoing, Phase, ProbeDue, Sender};
use crate::endpoint::Why;
use crate::recovery;
use crate::sender::ack::{AckIn, News};
use crate::stack::{Detect, ProbeRule};
use crate::timers::{Timer, Timers};
use wire::{Span, Time};

/// draft-dukkipati-tcpm-tcp-loss-probe-01, section 2.1.
const LEAST_OF_DRAFT: Span = Span::from_millis(10);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    /// The stack probes, and the peer has SACK.
    probes: bool,
    /// Detection goes by time: one timer serves all three.
    shares: bool,
    /// TLP.end_seq: SND.NXT as the probe left; 0 when none is out. It repeated data (TLP.is_retrans).
    end: u64,
    repeats: bool,
    /// The probe's timer was last set then: setting it again at once would change nothing.
    set_at: Option<Time>,
}

impl Tail {
    pub(super) fn new(spec: &Detect, by_time: bool) -> Tail {
        Tail { probes: spec.tail_loss_probe && by_time, shares: by_time, ..Tail::default() }
    }
    #[inline]
    pub(super) fn shares_timer(&self) -> bool {
        self.shares
    }
    #[inline]
    pub(super) fn is_out(&self) -> bool {
        self.end > 0
    }
    pub(super) fn forget(&mut self) {
        self.end = 0;
    }
    /// Was the segment that ends there, and came twice, the probe?
    pub(super) fn was(&self, right: u64) -> bool {
        self.end > 0 && self.end == right
    }
}

impl Sender {
    // ---- the timer ----

    /// RFC 8985 §7.2: outside recovery, where there is something to probe for. `from_now`: the RTO would start now.
    fn schedule_probe(&mut self, now: Time, from_now: bool, timers: &mut Timers) -> bool {
        let disordered =
            self.board.sacked.segments + self.board.lost.segments + self.board.repaired.segments > 0;
        if !self.tail.probes || self.phase != Phase::Open || disordered || self.board.segments() == 0 {
            return false;
        }
        let spec = &self.rules.detect;
        let rto = self.rto.rto();
        if spec.probe == ProbeRule::Draft && self.may_send_now() {
            return false;
        }
        let wait = match self.rto.srtt() {
            Some(srtt) if spec.probe == ProbeRule::Draft => {
                let one = self.board.segments() == 1;
                let longer = if one { srtt + Span(srtt.0 / 2) + spec.max_ack_delay } else { LEAST_OF_DRAFT };
                self.rto.in_ticks((srtt * 2).max(longer).max(LEAST_OF_DRAFT))
            }
            Some(srtt) if self.board.segments() == 1 => self.rto.in_ticks(srtt * 2 + spec.max_ack_delay),
            Some(srtt) => self.rto.in_ticks(srtt * 2 + spec.timer_slack),
            None => rto,
        };
        let expires = if from_now { now + rto } else { self.rto_of_oldest(rto) };
        let at = now + wait;
        let at = if expires > now { at.min(expires) } else { at };
        timers.arm(Timer::Probe, self.rto.fires_at(now, at - now));
        self.tail.set_at = Some(now);
        true
    }

    fn rto_of_oldest(&self, rto: Span) -> Time {
        self.board.get(0).map_or(Time::FAR_PAST, |s| s.sent + rto)
    }

    /// RFC 6298 (5.1) to (5.3).
    pub(super) fn rearm(&self, now: Time, timers: &mut Timers) {
        if self.board.out() == 0 {
            timers.arm(Timer::Retransmit, Time::FAR_FUTURE);
            return;
        }
        let rto = self.rto.rto();
        let counted = timers.is_set(Timer::Probe) || timers.is_set(Timer::Reorder);
        let at = if counted { self.rto_of_oldest(rto).max(now + Span(1)) } else { now + rto };
        timers.arm(Timer::Retransmit, self.rto.fires_at(now, at - now));
    }

    /// The same where the probe's or the reorder timer has just fired.
    pub(super) fn rearm_from_oldest(&mut self, now: Time, timers: &mut Timers) {
        timers.set(Timer::Reorder, now);
        self.rearm(now, timers);
    }

    /// No probe is wanted any more: the RTO takes its place.
    pub(super) fn end_probing(&self, now: Time, timers: &mut Timers) {
        if timers.is_set(Timer::Probe) {
            self.rearm(now, timers);
        }
    }

    /// After an ACK.
    #[inline]
    pub(super) fn time_ack(&mut self, now: Time, restarts: bool, timers: &mut Timers) {
        if self.una() >= self.board.end() || (restarts && !self.schedule_probe(now, true, timers)) {
            self.rearm(now, timers);
        }
    }

    /// New data left.
    #[inline]
    pub(super) fn time_new(&mut self, now: Time, timers: &mut Timers) {
        let segments = self.board.segments();
        let probing = timers.is_set(Timer::Probe);
        if probing && segments > 2 && self.tail.set_at == Some(now) {
            return;
        }
        if segments == 1 || probing {
            self.rearm(now, timers);
        }
        self.schedule_probe(now, false, timers);
    }

    // ---- the probe ----

    pub(crate) fn on_probe_timer(&mut self, now: Time, timers: &mut Timers) {
        if self.board.out() == 0 {
            return;
        }
        let counts = self.rules.detect.probe == ProbeRule::Rfc8985 || self.written <= self.nxt;
        if self.tail.is_out() && counts {
            // RFC 8985 §7.2: one probe at a time.
            self.rearm_from_oldest(now, timers);
        } else {
            self.probe_due = ProbeDue::Tail;
        }
    }

    /// RFC 8985 §7.3: new data if the peer's window has room for it, whatever cwnd says, else the last segment again.
    pub(super) fn tail_probe(&mut self, now: Time, tsval: u32, timers: &mut Timers) -> Option<Outgoing> {
        let waiting = self.written - self.nxt.min(self.written);
        let payload = waiting.min(u64::from(self.window.smss));
        let new = payload > 0 && self.edge.saturating_sub(self.nxt) >= payload;
        let out = if new {
            let last = waiting == payload;
            let why = Why::Probe { new: true };
            self.send_new(payload as u32, last && self.closing, last, why, now, timers)
        } else {
            let at = (self.board.segments() as usize).checked_sub(1)?;
            self.resend_uncounted(at, Why::Probe { new: false }, now, tsval, timers)
        };
        if !new || self.rules.detect.probe == ProbeRule::Rfc8985 {
            self.tail.end = self.board.end();
            self.tail.repeats = !new;
        }
        timers.arm(Timer::Retransmit, self.rto.fires_at(now, self.rto.rto()));
        Some(out)
    }

    /// RFC 8985 §7.4: did the probe repair a loss?
    pub(super) fn on_tail_ack(&mut self, a: &AckIn, news: &News) {
        if !self.tail.is_out() || a.ack < self.tail.end {
            return;
        }
        let doubled = news.dsack.is_some_and(|(_, right)| self.tail.was(right));
        if !self.tail.repeats || doubled {
            self.tail.forget();
        } else if a.ack > self.tail.end {
            // It did, and nobody noticed: the window is reduced as if a recovery had come and gone.
            self.tail.forget();
            let loss = self.loss_facts(a.now, false);
            self.window.ssthresh = self.congestion.ssthresh_on_loss(&self.window, &loss);
            self.recovery.exit(&mut self.window, &recovery::Facts::default());
        } else if !news.advanced && a.bare && news.sacked.segments == 0 {
            // Both copies arrived.
            self.tail.forget();
        }
    }
}
