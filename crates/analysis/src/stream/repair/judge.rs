//! What both judges of a retransmission share, wherever the capture was taken.

use super::{PathTiming, RetransmittedSegment, SenderModel, State, Verdict};
use crate::assumptions::{DELAYED_ACK, DUP_THRESH, MIN_RTO};
use crate::rows::{Cause, Evidence, Trigger};
use wire::Span;

/// What came shortly before a retransmission.
pub(super) struct By {
    pub(super) since_news: Span,
    /// An ACK that reported something came within the tolerance.
    ack: bool,
    /// Another packet left within the tolerance.
    pub(super) train: bool,
}

impl By {
    pub(super) fn of(sender: &SenderModel, a: &RetransmittedSegment, timing: &PathTiming) -> By {
        let since_news = a.now - sender.last_news;
        let train = a.now - sender.last_sent <= timing.tolerance;
        By { since_news, ack: since_news <= timing.tolerance, train }
    }
    /// Neither an ACK nor a packet came shortly before.
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
pub(super) fn timer(sender: &SenderModel) -> Verdict {
    Verdict {
        cause: Cause::Timeout,
        trigger: Trigger::TimerRto,
        backoff: sender.timer.expiries,
        ..Verdict::default()
    }
}

/// ACKs ask again for a segment that was retransmitted since the timeout. Without SACK three duplicate ACKs do, for senders
/// that ignore the timeout before (RFC 6582 §4.1 does not).
pub(super) fn is_asked_again(sender: &SenderModel, a: &RetransmittedSegment) -> bool {
    let asked = sender.duplicates >= DUP_THRESH || a.start == sender.asked_for[0];
    // Slow start only goes upwards.
    let back = a.start < sender.trace.end && !a.overtaken;
    a.sack_permitted || a.head && (asked || back)
}

/// An ACK triggered it: in the slow start after a timeout, or for a loss that ACKs reported. `lost_again`: it had been
/// retransmitted since the timeout, and that copy is known to be lost.
pub(super) fn prompted(sender: &SenderModel, a: &RetransmittedSegment, by: &By, lost_again: bool) -> Verdict {
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

impl SenderModel {
    /// Where no ACKs are captured only a timeout can be told, by the silence before it.
    pub(super) fn judge_unheard(&mut self, a: &RetransmittedSegment, timing: &PathTiming) -> Verdict {
        if !a.previous_was_resend {
            self.timer.expiries = 0;
        }
        if a.now - self.last_sent.max(a.previous) < MIN_RTO.max(timing.rto.scale(0.45)) {
            // The silence was shorter than any timer: an ACK triggered it.
            return Verdict { trigger: Trigger::Ack, ..Verdict::default() };
        }
        timer(self)
    }

    /// A tail-loss probe is only sent while no loss is known (RFC 8985 §7.2).
    pub fn probes_now(&self) -> bool {
        self.state == State::Open && !self.any_sacked && self.duplicates == 0
    }

    /// A tail-loss probe repeats the last segment, once, after its own timeout (RFC 8985 §7.3).
    pub(super) fn probe_is_due(&self, a: &RetransmittedSegment, timing: &PathTiming) -> bool {
        let after = if a.head { lone_probe(timing) } else { probe_timeout(timing) };
        a.tail
            && a.sack_permitted
            && !self.probing.outstanding()
            && (!a.head || self.may_probe_alone())
            && self.probes_now()
            && self.silent(a.now) >= after.min(timing.judge().rto_for_probe(timing))
    }

    /// Not too late for a probe.
    pub(super) fn probe_is_not_late(&self, a: &RetransmittedSegment, timing: &PathTiming) -> bool {
        self.silent(a.now) <= last_probe(a.head, timing)
    }
}

/// How much later than it is due a probe leaves at most: timers run in ticks, and hosts are busy.
const PROBE_LATE: Span = Span::from_millis(50);

/// The longest time after which a tail-loss probe leaves: 2 SRTT, and 200 ms for a single segment, whose ACK may be
/// delayed (RFC 8985 §7.2); with what SRTT may be off and the timer's own delay.
fn last_probe(alone: bool, timing: &PathTiming) -> Span {
    timing.srtt.scale(3.0) + if alone { DELAYED_ACK + PROBE_LATE } else { PROBE_LATE }
}

/// The least time after which a single segment is probed for: its ACK may be delayed by 200 ms, and the timer that
/// would come sooner is no shorter than SRTT and 200 ms (Linux).
fn lone_probe(timing: &PathTiming) -> Span {
    probe_timeout(timing).max(timing.srtt.scale(0.75) + DELAYED_ACK)
}

/// The least time after which a tail-loss probe may leave: 2 SRTT (RFC 8985 §7.2), less what SRTT may be off,
/// and 2 ms of the timer's own; less than 5 ms would be any pause of an application.
fn probe_timeout(timing: &PathTiming) -> Span {
    (timing.srtt.scale(1.5) + Span::from_millis(2)).max(Span::from_millis(5))
}
