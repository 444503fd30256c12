//! At the sender: one retransmission, judged by ACKs that are seen when they are heard and by times as the sender has them.

use super::judge::{By, prompted, timer};
use super::seat::Judge;
use super::{Attempt, Pace, Repair, SOON, State, Verdict};
use crate::assumptions::{DUP_THRESH, MIN_RTO};
use wire::Span;

/// How soon after an ACK even a quick host sends.
const QUICKEST_HOST: Span = Span::from_micros(100);

/// ACKs are seen when it hears them, its packets when they leave. Two packets that a tick of its clock parts may be
/// `grain` apart.
#[derive(Clone, Copy, Debug)]
pub struct AtSender {
    pub grain: Span,
}

impl Judge for AtSender {
    fn judge(&self, sender: &Repair, a: &Attempt, pace: &Pace) -> Verdict {
        let by = By::of(sender, a, pace);
        if by.quiet() && sender.probe_is_due(a, pace) {
            return Verdict::PROBE;
        }
        if a.one_segment && timer_fired(sender, a, &by, pace) {
            return timer(sender);
        }
        // RFC 8985 §6.2: what was sent again since the timeout is found lost by ACKs; the timer's repair is over, and slow
        // start repeats nothing.
        prompted(sender, a, &by, a.previous_was_resend && a.previous >= sender.timer.fired_at)
    }

    /// By what this sender is used to.
    fn tight(&self, sender: &Repair, pace: &Pace) -> Span {
        (sender.reaction * 4).max(QUICKEST_HOST).max(self.grain).min(pace.tolerance)
    }

    fn was_repairing(&self, sender: &mut Repair, _a: &Attempt) -> bool {
        sender.repairs()
    }

    /// Every copy is seen.
    fn unseen_firings(&self, _sender: &Repair, _a: &Attempt, _pace: &Pace) -> u32 {
        0
    }

    /// Where it is the shorter of the two, a probe leaves in its place.
    fn rto_for_probe(&self, pace: &Pace) -> Span {
        pace.rto.scale(0.9)
    }
}

/// The timer repeats the first segment not acknowledged (RFC 6298 §5.4).
fn timer_fired(sender: &Repair, a: &Attempt, by: &By, pace: &Pace) -> bool {
    if !a.head {
        return false;
    }
    let tight = pace.judge().tight(sender, pace);
    let unprompted = by.since_news > tight && a.now - sender.last_sent > tight;
    // Nothing sent after the copy before this one has arrived: no ACK can have told that it was lost.
    let again = a.previous_was_resend && sender.newest_delivered < a.previous;
    // Who goes by ACKs had two round trips to repeat it: what was sent that long after the copy before has arrived.
    let passed_over = a.previous_was_resend && sender.newest_delivered - a.previous >= pace.srtt * 2;
    let waited = a.now - sender.timer.start.max(a.previous);
    let told = sender.is_told(a);
    if told && sender.age.recent() && a.sack_permitted {
        // RFC 8985 §6.2: it is found lost by an ACK, or a while later; the timer fires where there was no room for it.
        let otherwise = sender.reordering_is_due(a, a.reordering) || sender.pacing.is_due(a.now);
        return by.since_news > tight.max(SOON) && !otherwise && sender.rto_is_due(a, pace);
    }
    // Senders with RACK nearly always have timestamps.
    let reordering = !a.previous_was_resend && a.ts != 0 && sender.only_reordering_is_due(a, pace);
    let paced = sender.pacing.is_due(a.now) && !sender.rto_is_due(a, pace);
    if told && a.sack_permitted && (reordering || paced) {
        return false;
    }
    // Nothing tells of a loss. With a probe pending Linux counts the timer from when the head left (RFC 8985 §7.2).
    let from_head = sender.may_probe_alone() && a.now - a.previous >= pace.rto.scale(0.9);
    if from_head && by.quiet() && sender.probes_now() {
        return true;
    }
    let shortest = pace.rto.scale(0.45).min(sender.timer.wait.max(MIN_RTO).scale(0.85));
    if waited >= pace.srtt.max(shortest) && (by.quiet() || unprompted || passed_over) {
        return true;
    }
    // Who was told of no loss sends behind ACKs, or when its timer fires.
    if !told && sender.silent(a.now) >= MIN_RTO.scale(0.9) {
        return true;
    }
    // Without SACK nothing but the timer repeats a repair of the first segment (RFC 6582 §3.2), but for three duplicate
    // ACKs behind it; it may have been running since the first partial ACK.
    let in_recovery = matches!(sender.state, State::Recovery { .. });
    let unasked = unprompted || sender.duplicates > DUP_THRESH && !sender.resent.goes_back;
    let hopeless = again && in_recovery && if a.sack_permitted { unprompted } else { unasked };
    // No ACK could have told that it was lost again: with SACK (RFC 6675 §4), or so soon.
    let unheard_of = again
        && (a.sack_permitted && waited >= pace.srtt.scale(0.8)
            || unprompted && a.now - a.previous < pace.srtt);
    hopeless || unheard_of
}
