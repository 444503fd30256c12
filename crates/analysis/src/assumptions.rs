//! The analysis' assumptions about TCP stacks and hosts: timers and thresholds that no capture shows. Each stands here once,
//! with its reason and its source. The other values that rules compare with are measured in the flow itself.

use wire::Span;

/// No stack outside data centres has a retransmission timer that is shorter: Linux's TCP_RTO_MIN, and the slop of BSD.
/// RFC 6298 §2.4 asks for a second, which few do.
pub(crate) const MIN_RTO: Span = Span::from_millis(200);

/// The shortest retransmission timer as the times of a capture show it. The host may set its timer a tick, or a short delay,
/// before the capture sees the packet that the timer waits on; away from the sender that packet may have been queued on its
/// way, and the retransmission not.
pub const MIN_RTO_SEEN: Span = Span::from_millis(170);

/// The longest retransmission timer: Linux's TCP_RTO_MAX. RFC 6298 §2.5 asks for 60 s at least where there is a maximum.
pub(crate) const MAX_RTO: Span = Span::from_secs(120);

/// Duplicate ACKs that make a sender retransmit (RFC 5681 §3.2), or segments SACKed above a hole (RFC 6675 §2).
pub(crate) const DUP_THRESH: u32 = 3;

/// The least RTO of a stack that keeps to RFC 6298 §2.4.
pub(crate) const MIN_RTO_RFC6298: Span = Span::from_secs(1);

/// The longest that a receiver holds an ACK back, as most do: Linux's TCP_DELACK_MAX. RFC 5681 §4.2 allows 500 ms.
pub(crate) const DELAYED_ACK: Span = Span::from_millis(200);

/// The probe timeout (RFC 8985 §7.2): 2 SRTT, and the longest delay of an ACK where a single segment is outstanding. In the other
/// case Linux adds TCP_TIMEOUT_MIN, two ticks of 1 ms each.
fn probe_timeout(srtt: Span, one_segment: bool) -> Span {
    srtt * 2 + if one_segment { DELAYED_ACK } else { Span::from_millis(2) }
}

/// The least time after which a tail-loss probe leaves. The sender's SRTT may be a quarter less than the one measured here, and
/// a probe leaves no later than the RTO (RFC 8985 §7.2), which is SRTT and [`MIN_RTO`] at least.
pub fn probe_not_before(srtt: Span, one_segment: bool) -> Span {
    let srtt = srtt.scale(0.75);
    probe_timeout(srtt, one_segment).min(srtt + MIN_RTO)
}

/// The longest time after which a tail-loss probe leaves: the sender's SRTT may be half more than the one measured here, and
/// hosts are busy.
pub(crate) fn probe_not_after(srtt: Span, one_segment: bool) -> Span {
    probe_timeout(srtt.scale(1.5), one_segment) + Span::from_millis(50)
}

/// The longest that a receiver may hold an ACK back at all (RFC 5681 §4.2, RFC 9293 §3.8.6.3).
pub(crate) const ACK_DELAYED_AT_MOST: Span = Span::from_millis(500);

/// A packet that follows another within this time was triggered by it or sent together with it: hosts answer faster, and no
/// timer is as short (Linux's TCP_TIMEOUT_MIN is two ticks of 1 ms each).
pub const AT_ONCE: Span = Span::from_millis(1);
