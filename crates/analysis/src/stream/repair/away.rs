//! Away from the sender: one retransmission, judged by silences and by what could have asked for it.

use super::judge::{By, is_asked_again, prompted, timer};
use super::{Attempt, PAUSE, Pace, Repair, State, TIMERS_SILENCE, Verdict};

pub(super) fn judge(sender: &Repair, a: &Attempt, pace: &Pace) -> Verdict {
    let by = By::of(sender, a, pace);
    // A timer repeats the first segment. The sender's SRTT may be far longer than what is seen of it.
    if by.quiet() && sender.probe_is_due(a, pace) && (!a.head || sender.probe_is_not_late(a, pace)) {
        return Verdict::PROBE;
    }
    if a.one_segment && (unasked(sender, a, &by) || a.head && sender.timer_from_afar(a, pace)) {
        return timer(sender);
    }
    // RFC 8985 §6.2: what was sent again since the timeout is found lost by ACKs; the timer's repair is over.
    // What has arrived since is no longer outstanding here; slow start goes upwards. Of a sender that times each copy
    // (RFC 8985) what lies below was sent before, seen here or not, and found lost again.
    let timed = sender.age.recent() && !a.overtaken;
    let passed = a.start < sender.resent.high && (a.acknowledged || !a.sack_permitted || timed);
    let again = passed || a.previous_was_resend && a.previous >= sender.timer.fired_at;
    prompted(sender, a, &by, again && is_asked_again(sender, a))
}

/// What had arrived was not asked for by any ACK.
fn unasked(sender: &Repair, a: &Attempt, by: &By) -> bool {
    if !a.acknowledged || a.sack_permitted || sender.doubt.is_some() {
        return false;
    }
    match sender.state {
        State::Open => {
            // While it sends and hears only an ACK can have asked for it, one doubled on its way perhaps.
            (sender.silent(a.now) >= PAUSE || a.now - sender.last_progress >= TIMERS_SILENCE)
                && sender.duplicates == 0
                && a.start != sender.resent.end
                && !sender.asked_for.contains(&a.start)
        }
        // One that was overtaken had its turn before. Tahoe goes on with what follows, and begins again when that has
        // caused three duplicate ACKs.
        State::Recovery { .. } => {
            a.start < sender.resent.end
                && !a.overtaken
                && !(sender.resent.goes_back && sender.duplicates >= 3)
                && (!by.train || a.end == sender.resent.end)
        }
        State::Loss { .. } => false,
    }
}
