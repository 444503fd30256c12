//! The packets that follow an assumed timeout, seen at the receiver. They may show that no timer had fired, and they
//! measure the way from the receiver through the sender and back.

use super::{Attempt, Repair, State};
use crate::assumptions::{DUP_THRESH, MIN_RTO_AWAY};
use wire::{Span, Time};

/// The state of the model before it assumed a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fired {
    state: State,
    start: u64,
    high: u64,
    /// When the timer's copy passed here, and when its answer did.
    at: Time,
    answered: Option<Time>,
    /// The cumulative ACK had moved shortly before: the copy may be a repair that a queue delayed.
    unsure: bool,
    /// Three duplicate ACKs or, in fast recovery, a partial ACK had asked for it.
    asked: bool,
}

/// The packet that comes next.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    pub start: u64,
    /// When it passed here.
    pub seen: Time,
    /// A packet that was sent after it came before it.
    pub overtaken: bool,
    /// The least distance between two packets that were sent back to back.
    pub spacing: Span,
}

/// Packets that were sent back to back are no further apart than this factor: the answer to the first would take longer
/// on any path.
const TOGETHER: f64 = 1.02;

/// Two packets this far apart were sent back to back; `spacing` is the least distance seen.
fn left_together(gap: Span, spacing: Span) -> bool {
    spacing < Span::MAX && gap <= spacing.scale(TOGETHER)
}

/// A sender whose RTO has a floor of one second (RFC 6298 §2.4), and that goes on at once, is in fast recovery after a
/// timeout.
const SURE: Span = Span::from_millis(800);

impl Repair {
    /// The model is about to assume a timeout.
    pub(super) fn note_fired(&mut self, a: &Attempt) {
        let asked = match self.state {
            State::Open => self.duplicates >= DUP_THRESH || self.asked_for[0] == a.start,
            State::Recovery { .. } => true,
            State::Loss { .. } => false,
        };
        // Acknowledged data is repeated needlessly: ACKs that say so may still be on their way to the sender.
        self.afar.fired = (!a.acknowledged).then(|| Fired {
            state: self.state,
            start: a.start,
            high: a.next,
            at: a.seen,
            answered: None,
            unsure: a.now - self.last_progress < SURE,
            asked,
        });
    }

    /// The data of an assumed timeout is repeated sooner than a timer that has just fired can fire again (RFC 6298 §5.5), and
    /// fast recovery never repeats a repair (RFC 6582 §3.2): duplicate ACKs had asked for the first copy, and the timer sent
    /// this one.
    pub(super) fn see_timer_behind_repair(&mut self, a: &Attempt) {
        let early = self.is_timers() && a.now - self.timer.fired_at < MIN_RTO_AWAY;
        if early && let Some(f) = self.afar.fired.take_if(|f| f.start == a.start && f.asked) {
            self.was_no_timer(&f);
            self.timer.fired_at = Time::FAR_PAST;
        }
    }

    /// The assumed timeout was a repair that duplicate ACKs had asked for.
    fn was_no_timer(&mut self, f: &Fired) {
        self.timer.expiries = 0;
        if self.in_loss_state() {
            self.state = match f.state {
                State::Open => State::Recovery { recover: f.high, first_ts: 0 },
                before => before,
            };
        }
    }

    /// New data comes sooner than the answer to the timer's copy can have triggered it, and no ACK had moved before. In
    /// fast recovery duplicate ACKs let new data go (RFC 5681 §3.2 step 4), after a timeout they do not.
    pub fn see_new_behind_timer(&mut self, next: &Next, turn: Span) {
        let soon = |f: &Fired| f.unsure && f.asked && next.seen - f.at < turn.scale(0.7);
        if self.in_loss_state()
            && !next.overtaken
            && let Some(f) = self.afar.fired.take_if(|f| soon(f))
        {
            self.was_no_timer(&f);
            self.timer.fired_at = Time::FAR_PAST;
        }
    }

    /// New data leaves while a loss is repaired: duplicate ACKs inflate the window of fast recovery (RFC 5681 §3.2 step 4).
    /// Tahoe sends none before it has sent everything again.
    #[inline]
    pub fn see_recovery(&mut self, segments: u32) {
        if let State::Recovery { recover, .. } = self.state
            && self.resent.high.max(self.una) < recover
        {
            self.resent.inflated = self.resent.inflated.saturating_add(segments);
            self.resent.goes_back &= !self.inflates();
        }
    }

    /// An ACK passes on its way to the sender.
    #[inline]
    pub fn note_answer(&mut self, now: Time) {
        if let Some(fired) = &mut self.afar.fired {
            fired.answered.get_or_insert(now);
        }
    }

    /// A timer sends one segment (RFC 5681 §3.1) and the sender waits for the answer. Returns how long the answer took to
    /// the sender, and the packet that it triggered from there. A packet right behind the copy was sent with it: then no
    /// timer sent either.
    pub fn after_timeout(&mut self, next: &Next) -> Option<Span> {
        let fired = self.afar.fired.take_if(|f| next.start != f.start && !next.overtaken)?;
        if next.spacing == Span::MAX {
            return None;
        }
        if !left_together(next.seen - fired.at, next.spacing) {
            let turn = fired.answered.map(|t| next.seen - t);
            return turn.filter(|turn| !left_together(*turn, next.spacing));
        }
        if fired.unsure {
            self.was_no_timer(&fired);
        }
        None
    }
}
