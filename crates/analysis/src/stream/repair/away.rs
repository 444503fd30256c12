//! Away from the sender: one retransmission, judged by silences and by what could have asked for it.

use super::evidence::Observed;
use super::judge::{By, is_asked_again, prompted, timer};
use super::seat::Judge;
use super::{Attempt, PAUSE, Pace, Repair, State, Verdict};
use crate::assumptions::MIN_RTO_AWAY;
use wire::Span;

/// What is seen of it has come some way, or not come at all; what it hears has some way to go.
#[derive(Clone, Copy, Debug)]
pub struct Away;

impl Judge for Away {
    fn judge(&self, sender: &Repair, a: &Attempt, pace: &Pace) -> Verdict {
        let by = By::of(sender, a, pace);
        // A timer repeats the first segment. The sender's SRTT may be far longer than what is seen of it.
        if by.quiet() && sender.probe_is_due(a, pace) && (!a.head || sender.probe_is_not_late(a, pace)) {
            return Verdict::PROBE;
        }
        if a.one_segment && (unasked(sender, a, &by) || a.head && sender.timer_from_afar(a, pace)) {
            return timer(sender);
        }
        // RFC 8985 §6.2: what was sent again since the timeout is found lost by ACKs; the timer's repair is over.
        // What has arrived since is no longer outstanding here; slow start goes upwards. Of a sender that times each
        // copy (RFC 8985) what lies below was sent before, seen here or not, and found lost again.
        let timed = sender.age.recent() && !a.overtaken;
        let passed = a.start < sender.resent.high && (a.acknowledged || !a.sack_permitted || timed);
        let again = passed || a.previous_was_resend && a.previous >= sender.timer.fired_at;
        prompted(sender, a, &by, again && is_asked_again(sender, a))
    }

    fn tight(&self, _sender: &Repair, pace: &Pace) -> Span {
        pace.tolerance
    }

    /// What three duplicate ACKs had asked for was sent, and lost with all the rest.
    fn was_repairing(&self, sender: &mut Repair, a: &Attempt) -> bool {
        sender.note_fired(a);
        sender.repairs() || a.sack_permitted && sender.is_asked()
    }

    fn unseen_firings(&self, sender: &Repair, a: &Attempt, pace: &Pace) -> u32 {
        let by_time = || sender.attempts_by(a.now, a.previous, pace).min(a.missing.unwrap_or(16));
        sender.attempts_told(a.start, a.missing, a.ts != 0).unwrap_or_else(by_time).min(16)
    }

    /// It is not known well enough.
    fn rto_for_probe(&self, _pace: &Pace) -> Span {
        Span::MAX
    }

    fn sees_it_send(&self) -> bool {
        false
    }

    /// RFC 6582 §3.2 step 3 begins it anew on the first partial ACK only.
    fn saw_timer_begin(&self, sender: &Repair, a: &Attempt) -> bool {
        let partial = matches!(sender.state, State::Recovery { .. }) && a.start >= sender.resent.end;
        a.sack_permitted || !partial
    }

    fn catch_up(&self, sender: &mut Repair, a: &Attempt, pace: &Pace) {
        if a.acks_seen && sender.timer_went_unseen(a) {
            sender.enter_loss(a, pace);
        }
        sender.slow_start_goes_on(a);
        sender.see_timer_behind_repair(a);
    }

    fn observe(&self, sender: &Repair, a: &Attempt, pace: &Pace) -> Option<Observed> {
        a.acks_seen.then(|| Observed::before(sender, a, pace))
    }
}

/// What had arrived was not asked for by any ACK.
fn unasked(sender: &Repair, a: &Attempt, by: &By) -> bool {
    if !a.acknowledged || a.sack_permitted {
        return false;
    }
    match sender.state {
        State::Open => {
            // While it sends and hears only an ACK can have asked for it, one doubled on its way perhaps.
            (sender.silent(a.now) >= PAUSE || a.now - sender.last_progress >= MIN_RTO_AWAY)
                && sender.duplicates == 0
                && a.start != sender.resent.end
                && !sender.asked_for.contains(&a.start)
        }
        // One that was overtaken had its turn before. Tahoe goes on with what follows, and begins again when that has
        // caused three duplicate ACKs.
        State::Recovery { .. } => {
            a.start < sender.resent.end
                && !a.overtaken
                && !sender.begins_anew(a)
                && (!by.train || a.end == sender.resent.end)
        }
        State::Loss { .. } => false,
    }
}
