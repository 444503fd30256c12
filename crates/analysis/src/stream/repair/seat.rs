//! Where the sender is watched from, the only place that asks it: at the sender, or away from it.

use super::evidence::Observed;
use super::timer::{SECOND, is_near_a_second};
use super::{Attempt, Pace, Repair, State, Verdict, at_sender, away};
use wire::{Span, Time};

/// Where the sender is watched from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// ACKs are seen when it hears them, its packets when they leave. Two packets that a tick of its clock parts may be
    /// so far apart.
    AtSender { grain: Span },
    /// What is seen of it has come some way, or not come at all; what it hears has some way to go.
    Away,
}

impl Seat {
    /// Does the pace that a sender keeps of its own show, by which new data leaves after a pause and is no probe?
    pub(super) fn shows_own_pace(self) -> bool {
        self != Seat::Away
    }
}

impl Repair {
    /// How close to an ACK what it set off must be, by what this sender is used to.
    pub(super) fn tight(&self, pace: &Pace) -> Span {
        match pace.seat {
            Seat::AtSender { grain } => at_sender::tight(self.reaction, grain, pace),
            Seat::Away => pace.tolerance,
        }
    }

    /// It shows when the timer that fires was begun: RFC 6582 §3.2 step 3 begins it anew on the first partial ACK only.
    pub(super) fn saw_it_begin(&self, a: &Attempt, pace: &Pace) -> bool {
        let partial = matches!(self.state, State::Recovery { .. }) && a.start >= self.resent.end;
        pace.seat != Seat::Away || a.sack_permitted || !partial
    }

    /// A timer with a floor of a second (RFC 6298 §2.4) fires now, and has run for `waited`. It is late by a little. Away
    /// from the sender what set it going and what it sent may each have been as long on their way; and a repair that was
    /// lost may have begun it anew after that.
    pub(super) fn is_a_second(&self, waited: Span, now: Time, pace: &Pace) -> bool {
        match pace.seat {
            Seat::AtSender { .. } => is_near_a_second(waited, SECOND.scale(0.01), SECOND.scale(0.03)),
            Seat::Away => {
                let off = pace.srtt.min(SECOND.scale(0.1));
                let near = |waited| is_near_a_second(waited, off, off);
                near(waited) || waited > SECOND && near(self.silent(now))
            }
        }
    }

    /// What stands around a retransmission that is about to be explained, where that leaves room for doubt.
    pub(super) fn observe(&self, a: &Attempt, pace: &Pace) -> Option<Observed> {
        (pace.seat == Seat::Away && a.acks_seen).then(|| Observed::before(self, a, pace))
    }

    /// What may have happened unseen before a retransmission, which is about to be explained.
    pub(super) fn catch_up(&mut self, a: &Attempt, pace: &Pace) {
        if pace.seat == Seat::Away {
            self.catch_up_away(a, pace);
        }
    }

    /// Why it was sent again.
    pub(super) fn judge(&self, a: &Attempt, pace: &Pace) -> Verdict {
        match pace.seat {
            Seat::AtSender { .. } => at_sender::judge(self, a, pace),
            Seat::Away => away::judge(self, a, pace),
        }
    }

    /// The timer is about to be taken to have fired. Was a repair under way (RFC 5682 §2.1)?
    pub(super) fn was_repairing(&mut self, a: &Attempt, pace: &Pace) -> bool {
        match pace.seat {
            Seat::AtSender { .. } => self.repairs() || self.is_found_lost(a),
            Seat::Away => self.was_repairing_away(a),
        }
    }

    /// A retransmission has been explained.
    pub(super) fn keep_in_mind(&mut self, a: &Attempt, pace: &Pace) {
        if pace.seat == Seat::Away {
            self.note_unsure(a);
        }
    }

    /// The probe just sent is one of a sender that had shown others before, where its packets are seen to leave.
    pub fn sure_of_probe(&self, pace: &Pace) -> bool {
        pace.seat != Seat::Away && self.has_shown_before()
    }
}
