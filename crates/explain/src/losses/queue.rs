//! A full queue dropped it.

use super::Episode;
use crate::assumptions::QUEUE_FULL;
use crate::cause::Cause;
use crate::certainty::Certainty;

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    if e.path.policer.is_some() {
        return Some((Cause::Policer, Certainty::Likely));
    }
    // One packet after the other makes no queue. Where data arrives it does not show how many were on their way.
    let few = e.row.flight_bytes <= 2 * e.conversation.mss(e.side);
    if few && e.conversation.seen_leaving(e.side) {
        return None;
    }
    if e.path.overruns {
        return Some((Cause::LossQueue, Certainty::Likely));
    }
    let base = e.conversation.base_rtt?;
    let queue = e.conversation.largest_rtt? - base;
    if queue < e.conversation.least_queue() {
        return None;
    }
    let before = e.bursts.iter().filter_map(|b| b.rtt_before).map(|rtt| rtt - base).max()?;
    (before >= queue.scale(QUEUE_FULL)).then_some((Cause::LossQueue, Certainty::Likely))
}
