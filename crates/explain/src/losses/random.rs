//! Nothing else made it: a channel lost single packets.

use super::Episode;
use crate::cause::Cause;
use crate::certainty::Certainty;

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    let flat = e
        .bursts
        .iter()
        .filter_map(|b| b.rtt_before)
        .all(|rtt| e.conversation.base_rtt.is_none_or(|base| rtt - base < e.conversation.least_queue()));
    Some((Cause::LossRandom, if flat && e.seen_leaving() { Certainty::Likely } else { Certainty::Open }))
}
