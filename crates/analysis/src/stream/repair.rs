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
mod seat;

use crate::rows::{Cause, Evidence, Trigger};
use age::Age;
use clocks::{Rack, Rhythm};
use doubt::Doubt;
pub use facts::{AckNews, Attempt, Pace, Verdict};
pub use fired::Next;
use fired::{Fired, Unsure, doubles};
use probing::Probing;
pub use seat::Seat;
use std::collections::VecDeque;
use std::mem::offset_of;
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
/// No stack's timer is shorter outside data centres.
pub const LEAST_RTO: Span = Span::from_millis(200);
/// Away from the sender a timer's silence lasts so long at least: the shortest's, less what the path may take away.
pub const TIMERS_SILENCE: Span = Span::from_millis(170);
/// Away from the sender: packets that ACKs set off come closer than this, but for those that a queue held up.
const PAUSE: Span = Span::from_millis(80);

/// Fields in the order of their use: those before `heard` for each packet.
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
    rhythm: Rhythm,
    /// When the timer was last (re)started for sure.
    timer_start: Time,
    newest_delivered: Time,
    rack: Rack,
    /// The least RTO since the cumulative ACK last moved, where round trips were told since.
    rto_then: Span,
    /// How long after an ACK the sender took to answer it: the longest of late.
    reaction: Span,
    /// How long it waits next while nothing but repeated segments is acknowledged, of which no round trip is taken
    /// (Karn's rule, RFC 6298 §3): what has doubled stays so (§5.5). 0 once that is over.
    doubled: Span,
    /// What ACKs said that were lost on their way to the sender, until the next is heard.
    missed: Option<Box<AckNews>>,
    /// Timeouts in a row without progress.
    pub expiries: u32,
    /// New data packets since three duplicate ACKs were heard.
    passed_over: u32,
    age: Age,
    /// A timeout looked spurious: what the sender makes of it is to be seen.
    doubt: Option<Doubt>,
    /// What three duplicate ACKs asked for last, the newest first.
    asked_for: [u64; ASKED],
    /// Away from the sender: ACKs taken for heard of late, one of every few milliseconds, the newest last.
    heard: VecDeque<(u64, Time)>,
    /// When the timer last fired, and how often without progress.
    loss_since: Time,
    firings: u32,
    /// After a fast retransmit it sends again what had arrived: Tahoe.
    goes_back: bool,
    /// It went on repairing before.
    goes_on: bool,
    /// Where the last repair ended, and the highest since the repair began.
    resent_end: u64,
    resent_high: u64,
    /// When it left.
    last_resent: Time,
    /// How long after the cumulative ACK that asked for it the last repair in fast recovery came.
    answered_in: Span,
    /// How long the timer waits, as its last first expiry showed.
    timer_wait: Span,
    /// The shortest silence that it ended.
    least_wait: Span,
    /// It waits for a second at least (RFC 6298 §2.4), where Linux would not have.
    slow_timer: bool,
    /// The state that it was in before.
    left: Option<State>,
    /// The first segment not acknowledged when a repair was lost on its way to where this is seen from.
    lost_repair: (u64, Time),
    /// Fewer than three duplicate ACKs were enough for a repair (RFC 8985 §6.2).
    quick: bool,
    /// Away from the sender: the most that it had in flight since it last took something for lost.
    flight: u64,
    /// How things stood before the timer was taken to have fired.
    fired: Option<Fired>,
    /// Away from the sender: what the last repair of the first segment was is to be seen by what comes next.
    unsure: Unsure,
}

impl Default for Repair {
    fn default() -> Repair {
        Repair {
            state: State::Open,
            expiries: 0,
            duplicates: 0,
            asked_for: [u64::MAX; ASKED],
            any_sacked: false,
            last_news: Time::FAR_PAST,
            last_progress: Time::FAR_PAST,
            last_sent: Time::FAR_PAST,
            last_trigger: Trigger::Unrepaired,
            timer_start: Time::FAR_PAST,
            newest_delivered: Time::FAR_PAST,
            rto_then: Span::MAX,
            rack: Rack { newest: (Time::FAR_PAST, 0), rtt: Span::ZERO },
            rhythm: Rhythm::default(),
            slow_timer: false,
            loss_since: Time::FAR_PAST,
            firings: 0,
            probing: Probing::default(),
            age: Age::default(),
            doubt: None,
            resent_end: 0,
            resent_high: 0,
            last_resent: Time::FAR_PAST,
            goes_back: false,
            answered_in: Span::ZERO,
            timer_wait: Span::MAX,
            doubled: Span::ZERO,
            least_wait: Span::MAX,
            basic: false,
            goes_on: false,
            reaction: Span::ZERO,
            una: 0,
            missed: None,
            left: None,
            lost_repair: (0, Time::FAR_PAST),
            passed_over: 0,
            heard: VecDeque::new(),
            quick: false,
            flight: 0,
            fired: None,
            unsure: Unsure::default(),
        }
    }
}

impl Repair {
    /// So many bytes of it are touched by each packet.
    pub(super) const OFTEN: usize = offset_of!(Repair, heard);

    /// As if new, with the room it has.
    pub fn clear(&mut self) {
        self.heard.clear();
        *self = Repair { heard: std::mem::take(&mut self.heard), ..Repair::default() };
    }
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
        self.timer_start = at;
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
        self.timer_start
    }
    pub fn last_resent(&self) -> Time {
        self.last_resent
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
        match self.missed.is_some() {
            true => self.on_ack_and_missed(news, at, next),
            false => self.hear(news, at, next),
        }
    }

    #[cold]
    fn on_ack_and_missed(&mut self, news: &AckNews, at: Time, next: u64) {
        if let Some(missed) = self.missed.take() {
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
                self.doubled = Span::ZERO;
            }
            self.una = self.una.max(news.ack);
            self.last_progress = at;
            self.timer_start = at;
            self.expiries = 0;
            self.rto_then = Span::MAX;
            self.probing.on_progress(self.una, news.advanced);
            self.duplicates = 0;
        }
        self.duplicates += u32::from(duplicate);
        if self.duplicates >= 3 {
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
            self.timer_start = now;
        }
        self.note_clock(now, pace);
        if probe {
            self.probing.begin(self.una + flight + 1);
            self.age.note_probe();
            self.timer_start = now;
        }
        self.new_data_in_doubt();
        self.sent(now, if probe { Trigger::TimerProbe } else { Trigger::Ack });
        probe
    }

    /// New data leaves close behind other data: no timer sent it.
    #[inline]
    pub fn on_more_data(&mut self, now: Time, flight: u64) {
        if flight == 0 {
            self.timer_start = now;
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
        self.rhythm.on_sent(now, self.last_sent, self.last_news, trigger);
        self.last_sent = now;
        self.last_trigger = trigger;
        self.probing.on_sent();
    }

    /// Explains a retransmission and follows the sender into the state that it shows.
    pub fn explain(&mut self, a: &Attempt, pace: &Pace) -> Verdict {
        let (before, observed) = (self.state, self.observe(a, pace));
        self.catch_up(a, pace);
        let verdict = if a.acks_seen { self.judge(a, pace) } else { self.judge_unheard(a, pace) };
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
        self.resent_high = if again { self.resent_high.max(a.end) } else { a.end };
        match verdict.cause {
            Cause::Timeout => self.enter_loss(a, pace),
            Cause::Probe => {
                self.probing.begin(a.next);
                self.age.note_probe();
                self.timer_start = a.now;
            }
            Cause::Recovery => {
                let timed = verdict.evidence == Evidence::Time && a.sacked_above && pace.seat != Seat::Away;
                if timed && (!a.head || self.only_reordering_is_due(a, pace)) {
                    self.age.note_timed_repair();
                }
                self.quick |= self.state == State::Open && self.any_sacked && self.duplicates < 3;
                let begins = !matches!(self.state, State::Recovery { .. });
                self.goes_back |=
                    !begins && a.acknowledged && !a.sack_permitted && a.start == self.resent_end;
                if begins {
                    self.probing.over();
                    self.flight = 0;
                    self.state = State::Recovery { recover: a.next, first_ts: a.ts };
                }
                if a.head {
                    self.timer_start = a.now;
                    self.answered_in = if begins { Span::ZERO } else { a.now - self.last_progress };
                }
            }
            _ => {}
        }
        self.keep_in_mind(a, pace);
        self.resent_end = if a.overtaken { self.resent_end.max(a.end) } else { a.end };
        self.last_resent = a.now;
        self.sent(a.now, verdict.trigger);
        match observed.map(|o| o.with_judged(verdict.cause, before)) {
            Some(o) => Verdict { observed: Some(o), other: o.other(verdict.cause), ..verdict },
            None => verdict,
        }
    }

    /// The timer waited so long before it fired for the first time, seen from where it runs.
    fn note_floor(&mut self, waited: Span, now: Time, pace: &Pace) {
        if waited < Span::from_secs(1).scale(0.9) {
            self.slow_timer = false;
        } else if waited > pace.rto.scale(1.3) {
            self.slow_timer |= self.is_a_second(waited, now, pace);
        }
    }

    /// The timer has fired.
    fn enter_loss(&mut self, a: &Attempt, pace: &Pace) {
        let repairs = self.was_repairing(a, pace);
        let waited = a.now - self.timer_start.max(a.previous);
        let lost = match pace.seat {
            Seat::AtSender { .. } => 0, // every copy is seen
            Seat::Away => self.attempts_by(a.now, a.previous, pace).min(a.missing.unwrap_or(16)).min(16),
        };
        // With timestamps every ACK tells a round trip (RFC 7323 §4).
        self.doubled = if a.ts == 0 { doubles(waited, lost) } else { Span::ZERO };
        if self.expiries == 0 && self.saw_it_begin(a, pace) {
            self.least_wait = self.least_wait.min(waited);
            let once = waited / ((2i64 << lost) - 1);
            if lost == 0 || afar::is_exactly_a_second(once) {
                self.note_floor(once, a.now, pace);
            }
            self.timer_wait = once;
        }
        // RFC 8985 §7.2: with more than one segment in flight a probe would have come long before.
        let due = self.probes_now() && !(a.head && a.tail) && self.last_news > Time::FAR_PAST;
        if due && a.sack_permitted && !self.probing.outstanding() {
            self.probing.miss();
        }
        // F-RTO needs a timeout outside recovery, or a repeated one (RFC 5682 §2.1).
        let f_rto = (!repairs || self.expiries > 0 || lost > 0) && !self.slow_timer;
        let first_ts = match self.state {
            State::Loss { first_ts, .. } if self.expiries > 0 || self.age.recent() => first_ts,
            // RFC 3522 §3.2: that of the retransmission which began the repair.
            State::Recovery { first_ts, .. } => first_ts,
            _ if pace.seat == Seat::Away => self.repaired_before(a).unwrap_or(a.ts),
            _ => a.ts,
        };
        self.state = State::Loss { high: a.next, f_rto, first_ts };
        self.loss_since = a.now;
        self.flight = 0;
        self.expiries += 1;
        self.firings = self.expiries;
        self.probing.over();
        self.timer_start = a.now;
        self.duplicates = 0;
    }
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
