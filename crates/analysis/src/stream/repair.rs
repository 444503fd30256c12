//! Why was it sent again? A small model of the sender, driven by what the vantage point sees.
//!
//! The model has three states, as RFC 5681, 6582 and 6675 do: open, fast recovery, and the slow start after a timeout
//! (loss). Of what only some senders do it models F-RTO (RFC 5682), by which a timeout that proves spurious leaves the loss
//! state.

mod after_rto;
mod at_sender;
mod clocks;
mod era;
pub mod evidence;
mod facts;
mod judge;
mod judges;
mod likelihoods;
mod probing;
mod recovery_trace;
mod remote;
mod remote_state;
mod spurious_rto;
mod timer;

use crate::assumptions::DUP_THRESH;
use crate::rows::{Cause, Evidence, Trigger};
pub use after_rto::PacketAfterRto;
use clocks::{Pacing, Rack};
use era::StackEra;
pub use facts::{AckEvent, PathTiming, RetransmittedSegment, Verdict};
pub use judges::{AtSender, JudgedFrom, Remote};
use probing::Probing;
use recovery_trace::RecoveryTrace;
use remote_state::RemoteState;
use spurious_rto::SpuriousRto;
use std::mem::offset_of;
use timer::Timer;
use wire::{Span, Time};

/// What the sender seems to be doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Open,
    /// Until the cumulative ACK reaches `recover` (RFC 6582); `first_ts` is the clock of its first retransmission.
    Recovery { recover: u64, first_ts: u32 },
    /// After a timeout, until the cumulative ACK reaches `high`, the highest sent when the timer fired.
    Loss { high: u64, f_rto: bool, first_ts: u32 },
}

/// Number of requests by duplicate ACKs that are remembered: they may reach the sender much later.
const ASKED: usize = 4;
/// A packet this close behind other data was triggered by the same ACK.
const SOON: Span = Span::from_millis(2);
/// Away from the sender: packets triggered by ACKs come closer together than this, except behind a queue.
const PAUSE: Span = Span::from_millis(80);

/// Fields in the order of their use: each packet touches those before `trace`, and the first of `remote`.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct SenderModel {
    pub state: State,
    una: u64,
    /// When the last ACK that reported something reached the sender; when the cumulative ACK last moved.
    last_news: Time,
    last_progress: Time,
    /// When the sender last sent anything, and what triggered it.
    last_sent: Time,
    last_trigger: Trigger,
    any_sacked: bool,
    probing: Probing,
    /// It has no SACK, or no timestamps.
    basic: bool,
    duplicates: u32,
    pacing: Pacing,
    newest_delivered: Time,
    rack: Rack,
    timer: Timer,
    /// The longest recent time from an ACK to the packet that it triggered.
    reaction: Span,
    era: StackEra,
    /// A timeout that looked spurious, until the sender shows how it treats it.
    spurious_rto: Option<Box<SpuriousRto>>,
    /// Segments that three duplicate ACKs asked for, the newest first.
    asked_for: [u64; ASKED],
    remote: RemoteState,
    trace: RecoveryTrace,
    /// The state before the present one.
    left: Option<State>,
}

impl Default for SenderModel {
    fn default() -> SenderModel {
        SenderModel {
            state: State::Open,
            una: 0,
            last_news: Time::FAR_PAST,
            last_progress: Time::FAR_PAST,
            last_sent: Time::FAR_PAST,
            last_trigger: Trigger::Unrepaired,
            any_sacked: false,
            probing: Probing::default(),
            basic: false,
            duplicates: 0,
            pacing: Pacing::default(),
            newest_delivered: Time::FAR_PAST,
            rack: Rack { newest: (Time::FAR_PAST, 0), rtt: Span::ZERO },
            timer: Timer::default(),
            reaction: Span::ZERO,
            era: StackEra::default(),
            spurious_rto: None,
            asked_for: [u64::MAX; ASKED],
            remote: RemoteState::default(),
            trace: RecoveryTrace::default(),
            left: None,
        }
    }
}

impl SenderModel {
    /// Bytes of it that each packet touches.
    pub(super) const OFTEN: usize = offset_of!(SenderModel, remote) + RemoteState::OFTEN;

    /// The cumulative ACK as the sender knows it.
    pub fn una(&self) -> u64 {
        self.una
    }
    pub fn start(&mut self, una: u64) {
        self.una = una;
    }
    /// The peer's SYN or SYN-ACK reaches the sender: from now on it may send.
    pub fn on_handshake(&mut self, at: Time) {
        if self.last_sent > Time::FAR_PAST {
            return; // a repeated SYN starts no timer
        }
        self.last_news = at;
        self.timer.start = at;
        self.era.on_handshake(self.una);
    }
    pub(super) fn repairs(&self) -> bool {
        self.state != State::Open
    }
    pub fn in_loss_state(&self) -> bool {
        matches!(self.state, State::Loss { .. })
    }
    /// When the retransmission timer was last started, as far as can be told.
    pub fn timer_start(&self) -> Time {
        self.timer.start
    }
    /// It goes on where the last retransmission ended.
    pub fn goes_on_at(&self, start: u64) -> bool {
        self.trace.end == start
    }
    pub fn last_news(&self) -> Time {
        self.last_news
    }

    /// Time until `now` in which the sender neither sent anything nor received an ACK that reported something.
    fn silent(&self, now: Time) -> Span {
        now - self.last_sent.max(self.last_news)
    }

    /// An ACK reaches the sender at `at`.
    #[inline]
    pub fn on_ack(&mut self, news: &AckEvent, at: Time, next: u64) {
        match self.remote.lost_acks.is_some() {
            true => self.on_ack_and_lost_acks(news, at, next),
            false => self.deliver(news, at, next),
        }
    }

    #[cold]
    fn on_ack_and_lost_acks(&mut self, news: &AckEvent, at: Time, next: u64) {
        if let Some(lost) = self.remote.lost_acks.take() {
            self.deliver(&news.with(&lost), at, next);
        }
    }

    #[inline(always)]
    fn deliver(&mut self, news: &AckEvent, at: Time, next: u64) {
        let moved = news.ack > self.una;
        let duplicate = news.duplicate && news.ack == self.una;
        if moved || news.sacked > 0 || duplicate {
            self.last_news = at;
        }
        self.newest_delivered = self.newest_delivered.max(news.newest_delivered);
        if moved {
            if news.original_end != 0 {
                self.timer.doubled = Span::ZERO;
            }
            self.una = self.una.max(news.ack);
            self.last_progress = at;
            self.timer.start = at;
            self.timer.expiries = 0;
            self.timer.rto_then = Span::MAX;
            self.probing.on_progress(self.una, news.advanced);
            self.duplicates = 0;
        }
        self.duplicates += u32::from(duplicate);
        if self.duplicates >= DUP_THRESH {
            self.note_asked();
        }
        self.any_sacked |= news.sacked > 0;
        if news.nothing_outstanding {
            self.any_sacked = false;
        }
        if moved {
            self.return_to_loss_if_silent();
            self.spurious_rto.take_if(|d| !d.all_acked);
        } else if let Some(doubt) = &mut self.spurious_rto {
            doubt.sacks += u32::from(news.sacked > 0);
            doubt.proven |= news.dsack;
        }
        match self.state {
            State::Open => {}
            State::Recovery { recover, .. } => {
                if self.una >= recover {
                    self.leave();
                }
            }
            State::Loss { high, f_rto, first_ts } => {
                self.on_ack_in_loss(news, moved, high, f_rto, first_ts, next)
            }
        }
    }

    fn leave(&mut self) {
        self.left = Some(self.state);
        self.state = State::Open;
        self.duplicates = 0;
        self.spurious_rto = None;
    }

    /// Measures the reaction time of the first packet after an ACK.
    #[inline]
    fn note_reaction(&mut self, now: Time, most: Span) {
        if self.last_sent < self.last_news {
            let took = now - self.last_news;
            if took <= most {
                self.reaction = took.max(self.reaction - self.reaction / 8);
            }
        }
    }

    /// New data leaves; true if it can only be a tail-loss probe, sent by a timer.
    /// `may_probe`: SACK is permitted, and the sender was not waiting for its application. `head`: when the first outstanding
    /// segment left.
    pub fn on_new_data(
        &mut self,
        now: Time,
        flight: u64,
        may_probe: bool,
        head: Time,
        timing: &PathTiming,
    ) -> bool {
        self.note_reaction(now, timing.tolerance);
        let probe = may_probe
            && flight > 0
            && self.state == State::Open
            && !self.any_sacked
            && self.new_data_probes(now, flight, head, timing);
        if flight == 0 {
            self.timer.start = now;
        }
        self.note_clock(now, timing);
        if probe {
            self.probing.begin(self.una + flight + 1);
            self.era.note_probe();
            self.timer.start = now;
        }
        self.on_new_data_after_rto();
        self.sent(now, if probe { Trigger::TimerProbe } else { Trigger::Ack });
        probe
    }

    /// New data leaves close behind other data, so no timer sent it.
    #[inline(always)]
    pub fn on_more_data(&mut self, now: Time, flight: u64) {
        if flight == 0 {
            self.timer.start = now;
        }
        self.on_new_data_after_rto();
        if self.last_sent < self.last_news {
            self.note_reaction(now, SOON);
            self.probing.on_sent_on_ack();
        }
        self.sent(now, Trigger::Ack);
    }

    /// New data begins at `start`: when the repair began no more than what lies below it had been sent.
    #[inline]
    pub fn bound(&mut self, start: u64) {
        match &mut self.state {
            State::Open => {}
            State::Recovery { recover, .. } => *recover = start.min(*recover),
            State::Loss { high, .. } => *high = start.min(*high),
        }
        if let State::Recovery { recover: end, .. } | State::Loss { high: end, .. } = self.state
            && self.una >= end
        {
            self.leave();
        }
    }

    #[inline]
    fn sent(&mut self, now: Time, trigger: Trigger) {
        self.pacing.on_sent(now, self.last_sent, self.last_news, trigger);
        self.last_sent = now;
        self.last_trigger = trigger;
        self.probing.on_sent();
    }

    /// Explains a retransmission, and moves the model into the state that it shows.
    pub fn explain(&mut self, a: &RetransmittedSegment, timing: &PathTiming) -> Verdict {
        let judge = timing.judge();
        let (before, observed) = (self.state, judge.observe(self, a, timing));
        judge.catch_up(self, a, timing);
        let verdict = if a.acks_seen { judge.judge(self, a, timing) } else { self.judge_unheard(a, timing) };
        self.basic = !a.sack_permitted || a.ts == 0;
        let verdict = self.confirm_or_revert(a, verdict);
        if !matches!(verdict.cause, Cause::Timeout | Cause::Probe) {
            self.note_reaction(a.now, timing.tolerance);
        }
        let again = match verdict.cause {
            Cause::Timeout => false,
            Cause::Recovery => self.state != State::Open && !self.in_loss_state(),
            _ => true,
        };
        self.trace.high = if again { self.trace.high.max(a.end) } else { a.end };
        match verdict.cause {
            Cause::Timeout => self.enter_loss(a, timing),
            Cause::Probe => {
                self.probing.begin(a.next);
                self.era.note_probe();
                self.timer.start = a.now;
            }
            Cause::Recovery => {
                let timed = verdict.evidence == Evidence::Time && a.sacked_above && judge.sees_it_send();
                if timed && (!a.head || self.only_reordering_is_due(a, timing)) {
                    self.era.note_timed_repair();
                }
                self.remote.quick |=
                    self.state == State::Open && self.any_sacked && self.duplicates < DUP_THRESH;
                let begins = !matches!(self.state, State::Recovery { .. });
                self.trace.go_back_n |= !begins
                    && a.acknowledged
                    && !a.sack_permitted
                    && a.start == self.trace.end
                    && !self.sends_new_in_recovery();
                if begins {
                    self.trace.new_in_recovery = 0;
                    self.probing.over();
                    self.state = State::Recovery { recover: a.next, first_ts: a.ts };
                }
                if a.head {
                    self.timer.start = a.now;
                    self.trace.answered_in = if begins { Span::ZERO } else { a.now - self.last_progress };
                }
            }
            _ => {}
        }
        self.trace.end = if a.overtaken { self.trace.end.max(a.end) } else { a.end };
        self.trace.at = a.now;
        self.sent(a.now, verdict.trigger);
        match observed.map(|o| o.with_judged(verdict.cause, before)) {
            Some(o) => Verdict { observed: Some(o), other: o.other(verdict.cause), ..verdict },
            None => verdict,
        }
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
