//! Packets of some size and more vanish, and smaller ones come through: the path takes less than the sender thinks
//! (RFC 2923, RFC 8899), and no ICMP message says so.

use super::Episode;
use crate::cause::Cause;
use crate::certainty::Certainty;

pub(super) fn ask(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    let Some(large) = e.flow.too_large else { return never_full(e) };
    let known = large.lost >= 3 && e.seen_leaving();
    let sure = if known { Certainty::Known } else { Certainty::Likely };
    large.meets(e.row.start, e.row.end, e.flow.end).then_some((Cause::Mtu, sure))
}

/// The handshake passed, and no full segment ever did.
fn never_full(e: &Episode<'_>) -> Option<(Cause, Certainty)> {
    let mss = e.conversation.mss(e.side);
    let full = e.row.flight_bytes >= mss && e.flow.bytes >= mss;
    // Less than a full segment may have: the head of an answer, which its program writes by itself.
    let none_arrived = e.flow.acked_bytes < mss && e.row.end.is_none() && e.row.max_backoff > 0;
    (full && none_arrived && e.flow.handshake.is_some()).then_some((Cause::Mtu, Certainty::Likely))
}
