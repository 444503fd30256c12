//! Why was it sent again? A small model of the sender, driven by what the vantage point sees.
//!
//! The model knows three states, as RFC 5681, 6582 and 6675 do: nothing is being repaired, fast recovery, and
//! the slow start after a timeout. What belongs to one sender only is not modelled, but for one thing that most
//! senders share: F-RTO (RFC 5682), by which a timeout that proves spurious leaves the loss state.

mod afar;
mod age;
mod at_sender;
mod away;
mod clocks;
mod doubt;
pub mod evidence;
mod facts;
mod fired;
mod judge;
mod likelihoods;
mod probing;
mod resent;
mod seat;
mod timer;

use crate::assumptions::DUP_THRESH;
use crate::rows::{Cause, Evidence, Trigger};
use afar::Afar;
use age::Age;
use clocks::{Pacing, Rack};
use doubt::Doubt;
pub use facts::{AckNews, Attempt, Pace, Verdict};
pub use fired::Next;
use probing::Probing;
use resent::Resent;
pub use seat::{AtSender, Away, Seat};
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

/// As many requests by duplicate ACKs are remembered: the sender may hear of them much later.
const ASKED: usize = 4;
/// Within so much of an ACK what follows on other data was set off by it.
const SOON: Span = Span::from_millis(2);
/// Away from the sender: packets that ACKs set off come closer than this, but for those that a queue held up.
const PAUSE: Span = Span::from_millis(80);

/// Fields in the order of their use: those before `resent`, and the first of `afar`, for each packet.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Repair {
    pub state: State,
    una: u64,
    /// When the last ACK with news reached the sender, when the cumulative ACK last moved.
    last_news: Time,
    last_progress: Time,
    /// When the sender last sent anything, and what had set that off.
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
    /// How long after an ACK the sender took to answer it: the longest of late.
    reaction: Span,
    age: Age,
    /// A timeout looked spurious: what the sender makes of it is to be seen.
    doubt: Option<Doubt>,
    /// What three duplicate ACKs asked for last, the newest first.
    asked_for: [u64; ASKED],
    afar: Afar,
    resent: Resent,
    /// The state that it was in before.
    left: Option<State>,
}

impl Default for Repair {
    fn default() -> Repair {
        Repair {
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
            age: Age::default(),
            doubt: None,
            asked_for: [u64::MAX; ASKED],
            afar: Afar::default(),
            resent: Resent::default(),
            left: None,
        }
    }
}

impl Repair {
    /// So many bytes of it are touched by each packet.
    pub(super) const OFTEN: usize = offset_of!(Repair, afar) + Afar::OFTEN;

    /// The cumulative ACK as the sender knows it.
    pub fn una(&self) -> u64 {
        self.una
    }
    pub fn start(&mut self, una: u64) {
        self.una = una;
    }
    /// The other host's SYN, or its answer to ours, reaches the sender: from here on it may send.
    pub fn on_handshake(&mut self, at: Time) {
        if self.last_sent > Time::FAR_PAST {
            return; // it came again, and starts no timer
        }
        self.last_news = at;
        self.timer.start = at;
        self.age.on_handshake(self.una);
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
    /// The last repair ended there.
    pub fn goes_on_at(&self, start: u64) -> bool {
        self.resent.end == start
    }
    pub fn last_news(&self) -> Time {
        self.last_news
    }

    /// How long before `now` it neither sent nor heard anything.
    fn silent(&self, now: Time) -> Span {
        now - self.last_sent.max(self.last_news)
    }

    /// An ACK reaches the sender; `at` is when.
    #[inline]
    pub fn on_ack(&mut self, news: &AckNews, at: Time, next: u64) {
        match self.afar.missed.is_some() {
            true => self.on_ack_and_missed(news, at, next),
            false => self.hear(news, at, next),
        }
    }

    #[cold]
    fn on_ack_and_missed(&mut self, news: &AckNews, at: Time, next: u64) {
        if let Some(missed) = self.afar.missed.take() {
            self.hear(&news.with(&missed), at, next);
        }
    }

    #[inline(always)]
    fn hear(&mut self, news: &AckNews, at: Time, next: u64) {
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
            self.still_repairs();
            self.doubt.take_if(|d| !d.over);
        } else if let Some(doubt) = &mut self.doubt {
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
        self.doubt = None;
    }

    /// The first packet after an ACK: how long it took.
    #[inline]
    fn note_reaction(&mut self, now: Time, most: Span) {
        if self.last_sent < self.last_news {
            let took = now - self.last_news;
            if took <= most {
                self.reaction = took.max(self.reaction - self.reaction / 8);
            }
        }
    }

    /// New data leaves; true if it can only be a tail-loss probe: a timer sent it, not an ACK.
    /// `may_probe`: SACK is permitted, and it was not the application that had held the sender back. `head`: when the
    /// first segment not acknowledged left.
    pub fn on_new_data(&mut self, now: Time, flight: u64, may_probe: bool, head: Time, pace: &Pace) -> bool {
        self.note_reaction(now, pace.tolerance);
        let probe = may_probe
            && flight > 0
            && self.state == State::Open
            && !self.any_sacked
            && self.new_data_probes(now, flight, head, pace);
        if flight == 0 {
            self.timer.start = now;
        }
        self.note_clock(now, pace);
        if probe {
            self.probing.begin(self.una + flight + 1);
            self.age.note_probe();
            self.timer.start = now;
        }
        self.new_data_in_doubt();
        self.sent(now, if probe { Trigger::TimerProbe } else { Trigger::Ack });
        probe
    }

    /// New data leaves close behind other data: no timer sent it.
    #[inline]
    pub fn on_more_data(&mut self, now: Time, flight: u64) {
        if flight == 0 {
            self.timer.start = now;
        }
        self.new_data_in_doubt();
        if self.last_sent < self.last_news {
            self.note_reaction(now, SOON);
            self.probing.on_sent_on_ack();
        }
        self.sent(now, Trigger::Ack);
    }

    /// New data begins at `start`: no more than what lies below it had been sent when the repair began.
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

    /// Explains a retransmission and follows the sender into the state that it shows.
    pub fn explain(&mut self, a: &Attempt, pace: &Pace) -> Verdict {
        let judge = pace.judge();
        let (before, observed) = (self.state, judge.observe(self, a, pace));
        judge.catch_up(self, a, pace);
        let verdict = if a.acks_seen { judge.judge(self, a, pace) } else { self.judge_unheard(a, pace) };
        self.basic = !a.sack_permitted || a.ts == 0;
        let verdict = self.settle_doubt(a, verdict);
        if !matches!(verdict.cause, Cause::Timeout | Cause::Probe) {
            self.note_reaction(a.now, pace.tolerance);
        }
        let again = match verdict.cause {
            Cause::Timeout => false,
            Cause::Recovery => self.state != State::Open && !self.in_loss_state(),
            _ => true,
        };
        self.resent.high = if again { self.resent.high.max(a.end) } else { a.end };
        match verdict.cause {
            Cause::Timeout => self.enter_loss(a, pace),
            Cause::Probe => {
                self.probing.begin(a.next);
                self.age.note_probe();
                self.timer.start = a.now;
            }
            Cause::Recovery => {
                let timed = verdict.evidence == Evidence::Time && a.sacked_above && judge.sees_it_send();
                if timed && (!a.head || self.only_reordering_is_due(a, pace)) {
                    self.age.note_timed_repair();
                }
                self.afar.quick |=
                    self.state == State::Open && self.any_sacked && self.duplicates < DUP_THRESH;
                let begins = !matches!(self.state, State::Recovery { .. });
                self.resent.goes_back |= !begins
                    && a.acknowledged
                    && !a.sack_permitted
                    && a.start == self.resent.end
                    && !self.inflates();
                if begins {
                    self.resent.inflated = 0;
                    self.probing.over();
                    self.state = State::Recovery { recover: a.next, first_ts: a.ts };
                }
                if a.head {
                    self.timer.start = a.now;
                    self.resent.answered_in = if begins { Span::ZERO } else { a.now - self.last_progress };
                }
            }
            _ => {}
        }
        self.resent.end = if a.overtaken { self.resent.end.max(a.end) } else { a.end };
        self.resent.at = a.now;
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
