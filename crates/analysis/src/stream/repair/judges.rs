//! The two judges of a retransmission: [`AtSender`] where packets are seen as they leave, [`Remote`] elsewhere. The rest
//! of the model does not depend on where the capture was taken.

use super::evidence::Observed;
use super::{PathTiming, RetransmittedSegment, SenderModel, Verdict};
pub use super::{at_sender::AtSender, remote::Remote};
use wire::Span;

/// What the model asks, and what depends on where the capture was taken.
pub trait Judge {
    /// Decides why a segment was sent again.
    fn judge(&self, sender: &SenderModel, a: &RetransmittedSegment, timing: &PathTiming) -> Verdict;
    /// The longest time between an ACK and a packet that it triggered.
    fn tight(&self, sender: &SenderModel, timing: &PathTiming) -> Span;
    /// Whether a repair was under way when the timer is assumed to have fired (RFC 5682 §2.1).
    fn was_repairing(&self, sender: &mut SenderModel, a: &RetransmittedSegment) -> bool;
    /// How often the timer had fired before without its packet being seen.
    fn unseen_timeouts(&self, sender: &SenderModel, a: &RetransmittedSegment, timing: &PathTiming) -> u32;
    /// The RTO that a tail-loss probe must come before (RFC 8985 §7.2).
    fn rto_for_probe(&self, timing: &PathTiming) -> Span;

    /// Packets are seen as they leave, so pacing and timers can be measured.
    fn sees_it_send(&self) -> bool {
        true
    }
    /// The start of the timer that fires is known.
    fn saw_timer_start(&self, _sender: &SenderModel, _a: &RetransmittedSegment) -> bool {
        true
    }
    /// Follows what the sender may have done unseen before the retransmission that is about to be judged.
    fn catch_up(&self, _sender: &mut SenderModel, _a: &RetransmittedSegment, _timing: &PathTiming) {}
    /// Observations about that retransmission, for naming a second cause that fits nearly as well.
    fn observe(
        &self,
        _sender: &SenderModel,
        _a: &RetransmittedSegment,
        _timing: &PathTiming,
    ) -> Option<Observed> {
        None
    }
}

/// The judge for the place where the capture was taken.
#[derive(Clone, Copy, Debug)]
pub enum JudgedFrom {
    AtSender(AtSender),
    Remote(Remote),
}

impl JudgedFrom {
    #[inline]
    pub fn judge(&self) -> &dyn Judge {
        match self {
            JudgedFrom::AtSender(judge) => judge,
            JudgedFrom::Remote(judge) => judge,
        }
    }
}
