//! The data had arrived, and the ACKs that say so were lost.

use super::Episode;
use crate::cause::Cause;
use crate::certainty::Certainty;

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    // Both captures tell exactly: no copy was lost, and ACKs were.
    let acks = e.row.lost_acks.is_some_and(|n| n > 0) && e.row.lost_copies == Some(0);
    acks.then_some((Cause::AckLoss, Certainty::Known))
}
