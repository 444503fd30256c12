//! The receiving host made it worse than it was: it throws away what arrives beyond a hole.

use super::Episode;
use crate::cause::Cause;
use crate::certainty::Certainty;
use analysis::rows::Vantage;

/// Data arrived beyond the hole, and was sent again all the same: its receiver had not kept it, nor said a word, where each
/// such segment should be answered at once (RFC 5681 section 4.2).
pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    let arrives = e.conversation.vantage(e.side) != Vantage::Sender;
    let again = e.row.needless > 0 && e.row.needless < e.row.retransmissions && e.lost() > 0;
    let silent = e.flow.duplicate_acks == 0 && e.timed_out();
    let beyond = e.row.sent_after_loss_bytes >= e.conversation.mss(e.side);
    (arrives && again && silent && beyond).then_some((Cause::ReceiverStack, Certainty::Likely))
}
