//! The rate that losses allow by the rule in use.

use super::facts::Facts;
use crate::answer::flow_facts::round_trip;
use crate::rows::Growth;
use serde::{Deserialize, Serialize};
use wire::Span;

/// Bits a second that this share of losses and this round trip allow, by the rule that the sender's growth shows; where it
/// does not show, from the least of the rules to the most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allowed {
    pub least_bps: f64,
    pub most_bps: f64,
    /// Windows were cut so often, for each segment sent.
    pub cuts: f64,
    pub rtt_s: f64,
    /// `None`: the rule does not show.
    pub rule: Option<Growth>,
}

/// CUBIC's constants (RFC 9438 §4.6, §5).
const C: f64 = 0.4;
const BETA: f64 = 0.7;
/// Segments that one ACK acknowledges (RFC 5681 §4.2).
const DELAYED: f64 = 2.0;
/// Before anything is measured (RFC 6298 §2.1).
const RTO: f64 = 1.0;

/// Segments a second by AIMD with timeouts: Padhye, Firoiu, Towsley and Kurose 1998, equation 30. Without its second term
/// it is that of Mathis, Semke, Mahdavi and Ott 1997.
fn reno(p: f64, rtt: f64, rto: f64) -> f64 {
    let by_acks = rtt * (2.0 * DELAYED * p / 3.0).sqrt();
    let by_timer = rto * (3.0 * (3.0 * DELAYED * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    1.0 / (by_acks + by_timer)
}

/// Segments a second by CUBIC's mean window (RFC 9438 §5.1), in its Reno-friendly region that of Reno (§4.3).
fn cubic(p: f64, rtt: f64, rto: f64) -> f64 {
    let mean = (C * (3.0 + BETA) / (4.0 * (1.0 - BETA))).powf(0.25) * (rtt / p).powf(0.75);
    (mean / rtt).max(reno(p, rtt, rto))
}

/// `None` where nothing was lost, or the window does not follow losses.
pub(super) fn allowed(facts: &Facts) -> Option<Allowed> {
    let flow = facts.flow;
    let rule = flow.inference.growth.map(|g| g.0);
    let cuts = facts.losses().count() as f64 / flow.segments.max(1) as f64;
    let rtt_s = round_trip(flow).map(|r| r.mean).filter(|r| *r > 0.0)?;
    if cuts <= 0.0 || rule == Some(Growth::Flat) {
        return None;
    }
    let rto = flow.timers.rto.map_or(RTO, Span::as_secs);
    let bps = |segments: f64| segments * facts.mss * 8.0;
    let (reno, cubic) = (bps(reno(cuts, rtt_s, rto)), bps(cubic(cuts, rtt_s, rto)));
    let (least_bps, most_bps) = match rule {
        Some(Growth::Linear) => (reno, reno),
        Some(Growth::Cubic) => (cubic, cubic),
        _ => (reno.min(cubic), reno.max(cubic)),
    };
    Some(Allowed { least_bps, most_bps, cuts, rtt_s, rule })
}
