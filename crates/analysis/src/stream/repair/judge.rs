//! What both judges of a retransmission go by, wherever the sender is watched from.

use super::{Attempt, Pace, Repair, State, Verdict};
use crate::assumptions::{DELAYED_ACK, DUP_THRESH, MIN_RTO};
use crate::rows::{Cause, Evidence, Trigger};
use wire::Span;

/// What a retransmission came behind.
pub(super) struct By {
    pub(super) since_news: Span,
    /// An ACK; another packet.
    ack: bool,
    pub(super) train: bool,
}

impl By {
    pub(super) fn of(sender: &Repair, a: &Attempt, pace: &Pace) -> By {
        let since_news = a.now - sender.last_news;
        let train = a.now - sender.last_sent <= pace.tolerance;
        By { since_news, ack: since_news <= pace.tolerance, train }
    }
    /// Neither.
    pub(super) fn quiet(&self) -> bool {
        !self.ack && !self.train
    }
}

impl Verdict {
    pub(super) const PROBE: Verdict = Verdict {
        cause: Cause::Probe,
        evidence: Evidence::None,
        trigger: Trigger::TimerProbe,
        backoff: 0,
        observed: None,
        other: None,
    };
}

/// The timer fired.
pub(super) fn timer(sender: &Repair) -> Verdict {
    Verdict {
        cause: Cause::Timeout,
        trigger: Trigger::TimerRto,
        backoff: sender.timer.expiries,
        ..Verdict::default()
    }
}

/// What was sent again since the timeout is asked for once more: without SACK three duplicate ACKs tell it to senders
/// that do not mind the timeout before (RFC 6582 §4.1 does).
pub(super) fn is_asked_again(sender: &Repair, a: &Attempt) -> bool {
    let asked = sender.duplicates >= DUP_THRESH || a.start == sender.asked_for[0];
    // Slow start goes upwards only.
    let back = a.start < sender.resent.end && !a.overtaken;
    a.sack_permitted || a.head && (asked || back)
}

/// An ACK set it off: in the slow start after a timeout, or for a loss that ACKs told. `lost_again`: it was sent again
/// before, since the timeout, and is known to be lost.
pub(super) fn prompted(sender: &Repair, a: &Attempt, by: &By, lost_again: bool) -> Verdict {
    let trigger = if by.ack {
        Trigger::Ack
    } else if by.train && sender.last_trigger != Trigger::Unrepaired {
        sender.last_trigger
    } else {
        Trigger::Ack // RACK's reordering timer, or pacing: an ACK armed it
    };
    if sender.in_loss_state() && !lost_again {
        return Verdict { cause: Cause::LossState, trigger, ..Verdict::default() };
    }
    let evidence = match () {
        () if by.quiet() => Evidence::Time,
        () if a.sacked_above => Evidence::Sack,
        () if sender.duplicates > 0 || sender.state != State::Open => Evidence::Dupack,
        () => Evidence::Time,
    };
    Verdict { cause: Cause::Recovery, evidence, trigger, ..Verdict::default() }
}

impl Repair {
    /// Without a single ACK to go by only the timer tells itself, by the silence before it.
    pub(super) fn judge_unheard(&mut self, a: &Attempt, pace: &Pace) -> Verdict {
        if !a.previous_was_resend {
            self.timer.expiries = 0;
        }
        if a.now - self.last_sent.max(a.previous) < MIN_RTO.max(pace.rto.scale(0.45)) {
            // Not after a timer's silence: set off by an ACK, for whatever reason.
            return Verdict { trigger: Trigger::Ack, ..Verdict::default() };
        }
        timer(self)
    }

    /// A tail-loss probe goes out only while nothing is known to be missing (RFC 8985 §7.2).
    pub fn probes_now(&self) -> bool {
        self.state == State::Open && !self.any_sacked && self.duplicates == 0
    }

    /// A tail-loss probe repeats the last segment, once, after its own timeout (RFC 8985 §7.3).
    pub(super) fn probe_is_due(&self, a: &Attempt, pace: &Pace) -> bool {
        let after = if a.head { lone_probe(pace) } else { probe_timeout(pace) };
        a.tail
            && a.sack_permitted
            && !self.probing.outstanding()
            && (!a.head || self.may_probe_alone())
            && self.probes_now()
            && self.silent(a.now) >= after.min(pace.judge().rto_for_probe(pace))
    }

    /// No later than any probe.
    pub(super) fn probe_is_not_late(&self, a: &Attempt, pace: &Pace) -> bool {
        self.silent(a.now) <= last_probe(a.head, pace)
    }
}

/// How much later than it is due a probe leaves at most: timers run in ticks, and hosts are busy.
const PROBE_LATE: Span = Span::from_millis(50);

/// The longest time after which a tail-loss probe leaves: 2 SRTT, and 200 ms for a single segment, whose ACK may be
/// delayed (RFC 8985 §7.2); with what SRTT may be off and the timer's own delay.
fn last_probe(alone: bool, pace: &Pace) -> Span {
    pace.srtt.scale(3.0) + if alone { DELAYED_ACK + PROBE_LATE } else { PROBE_LATE }
}

/// The least time after which a single segment is probed for: its ACK may be delayed by 200 ms, and the timer that
/// would come sooner is no shorter than SRTT and 200 ms (Linux).
fn lone_probe(pace: &Pace) -> Span {
    probe_timeout(pace).max(pace.srtt.scale(0.75) + DELAYED_ACK)
}

/// The least time after which a tail-loss probe may leave: 2 SRTT (RFC 8985 §7.2), less what SRTT may be off,
/// and 2 ms of the timer's own; less than 5 ms would be any pause of an application.
fn probe_timeout(pace: &Pace) -> Span {
    (pace.srtt.scale(1.5) + Span::from_millis(2)).max(Span::from_millis(5))
}
