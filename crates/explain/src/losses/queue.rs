//! A full queue dropped it.

use super::Episode;
use crate::assumptions::QUEUE_FULL;
use crate::cause::Cause;
use crate::certainty::Certainty;

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    if e.path.policer.is_some() {
        return Some((Cause::Policer, Certainty::Likely));
    }
    if e.path.overruns && e.bursts.iter().any(|b| b.lost_segments > 1 && e.path.is_at_once(b)) {
        return Some((Cause::LossQueue, Certainty::Likely));
    }
    // One packet after the other makes no queue.
    if e.row.flight_bytes <= 2 * e.conversation.mss(e.side) {
        return None;
    }
    let base = e.conversation.base_rtt?;
    let queue = e.conversation.largest_rtt? - base;
    if queue < e.conversation.least_queue() {
        return None;
    }
    let before = e.bursts.iter().filter_map(|b| b.rtt_before).map(|rtt| rtt - base).max()?;
    (before >= queue.scale(QUEUE_FULL)).then_some((Cause::LossQueue, Certainty::Likely))
}
