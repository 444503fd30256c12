//! Where the sender is watched from: what the model asks of both judges, [`AtSender`] and [`Away`], and nothing else in
//! it asks where it stands.

use super::evidence::Observed;
use super::{Attempt, Pace, Repair, Verdict};
pub use super::{at_sender::AtSender, away::Away};
use wire::Span;

/// The hypothesis about a sender, as it can be held from one place.
pub trait Judge {
    /// Why was it sent again?
    fn judge(&self, sender: &Repair, a: &Attempt, pace: &Pace) -> Verdict;
    /// How close to an ACK what it set off must be.
    fn tight(&self, sender: &Repair, pace: &Pace) -> Span;
    /// The timer is about to be taken to have fired. Was a repair under way (RFC 5682 §2.1)?
    fn was_repairing(&self, sender: &mut Repair, a: &Attempt) -> bool;
    /// How often the timer fired before, and what it sent was not seen.
    fn unseen_firings(&self, sender: &Repair, a: &Attempt, pace: &Pace) -> u32;
    /// The RTO that a tail-loss probe must come before (RFC 8985 §7.2).
    fn rto_for_probe(&self, pace: &Pace) -> Span;

    /// Packets are seen as they leave: the pace shows that a sender keeps of its own, and what its clocks let go.
    fn sees_it_send(&self) -> bool {
        true
    }
    /// It shows when the timer that fires was begun.
    fn saw_timer_begin(&self, _sender: &Repair, _a: &Attempt) -> bool {
        true
    }
    /// What may have happened unseen before a retransmission, which is about to be explained.
    fn catch_up(&self, _sender: &mut Repair, _a: &Attempt, _pace: &Pace) {}
    /// What stands around that retransmission, where it leaves room for doubt.
    fn observe(&self, _sender: &Repair, _a: &Attempt, _pace: &Pace) -> Option<Observed> {
        None
    }
}

/// Where the sender is watched from.
#[derive(Clone, Copy, Debug)]
pub enum Seat {
    AtSender(AtSender),
    Away(Away),
}

impl Seat {
    /// Who judges from there.
    #[inline]
    pub fn judge(&self) -> &dyn Judge {
        match self {
            Seat::AtSender(judge) => judge,
            Seat::Away(judge) => judge,
        }
    }
}
