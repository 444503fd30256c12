//! Judges a retransmission that is seen at its sender: ACKs are seen when the sender receives them, packets when they leave.

use super::judge::{By, prompted, timer};
use super::judges::Judge;
use super::{PathTiming, RetransmittedSegment, SOON, SenderModel, State, Verdict};
use crate::assumptions::{DUP_THRESH, MIN_RTO};
use wire::Span;

/// Even a fast host may take this long from an ACK to the packet that it triggers.
const QUICKEST_HOST: Span = Span::from_micros(100);

/// `grain`: the granularity of the capture's clock, within which two packets may have left at one time.
#[derive(Clone, Copy, Debug)]
pub struct AtSender {
    pub grain: Span,
}

impl Judge for AtSender {
    fn judge(&self, sender: &SenderModel, a: &RetransmittedSegment, timing: &PathTiming) -> Verdict {
        let by = By::of(sender, a, timing);
        if by.quiet() && sender.probe_is_due(a, timing) {
            return Verdict::PROBE;
        }
        if a.one_segment && timer_fired(sender, a, &by, timing) {
            return timer(sender);
        }
        // A segment that was already retransmitted since the timeout is found lost again by ACKs (RFC 8985 §6.2): slow start
        // repeats nothing.
        prompted(sender, a, &by, a.previous_was_resend && a.previous >= sender.timer.fired_at)
    }

    /// Four times the reaction time that this sender has shown lately.
    fn tight(&self, sender: &SenderModel, timing: &PathTiming) -> Span {
        (sender.reaction * 4).max(QUICKEST_HOST).max(self.grain).min(timing.tolerance)
    }

    fn was_repairing(&self, sender: &mut SenderModel, _a: &RetransmittedSegment) -> bool {
        sender.repairs()
    }

    /// Every packet of the sender is seen.
    fn unseen_timeouts(&self, _sender: &SenderModel, _a: &RetransmittedSegment, _timing: &PathTiming) -> u32 {
        0
    }

    /// Where the RTO is shorter than the probe's timeout, the probe is sent at the RTO (RFC 8985 §7.2).
    fn rto_for_probe(&self, timing: &PathTiming) -> Span {
        timing.rto.scale(0.9)
    }
}

/// The timer repeats the first segment not acknowledged (RFC 6298 §5.4).
fn timer_fired(sender: &SenderModel, a: &RetransmittedSegment, by: &By, timing: &PathTiming) -> bool {
    if !a.head {
        return false;
    }
    // No ACK has come since the copy before it left, and none that came earlier can have told of its loss: a timer sent it,
    // however short its wait. A minimum RTO is no more than recommended (RFC 6298 §2.4).
    if sender.last_news < a.previous {
        return true;
    }
    let tight = timing.judge().tight(sender, timing);
    let unprompted = by.since_news > tight && a.now - sender.last_sent > tight;
    // Nothing sent after the copy before this one has arrived: no ACK can have told that it was lost.
    let again = a.previous_was_resend && sender.newest_delivered < a.previous;
    // ACKs would have triggered it for two round trips: data sent that long after the copy before has arrived.
    let passed_over = a.previous_was_resend && sender.newest_delivered - a.previous >= timing.srtt * 2;
    let waited = a.now - sender.timer.start.max(a.previous);
    let found_lost = sender.is_found_lost(a);
    if found_lost && sender.era.since_2013() && a.sack_permitted {
        // RFC 8985 §6.2: an ACK or RACK's timer finds it lost. The RTO fires only where cwnd had no room for the repair.
        let otherwise = sender.reordering_is_due(a, a.reordering) || sender.pacing.is_due(a.now);
        return by.since_news > tight.max(SOON) && !otherwise && sender.rto_is_due(a, timing);
    }
    // Senders with RACK nearly always have timestamps.
    let reordering = !a.previous_was_resend && a.ts != 0 && sender.only_reordering_is_due(a, timing);
    let paced = sender.pacing.is_due(a.now) && !sender.rto_is_due(a, timing);
    if found_lost && a.sack_permitted && (reordering || paced) {
        return false;
    }
    // No loss is known. With a probe pending Linux counts the RTO from when the first segment left (RFC 8985 §7.2).
    let from_head = sender.may_probe_alone() && a.now - a.previous >= timing.rto.scale(0.9);
    if from_head && by.quiet() && sender.probes_now() {
        return true;
    }
    let shortest = timing.rto.scale(0.45).min(sender.timer.wait.max(MIN_RTO).scale(0.85));
    if waited >= timing.srtt.max(shortest) && (by.quiet() || unprompted || passed_over) {
        return true;
    }
    // A sender that knows of no loss retransmits on an ACK, or when its timer fires.
    if !found_lost && sender.silent(a.now) >= MIN_RTO.scale(0.9) {
        return true;
    }
    // Without SACK only the timer repeats a repair of the first segment (RFC 6582 §3.2), unless three duplicate ACKs
    // followed it. The timer may have been running since the first partial ACK.
    let in_recovery = matches!(sender.state, State::Recovery { .. });
    let unasked = unprompted || sender.duplicates > DUP_THRESH && !sender.trace.go_back_n;
    let hopeless = again && in_recovery && if a.sack_permitted { unprompted } else { unasked };
    // No ACK can have reported that copy lost: with SACK (RFC 6675 §4), or because the time was too short.
    let unheard_of = again
        && (a.sack_permitted && waited >= timing.srtt.scale(0.8)
            || unprompted && a.now - a.previous < timing.srtt);
    hopeless || unheard_of
}
