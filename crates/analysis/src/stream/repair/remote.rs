//! Judges a retransmission that is seen away from its sender: by silences, and by what ACKs can have asked for.

use super::evidence::Observed;
use super::judge::{By, is_asked_again, prompted, timer};
use super::judges::Judge;
use super::{PAUSE, PathTiming, RetransmittedSegment, SenderModel, State, Verdict};
use crate::assumptions::MIN_RTO_SEEN;
use wire::Span;

/// The judge away from the sender: data may be lost or delayed before it passes here, and ACKs seen here may be lost
/// or delayed before they reach the sender.
#[derive(Clone, Copy, Debug)]
pub struct Remote;

impl Judge for Remote {
    fn judge(&self, sender: &SenderModel, a: &RetransmittedSegment, timing: &PathTiming) -> Verdict {
        let by = By::of(sender, a, timing);
        // A timer repeats the first outstanding segment. The sender's SRTT may be far longer than the one measured here.
        if by.quiet() && sender.probe_is_due(a, timing) && (!a.head || sender.probe_is_not_late(a, timing)) {
            return Verdict::PROBE;
        }
        if a.one_segment
            && (no_ack_can_have_triggered(sender, a, &by) || a.head && sender.is_remote_timeout(a, timing))
        {
            return timer(sender);
        }
        // A segment that was already retransmitted since the timeout is found lost again by ACKs (RFC 8985 §6.2), not by
        // the slow start after the timeout, which goes upwards. With RACK everything below the highest retransmission was
        // retransmitted before, whether it was seen here or not.
        let timed = sender.era.since_2013() && !a.overtaken;
        let passed = a.start < sender.trace.high && (a.acknowledged || !a.sack_permitted || timed);
        let again = passed || a.previous_was_resend && a.previous >= sender.timer.fired_at;
        prompted(sender, a, &by, again && is_asked_again(sender, a))
    }

    fn tight(&self, _sender: &SenderModel, timing: &PathTiming) -> Span {
        timing.tolerance
    }

    /// Three duplicate ACKs had asked for a fast retransmit, which was lost with everything else.
    fn was_repairing(&self, sender: &mut SenderModel, a: &RetransmittedSegment) -> bool {
        sender.note_rto_guess(a);
        sender.repairs() || a.sack_permitted && sender.is_asked()
    }

    fn unseen_timeouts(&self, sender: &SenderModel, a: &RetransmittedSegment, timing: &PathTiming) -> u32 {
        let by_time = || sender.attempts_by(a.now, a.previous, timing).min(a.missing.unwrap_or(16));
        sender.attempts_told(a.start, a.missing, a.ts != 0).unwrap_or_else(by_time).min(16)
    }

    /// The sender's RTO is not known well enough here to be a bound.
    fn rto_for_probe(&self, _timing: &PathTiming) -> Span {
        Span::MAX
    }

    fn sees_it_send(&self) -> bool {
        false
    }

    /// RFC 6582 §3.2 step 3 restarts the timer on the first partial ACK only, so a later start is not known.
    fn saw_timer_start(&self, sender: &SenderModel, a: &RetransmittedSegment) -> bool {
        let partial = matches!(sender.state, State::Recovery { .. }) && a.start >= sender.trace.end;
        a.sack_permitted || !partial
    }

    fn catch_up(&self, sender: &mut SenderModel, a: &RetransmittedSegment, timing: &PathTiming) {
        if a.acks_seen && sender.timer_went_unseen(a) {
            sender.enter_loss(a, timing);
        }
        sender.reenter_loss_state(a);
        sender.see_rto_after_fast_retransmit(a);
    }

    fn observe(
        &self,
        sender: &SenderModel,
        a: &RetransmittedSegment,
        timing: &PathTiming,
    ) -> Option<Observed> {
        a.acks_seen.then(|| Observed::before(sender, a, timing))
    }
}

/// True if the segment had been acknowledged, SACK is not in use, and no ACK can have triggered the retransmission: a
/// timer sent it.
fn no_ack_can_have_triggered(sender: &SenderModel, a: &RetransmittedSegment, by: &By) -> bool {
    if !a.acknowledged || a.sack_permitted {
        return false;
    }
    match sender.state {
        State::Open => {
            // Without a silence an ACK must have asked for it, perhaps one that the network duplicated.
            (sender.silent(a.now) >= PAUSE || a.now - sender.last_progress >= MIN_RTO_SEEN)
                && sender.duplicates == 0
                && a.start != sender.trace.end
                && !sender.asked_for.contains(&a.start)
        }
        // One that was overtaken had its turn before. Tahoe goes on with what follows, and begins again when that has
        // caused three duplicate ACKs.
        State::Recovery { .. } => {
            a.start < sender.trace.end
                && !a.overtaken
                && !sender.tahoe_restarts(a)
                && (!by.train || a.end == sender.trace.end)
        }
        State::Loss { .. } => false,
    }
}
