//! What a flow's row says without looking at anything else: its round trip, how long it took, where it was seen.

use crate::rows::{FlowRow, Summary, Vantage};

/// The round trips of the whole path, seconds. ACKs show them only where the sender is: elsewhere they show how
/// long the receiving host takes to answer, and echoed timestamps or the handshake stand in.
pub fn round_trip(flow: &FlowRow) -> Option<Summary> {
    let seen = |s: Summary| (s.n > 0).then_some(s);
    match flow.vantage {
        Vantage::Sender | Vantage::Both => seen(flow.rtt_ack).or(seen(flow.rtt_timestamps)),
        Vantage::Receiver | Vantage::Middle => {
            // Far below the handshake's they do not show the whole path.
            let whole = |s: &Summary| handshake(flow).is_none_or(|h| s.min >= 0.5 * h.min);
            seen(flow.rtt_timestamps).filter(whole).or_else(|| handshake(flow))
        }
        Vantage::Unknown => seen(flow.rtt_ack).or(seen(flow.rtt_timestamps)).or_else(|| handshake(flow)),
    }
}

fn handshake(flow: &FlowRow) -> Option<Summary> {
    let s = flow.handshake.filter(|_| flow.handshake_resent == 0)?.as_secs();
    Some(Summary { n: 1, min: s, mean: s, stddev: 0.0, max: s })
}

/// Data is seen as it arrives, not as it leaves: what was lost before here shows as a gap.
pub fn arriving(flow: &FlowRow) -> bool {
    flow.vantage.is_remote()
}
