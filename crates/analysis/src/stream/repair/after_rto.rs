//! The packets that follow an assumed timeout, seen at the receiver. They may show that no timer had fired, and they
//! measure the way from the receiver through the sender and back.

use super::{RetransmittedSegment, SenderModel, State};
use crate::assumptions::{DUP_THRESH, MIN_RTO_SEEN};
use wire::{Span, Time};

/// The state of the model before it assumed a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct RtoGuess {
    state: State,
    start: u64,
    high: u64,
    /// When the timer's copy passed here, and when its answer did.
    at: Time,
    answered: Option<Time>,
    /// The cumulative ACK had moved shortly before, so the retransmission may be a fast retransmit that a queue
    /// delayed.
    progress_was_recent: bool,
    /// Three duplicate ACKs or, in fast recovery, a partial ACK had asked for it.
    asked: bool,
}

/// The data packet that follows a retransmission ascribed to the timer.
#[derive(Clone, Copy, Debug)]
pub struct PacketAfterRto {
    pub start: u64,
    /// When it passed here.
    pub seen: Time,
    /// A packet that was sent after it came before it.
    pub overtaken: bool,
    /// The least distance between two packets that were sent back to back.
    pub spacing: Span,
}

/// Two packets count as sent back to back if they are at most this many times the least spacing apart: a packet
/// triggered by the ACK of the first would come later on any path.
const BACK_TO_BACK_FACTOR: f64 = 1.02;

/// Two packets this far apart were sent back to back; `spacing` is the least distance seen.
fn left_together(gap: Span, spacing: Span) -> bool {
    spacing < Span::MAX && gap <= spacing.scale(BACK_TO_BACK_FACTOR)
}

/// If the cumulative ACK has not moved for this long, the retransmission is the timer's even if more packets follow
/// at once. If it moved more recently, a timer with a floor of one second (RFC 6298 §2.4) cannot have fired.
const SURELY_RTO_AFTER: Span = Span::from_millis(800);

impl SenderModel {
    /// The model is about to assume a timeout.
    pub(super) fn note_rto_guess(&mut self, a: &RetransmittedSegment) {
        let asked = match self.state {
            State::Open => self.duplicates >= DUP_THRESH || self.asked_for[0] == a.start,
            State::Recovery { .. } => true,
            State::Loss { .. } => false,
        };
        // Acknowledged data is repeated needlessly: ACKs that say so may still be on their way to the sender.
        self.remote.rto_guess = (!a.acknowledged).then(|| {
            Box::new(RtoGuess {
                state: self.state,
                start: a.start,
                high: a.next,
                at: a.seen,
                answered: None,
                progress_was_recent: a.now - self.last_progress < SURELY_RTO_AFTER,
                asked,
            })
        });
    }

    /// The same data is retransmitted again before a timer that has just fired can fire again (RFC 6298 §5.5), and
    /// fast recovery does not retransmit a segment twice (RFC 6582 §3.2). So the first retransmission was a fast
    /// retransmit, and this one is the timeout.
    pub(super) fn see_rto_after_fast_retransmit(&mut self, a: &RetransmittedSegment) {
        let early = self.is_timers() && a.now - self.timer.fired_at < MIN_RTO_SEEN;
        if early && let Some(f) = self.remote.rto_guess.take_if(|f| f.start == a.start && f.asked) {
            self.undo_rto_guess(&f);
            self.timer.fired_at = Time::FAR_PAST;
        }
    }

    /// The assumed timeout was a repair that duplicate ACKs had asked for.
    fn undo_rto_guess(&mut self, f: &RtoGuess) {
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
    pub fn see_new_data_after_rto(&mut self, next: &PacketAfterRto, turn: Span) {
        let soon = |f: &RtoGuess| f.progress_was_recent && f.asked && next.seen - f.at < turn.scale(0.7);
        if self.in_loss_state()
            && !next.overtaken
            && let Some(f) = self.remote.rto_guess.take_if(|f| soon(f))
        {
            self.undo_rto_guess(&f);
            self.timer.fired_at = Time::FAR_PAST;
        }
    }

    /// New data leaves while a loss is repaired: duplicate ACKs inflate the window of fast recovery (RFC 5681 §3.2 step 4).
    /// Tahoe sends none before it has sent everything again.
    #[inline]
    pub fn see_recovery(&mut self, segments: u32) {
        if let State::Recovery { recover, .. } = self.state
            && self.trace.high.max(self.una) < recover
        {
            self.trace.new_in_recovery = self.trace.new_in_recovery.saturating_add(segments);
            self.trace.go_back_n &= !self.sends_new_in_recovery();
        }
    }

    /// An ACK passes on its way to the sender.
    #[inline]
    pub fn note_answer(&mut self, now: Time) {
        if let Some(fired) = &mut self.remote.rto_guess {
            fired.answered.get_or_insert(now);
        }
    }

    /// A timer sends one segment (RFC 5681 §3.1), and the sender waits for its ACK. Returns the time from that ACK passing here
    /// to the packet that it triggered. A packet right behind the retransmission was sent together with it: then no timer
    /// sent either.
    pub fn after_timeout(&mut self, next: &PacketAfterRto) -> Option<Span> {
        let fired = self.remote.rto_guess.take_if(|f| next.start != f.start && !next.overtaken)?;
        if next.spacing == Span::MAX {
            return None;
        }
        if !left_together(next.seen - fired.at, next.spacing) {
            let turn = fired.answered.map(|t| next.seen - t);
            return turn.filter(|turn| !left_together(*turn, next.spacing));
        }
        if fired.progress_was_recent {
            self.undo_rto_guess(&fired);
        }
        None
    }
}
