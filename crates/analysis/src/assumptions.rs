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

/// The longest that a receiver may hold an ACK back at all (RFC 5681 §4.2, RFC 9293 §3.8.6.3).
pub(crate) const ACK_DELAYED_AT_MOST: Span = Span::from_millis(500);

/// A packet that follows another within this time was triggered by it or sent together with it: hosts answer faster, and no
/// timer is as short (Linux's TCP_TIMEOUT_MIN is two ticks of 1 ms each).
pub const AT_ONCE: Span = Span::from_millis(1);
