//! One retransmission, judged by what the model of the sender knows.

use super::{Attempt, LEAST_RTO, Pace, Repair, State, Verdict};
use crate::rows::{Cause, Evidence, Trigger};
use wire::Span;

impl Repair {
    pub(super) fn judge(&self, a: &Attempt, pace: &Pace) -> Verdict {
        let since_news = a.now - self.last_news;
        let by_ack = since_news <= pace.tolerance;
        let in_train = a.now - self.last_sent <= pace.tolerance;
        let silent = self.silent(a.now);
        let waited = a.now - self.timer_start.max(a.previous);
        let shortest = pace.rto.scale(0.45).min(self.timer_wait.max(LEAST_RTO).scale(0.85));
        let timer_could_fire = waited >= pace.srtt.max(shortest);
        // Nothing sent after the copy before this one has arrived: no ACK can have told that it was lost.
        let nothing_newer = self.newest_delivered <= a.previous;
        let quiet = !by_ack && !in_train;
        let tight = self.tight(pace);
        let unprompted = since_news > tight && a.now - self.last_sent > tight;

        // A timer repeats the first segment. From afar the sender's SRTT may be far longer than what is seen of it.
        let may_be_probe_afar = pace.grain.is_none() && !a.head;
        if quiet
            && a.tail
            && a.sack_permitted
            && !self.probing.outstanding()
            && !self.probing.has_none()
            && (!a.head || self.may_probe_alone())
            && self.probes_now()
            && silent >= if a.head { lone_probe(pace) } else { probe_timeout(pace) }
            && (silent <= last_probe(a.head, pace) || may_be_probe_afar)
        {
            return Verdict { cause: Cause::Probe, trigger: Trigger::TimerProbe, ..Verdict::default() };
        }
        let head_again = a.head && a.previous_was_resend && nothing_newer;
        // Without SACK nothing but the timer repeats a repair of the first segment (RFC 6582 §3.2); it may have been
        // running since the first partial ACK.
        let in_recovery = matches!(self.state, State::Recovery { .. });
        let round = a.now - self.last_progress.max(a.previous) >= pace.srtt && quiet;
        let hopeless =
            head_again && in_recovery && unprompted && pace.grain.is_some() && (!a.sack_permitted || round);
        // What had arrived was not asked for by any ACK.
        let unasked = pace.grain.is_none()
            && a.acknowledged
            && !a.sack_permitted
            && self.doubt.is_none()
            && match self.state {
                State::Open => {
                    // Amid what it sends and hears only an ACK can have asked for it, one doubled on its way perhaps.
                    (silent >= LEAST_RTO.scale(0.3) || a.now - self.last_progress >= LEAST_RTO.scale(0.95))
                        && self.duplicates == 0
                        && a.start != self.resent_end
                        && !self.asked_for.contains(&a.start)
                }
                // One that was overtaken had its turn before. Tahoe goes on with what follows, and begins again when that has caused three duplicate ACKs.
                State::Recovery { .. } => {
                    a.start < self.resent_end
                        && !a.overtaken
                        && !(self.goes_back && self.duplicates >= 3)
                        && (!in_train || a.end == self.resent_end)
                }
                State::Loss { .. } => false,
            };
        // No ACK could have told that it was lost again: with SACK (RFC 6675 §4), or so soon.
        let unheard_of = pace.grain.is_some()
            && head_again
            && self.newest_delivered < a.previous
            && (a.sack_permitted && waited >= pace.srtt.scale(0.8)
                || unprompted && a.now - a.previous < pace.srtt);
        let by_timer = match pace.grain {
            Some(_) => a.head && timer_could_fire && (quiet || unprompted || head_again),
            None => a.head && self.timer_from_afar(a, pace),
        };
        if a.one_segment && (hopeless || unheard_of || unasked || by_timer) {
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
        // What has arrived since is no longer outstanding here; slow start goes upwards.
        let passed =
            pace.grain.is_none() && a.start < self.resent_high && (a.acknowledged || !a.sack_permitted);
        let again = passed || a.previous_was_resend && a.previous >= self.loss_since;
        // Without SACK three duplicate ACKs tell it to senders that do not mind the timeout before (RFC 6582 §4.1 does).
        let lost_again =
            again && (a.sack_permitted || a.head && (self.duplicates >= 3 || a.start == self.asked_for[0]));
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
    pub(super) fn judge_unheard(&mut self, a: &Attempt, pace: &Pace) -> Verdict {
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
    pub(super) fn probes_now(&self) -> bool {
        self.state == State::Open && !self.any_sacked && self.duplicates == 0
    }
}

/// The longest time after which a tail-loss probe leaves: 2 SRTT, and 200 ms for a single segment, whose ACK may be
/// delayed (RFC 8985 §7.2); with what SRTT may be off and the timer's own delay.
fn last_probe(alone: bool, pace: &Pace) -> Span {
    pace.srtt.scale(3.0) + Span::from_millis(if alone { 250 } else { 50 })
}

/// The least time after which a single segment is probed for: its ACK may be delayed by 200 ms, and the timer that
/// would come sooner is no shorter than SRTT and 200 ms (Linux).
fn lone_probe(pace: &Pace) -> Span {
    probe_timeout(pace).max(pace.srtt.scale(0.75) + Span::from_millis(200))
}

/// The least time after which a tail-loss probe may leave: 2 SRTT (RFC 8985 §7.2), less what SRTT may be off,
/// and 2 ms of the timer's own; less than 5 ms would be any pause of an application.
fn probe_timeout(pace: &Pace) -> Span {
    (pace.srtt.scale(1.5) + Span::from_millis(2)).max(Span::from_millis(5))
}
