//! Why was it sent again? A small model of the sender, driven by what the vantage point sees.
//!
//! The model knows three states, as RFC 5681, 6582 and 6675 do: nothing is being repaired, fast recovery, and
//! the slow start after a timeout. What belongs to one sender only is not modelled, but for one thing that most
//! senders share: F-RTO (RFC 5682), by which a timeout that proves spurious leaves the loss state.

use crate::rows::{Cause, Evidence, Trigger};
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

/// An ACK as it reaches the sender: what it changed.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckNews {
    pub time: Time,
    pub ack: u64,
    /// Bytes that the cumulative ACK moved on by.
    pub advanced: u64,
    /// Bytes newly SACKed.
    pub sacked: u64,
    /// A duplicate ACK (RFC 5681 §2).
    pub duplicate: bool,
    pub dsack: bool,
    /// Bytes among them that no SACK had reported before.
    pub advanced_new: u64,
    /// Data sent only once became acknowledged or SACKed: the end of the lowest such segment, 0 for none.
    pub original_end: u64,
    pub ecr: Option<u32>,
    /// The ACK's own timestamp, by which data that echoes it shows that it was heard.
    pub ts: Option<u32>,
    /// The sending time of the newest copy it proves delivered (RACK.xmit_ts, RFC 8985 §6.2).
    pub newest_delivered: Time,
    pub nothing_outstanding: bool,
}

impl AckNews {
    /// Data that was sent only once, up to `end`, has arrived: tells a needless timeout (RFC 5682).
    #[inline]
    pub fn note_original(&mut self, end: u64) {
        if self.original_end == 0 || end < self.original_end {
            self.original_end = end;
        }
    }
}

/// A retransmission to be explained.
#[derive(Clone, Copy, Debug)]
pub struct Attempt {
    pub now: Time,
    /// It repeats the first segment not acknowledged; the last one sent.
    pub head: bool,
    pub tail: bool,
    /// When the copy before it was sent, and whether that was a retransmission itself.
    pub previous: Time,
    pub previous_was_resend: bool,
    /// Data above it has been SACKed.
    pub sacked_above: bool,
    pub sack_permitted: bool,
    /// ACKs of this stream pass here at all.
    pub acks_seen: bool,
    /// The highest sequence number sent.
    pub next: u64,
    pub ts: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub cause: Cause,
    pub evidence: Evidence,
    pub trigger: Trigger,
    pub backoff: u32,
}

/// What is known of time on this path.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// How close to an ACK a packet must be to have been sent because of it: max(2 ms, RTTmin/10).
    pub tolerance: Span,
    pub srtt: Span,
    /// The RTO as RFC 6298 computes it with Linux's floor of 200 ms.
    pub rto: Span,
}

/// No stack's timer is shorter outside data centres.
const LEAST_RTO: Span = Span::from_millis(200);

#[derive(Clone, Debug)]
pub struct Repair {
    pub state: State,
    /// Timeouts in a row without progress.
    pub expiries: u32,
    duplicates: u32,
    any_sacked: bool,
    /// When the last ACK with news reached the sender, when the cumulative ACK last moved.
    last_news: Time,
    last_progress: Time,
    /// When the sender last sent anything, and what had set that off.
    last_sent: Time,
    last_trigger: Trigger,
    /// When the timer was last (re)started for sure.
    timer_start: Time,
    newest_delivered: Time,
    /// When the timer last fired.
    loss_since: Time,
    /// A tail-loss probe went out and nothing was acknowledged since.
    probing: bool,
    una: u64,
}

impl Default for Repair {
    fn default() -> Repair {
        Repair {
            state: State::Open,
            expiries: 0,
            duplicates: 0,
            any_sacked: false,
            last_news: Time::FAR_PAST,
            last_progress: Time::FAR_PAST,
            last_sent: Time::FAR_PAST,
            last_trigger: Trigger::Unrepaired,
            timer_start: Time::FAR_PAST,
            newest_delivered: Time::FAR_PAST,
            loss_since: Time::FAR_PAST,
            probing: false,
            una: 0,
        }
    }
}

impl Repair {
    /// The cumulative ACK as the sender knows it.
    pub fn una(&self) -> u64 {
        self.una
    }
    pub fn start(&mut self, una: u64) {
        self.una = una;
    }
    /// The other host's SYN, or its answer to ours, reaches the sender: from here on it may send.
    pub fn on_handshake(&mut self, at: Time) {
        self.last_news = at;
        self.timer_start = at;
    }
    pub fn in_loss_state(&self) -> bool {
        matches!(self.state, State::Loss { .. })
    }
    /// When the retransmission timer was last started, as far as can be told.
    pub fn timer_start(&self) -> Time {
        self.timer_start
    }
    pub fn last_news(&self) -> Time {
        self.last_news
    }

    /// An ACK reaches the sender; `at` is when.
    pub fn on_ack(&mut self, news: &AckNews, at: Time, next: u64) {
        let moved = news.advanced > 0;
        if moved || news.sacked > 0 || news.duplicate {
            self.last_news = at;
        }
        self.newest_delivered = self.newest_delivered.max(news.newest_delivered);
        if moved {
            self.una = self.una.max(news.ack);
            self.last_progress = at;
            self.timer_start = at;
            self.expiries = 0;
            self.probing = false;
            self.duplicates = 0;
        }
        self.duplicates += u32::from(news.duplicate);
        self.any_sacked |= news.sacked > 0;
        if news.nothing_outstanding {
            self.any_sacked = false;
        }
        match self.state {
            State::Open => {}
            State::Recovery { recover, .. } => {
                if self.una >= recover {
                    self.leave();
                }
            }
            State::Loss { high, f_rto, first_ts } => self.on_ack_in_loss(news, high, f_rto, first_ts, next),
        }
    }

    fn on_ack_in_loss(&mut self, news: &AckNews, high: u64, f_rto: bool, first_ts: u32, next: u64) {
        let moved = news.advanced > 0;
        // Eifel detection (RFC 3522): the ACK echoes a clock from before the timer's retransmission.
        let delayed = moved
            && first_ts != 0
            && news.ecr.is_some_and(|e| e != 0 && (e.wrapping_sub(first_ts) as i32) < 0);
        // RFC 5682 §3.1: data sent once, before the timeout, has arrived: not all of it was lost.
        let original = f_rto && news.original_end != 0 && news.original_end <= high;
        if delayed || original || self.una >= high {
            self.leave();
        } else if f_rto && next > high && (news.sacked > 0 || news.duplicate) {
            // RFC 5682 §3.1 step 3a: new data was sent, and a duplicate ACK came: the loss was real.
            self.state = State::Loss { high, f_rto: false, first_ts };
        }
    }

    fn leave(&mut self) {
        self.state = State::Open;
        self.duplicates = 0;
    }

    /// New data leaves; true if it can only be a tail-loss probe: a timer sent it, not an ACK.
    /// `may_probe`: SACK is permitted, and it was not the application that had held the sender back.
    pub fn on_new_data(&mut self, now: Time, flight: u64, may_probe: bool, pace: &Pace) -> bool {
        let waited = now - self.last_sent.max(self.last_news);
        let probe = may_probe
            && flight > 0
            && !self.probing
            && self.state == State::Open
            && !self.any_sacked
            && waited >= probe_timeout(pace).max(pace.tolerance);
        if flight == 0 {
            self.timer_start = now;
        }
        if probe {
            self.probing = true;
            self.timer_start = now;
        }
        self.sent(now, if probe { Trigger::TimerProbe } else { Trigger::Ack });
        probe
    }

    /// New data leaves close behind other data: no timer sent it.
    #[inline]
    pub fn on_more_data(&mut self, now: Time, flight: u64) {
        if flight == 0 {
            self.timer_start = now;
        }
        self.sent(now, Trigger::Ack);
    }

    fn sent(&mut self, now: Time, trigger: Trigger) {
        self.last_sent = now;
        self.last_trigger = trigger;
    }

    /// Explains a retransmission and follows the sender into the state that it shows.
    pub fn explain(&mut self, a: &Attempt, pace: &Pace) -> Verdict {
        let verdict = if a.acks_seen { self.judge(a, pace) } else { self.judge_unheard(a, pace) };
        match verdict.cause {
            Cause::Timeout => {
                // F-RTO needs a timeout outside recovery, or a repeated one (RFC 5682 §2.1).
                let f_rto =
                    !matches!(self.state, State::Recovery { .. } | State::Loss { .. }) || self.expiries > 0;
                let first_ts = match self.state {
                    State::Loss { first_ts, .. } if self.expiries > 0 => first_ts,
                    // RFC 3522 §3.2: that of the retransmission which began the repair.
                    State::Recovery { first_ts, .. } => first_ts,
                    _ => a.ts,
                };
                self.state = State::Loss { high: a.next, f_rto, first_ts };
                self.loss_since = a.now;
                self.expiries += 1;
                self.probing = false;
                self.timer_start = a.now;
                self.duplicates = 0;
            }
            Cause::Probe => {
                self.probing = true;
                self.timer_start = a.now;
            }
            Cause::Recovery => {
                if !matches!(self.state, State::Recovery { .. }) {
                    self.state = State::Recovery { recover: a.next, first_ts: a.ts };
                }
                if a.head {
                    self.timer_start = a.now;
                }
            }
            _ => {}
        }
        self.sent(a.now, verdict.trigger);
        verdict
    }

    fn judge(&self, a: &Attempt, pace: &Pace) -> Verdict {
        let since_news = a.now - self.last_news;
        let by_ack = since_news <= pace.tolerance;
        let in_train = a.now - self.last_sent <= pace.tolerance;
        let silent = a.now - self.last_sent.max(self.last_news);
        let waited = a.now - self.timer_start.max(a.previous);
        let timer_could_fire = waited >= pace.srtt.max(pace.rto.scale(0.45));
        // Nothing sent after the copy before this one has arrived: no ACK can have told that it was lost.
        let nothing_newer = self.newest_delivered <= a.previous;
        let quiet = !by_ack && !in_train;

        if quiet
            && a.tail
            && a.sack_permitted
            && !self.probing
            && self.probes_now()
            && silent >= probe_timeout(pace)
        {
            return Verdict { cause: Cause::Probe, trigger: Trigger::TimerProbe, ..Verdict::default() };
        }
        let head_again = a.head && a.previous_was_resend && nothing_newer;
        if a.head && timer_could_fire && (quiet || head_again) {
            return Verdict {
                cause: Cause::Timeout,
                trigger: Trigger::TimerRto,
                backoff: self.expiries,
                evidence: Evidence::None,
            };
        }
        let trigger = if by_ack {
            Trigger::Ack
        } else if in_train && self.last_trigger != Trigger::Unrepaired {
            self.last_trigger
        } else {
            Trigger::Ack // RACK's reordering timer, or pacing: an ACK armed it
        };
        // RFC 8985 §6.2: what was sent again since the timeout is found lost by ACKs; the timer's repair is over.
        let lost_again = a.sack_permitted && a.previous_was_resend && a.previous >= self.loss_since;
        if self.in_loss_state() && !lost_again {
            return Verdict { cause: Cause::LossState, trigger, ..Verdict::default() };
        }
        let evidence = match () {
            () if !by_ack && !in_train => Evidence::Time,
            () if a.sacked_above => Evidence::Sack,
            () if self.duplicates > 0 || self.state != State::Open => Evidence::Dupack,
            () => Evidence::Time,
        };
        Verdict { cause: Cause::Recovery, evidence, trigger, backoff: 0 }
    }

    /// Without a single ACK to go by only the timer tells itself, by the silence before it.
    fn judge_unheard(&mut self, a: &Attempt, pace: &Pace) -> Verdict {
        if !a.previous_was_resend {
            self.expiries = 0;
        }
        if a.now - self.last_sent.max(a.previous) < LEAST_RTO.max(pace.rto.scale(0.45)) {
            // Not after a timer's silence: set off by an ACK, for whatever reason.
            return Verdict { trigger: Trigger::Ack, ..Verdict::default() };
        }
        let trigger = Trigger::TimerRto;
        Verdict { cause: Cause::Timeout, trigger, backoff: self.expiries, ..Verdict::default() }
    }

    /// A tail-loss probe goes out only while nothing is known to be missing (RFC 8985 §7.2).
    fn probes_now(&self) -> bool {
        self.state == State::Open && !self.any_sacked && self.duplicates == 0
    }
}

/// The least time after which a tail-loss probe may leave: 2 SRTT (RFC 8985 §7.2), less what SRTT may be off,
/// and 2 ms of the timer's own; less than 5 ms would be any pause of an application.
fn probe_timeout(pace: &Pace) -> Span {
    (pace.srtt.scale(1.5) + Span::from_millis(2)).max(Span::from_millis(5))
}

#[cfg(test)]
#[path = "repair_tests.rs"]
mod tests;
