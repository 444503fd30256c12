//! What comes after a timer's copy, seen away from the sender: what it tells of the path, and of the timer.

use super::{Attempt, Pace, Repair, State};
use wire::{Span, Time};

/// How the sender was thought to be before its timer was thought to fire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fired {
    state: State,
    timer_wait: Span,
    least_wait: Span,
    start: u64,
    high: u64,
    /// The timer's copy came here, and its answer left.
    at: Time,
    answered: Option<Time>,
    /// So soon after progress: it may turn out to have been a repair that a queue held up.
    unsure: bool,
}

/// The packet that comes next.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    pub start: u64,
    /// When it passed here, whatever its own timestamp tells.
    pub seen: Time,
    /// What was sent after it came before it.
    pub overtaken: bool,
    /// How close to each other packets come that left together.
    pub spacing: Span,
}

/// What left together comes no further apart than this: the answer to the first takes longer on any path.
const TOGETHER: f64 = 1.02;
/// A sender with a floor of a second (RFC 6298 §2.4) that goes on at once has fast recovery after a timeout.
const SURE: Span = Span::from_millis(800);

impl Repair {
    /// The timer is about to be taken to have fired.
    pub(super) fn note_fired(&mut self, a: &Attempt, pace: &Pace) {
        // What had arrived before is repeated needlessly: ACKs that tell of that may be on their way.
        let tells = pace.grain.is_none() && !a.acknowledged && self.expiries == 0;
        self.fired = tells.then(|| Fired {
            state: self.state,
            timer_wait: self.timer_wait,
            least_wait: self.least_wait,
            start: a.start,
            high: a.next,
            at: a.seen,
            answered: None,
            unsure: a.now - self.last_progress < SURE,
        });
    }

    /// An ACK passes on its way to the sender.
    #[inline]
    pub fn note_answer(&mut self, now: Time) {
        if let Some(fired) = &mut self.fired {
            fired.answered.get_or_insert(now);
        }
    }

    /// A timer sends one segment (RFC 5681 §3.1) and waits for the answer. Returns how long that took to the sender,
    /// and what it set off from there. What comes right behind the copy left with it: then no timer sent either.
    pub fn after_timeout(&mut self, next: &Next) -> Option<Span> {
        let fired = self.fired.take_if(|f| next.start != f.start && !next.overtaken)?;
        if next.spacing == Span::MAX {
            return None;
        }
        let together = next.spacing.scale(TOGETHER);
        if next.seen - fired.at > together {
            return fired.answered.map(|t| next.seen - t).filter(|turn| *turn > together);
        }
        if fired.unsure {
            (self.timer_wait, self.least_wait) = (fired.timer_wait, fired.least_wait);
            self.expiries = 0;
            if self.in_loss_state() {
                self.state = match fired.state {
                    State::Open => State::Recovery { recover: fired.high, first_ts: 0 },
                    before => before,
                };
            }
        }
        None
    }
}
