//! What both judges of a retransmission share, wherever the capture was taken.

use super::{PathTiming, RetransmittedSegment, SenderModel, State, Verdict};
use crate::assumptions::{DUP_THRESH, MIN_RTO, probe_not_after, probe_not_before};
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
        let after = probe_not_before(timing.srtt, a.head);
        a.tail
            && a.sack_permitted
            && !self.probing.outstanding()
            && (!a.head || self.may_probe_alone())
            && self.probes_now()
            && self.silent(a.now) >= after.min(timing.judge().rto_for_probe(timing))
    }

    /// Not too late for a probe.
    pub(super) fn probe_is_not_late(&self, a: &RetransmittedSegment, timing: &PathTiming) -> bool {
        self.silent(a.now) <= probe_not_after(timing.srtt, a.head)
    }
}
