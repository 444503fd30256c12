//! At the sender: one retransmission, judged by ACKs that are seen when they are heard and by times as the sender has them.

use super::judge::{By, prompted, timer};
use super::{Attempt, LEAST_RTO, Pace, Repair, State, Verdict};
use wire::Span;

/// How soon after an ACK even a quick host sends.
const AT_ONCE: Span = Span::from_micros(100);

/// How close to an ACK what it set off must be.
pub(super) fn tight(reaction: Span, grain: Span, pace: &Pace) -> Span {
    (reaction * 4).max(AT_ONCE).max(grain).min(pace.tolerance)
}

pub(super) fn judge(sender: &Repair, a: &Attempt, pace: &Pace) -> Verdict {
    let by = By::of(sender, a, pace);
    if by.quiet() && sender.probe_is_due(a, pace) && sender.probe_is_not_late(a, pace) {
        return Verdict::PROBE;
    }
    if a.one_segment && timer_fired(sender, a, &by, pace) {
        return timer(sender);
    }
    // RFC 8985 §6.2: what was sent again since the timeout is found lost by ACKs; the timer's repair is over.
    let again = a.previous_was_resend && a.previous >= sender.loss_since;
    prompted(sender, a, &by, again)
}

/// The timer repeats the first segment not acknowledged (RFC 6298 §5.4).
fn timer_fired(sender: &Repair, a: &Attempt, by: &By, pace: &Pace) -> bool {
    if !a.head {
        return false;
    }
    let tight = sender.tight(pace);
    let unprompted = by.since_news > tight && a.now - sender.last_sent > tight;
    // Nothing sent after the copy before this one has arrived: no ACK can have told that it was lost.
    let again = a.previous_was_resend && sender.newest_delivered < a.previous;
    // Who goes by ACKs had two round trips to repeat it: what was sent that long after the copy before has arrived.
    let passed_over = a.previous_was_resend && sender.newest_delivered - a.previous >= pace.srtt * 2;
    let waited = a.now - sender.timer_start.max(a.previous);
    if told_and_held_back(sender, a, by, pace) && waited < pace.rto.scale(0.9) {
        return false;
    }
    // Nothing tells of a loss. With a probe pending Linux counts the timer from when the head left (RFC 8985 §7.2).
    let from_head = sender.may_probe_alone() && a.now - a.previous >= pace.rto.scale(0.9);
    if from_head && by.quiet() && sender.probes_now() {
        return true;
    }
    let shortest = pace.rto.scale(0.45).min(sender.timer_wait.max(LEAST_RTO).scale(0.85));
    if waited >= pace.srtt.max(shortest) && (by.quiet() || unprompted || again || passed_over) {
        return true;
    }
    // Without SACK nothing but the timer repeats a repair of the first segment (RFC 6582 §3.2); it may have been
    // running since the first partial ACK.
    let in_recovery = matches!(sender.state, State::Recovery { .. });
    let round = || a.now - sender.last_progress.max(a.previous) >= pace.srtt && by.quiet();
    let hopeless = again && in_recovery && unprompted && (!a.sack_permitted || round());
    // No ACK could have told that it was lost again: with SACK (RFC 6675 §4), or so soon.
    let unheard_of = again
        && (a.sack_permitted && waited >= pace.srtt.scale(0.8)
            || unprompted && a.now - a.previous < pace.srtt);
    hopeless || unheard_of
}

/// It was told of by what left later and arrived (RFC 8985 §6.2), or by a SACK above it: a reordering timer or the
/// sender's own pace lets it go, before the RTO would.
fn told_and_held_back(sender: &Repair, a: &Attempt, by: &By, pace: &Pace) -> bool {
    let reordering = sender.age.recent() && by.since_news <= pace.srtt;
    let told = sender.newest_delivered >= a.previous || a.sacked_above && !a.previous_was_resend;
    told && (reordering || sender.at_its_pace(a.now))
}
