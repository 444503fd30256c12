//! What the analysis assumes of TCP stacks and of hosts, each fact once, with its reason and its source. A capture does not
//! show these; everything else that a rule compares with is learnt from the flow itself.

use wire::Span;

/// No stack outside data centres has a retransmission timer that is shorter: Linux's TCP_RTO_MIN, and the slop of BSD.
/// RFC 6298 §2.4 asks for a second, which few do.
pub(crate) const MIN_RTO: Span = Span::from_millis(200);

/// The silence that the shortest timer leaves at a place away from the sender: the packet before it may have been queued on
/// its way and the timer's copy not.
pub(crate) const MIN_RTO_AWAY: Span = Span::from_millis(170);

/// The shortest timer as a capture may show it: it was set up to a tick before, or a little before, the packet that the
/// capture has of that moment.
pub(crate) const MIN_RTO_SEEN: Span = Span::from_millis(180);

/// Duplicate ACKs that make a sender retransmit (RFC 5681 §3.2), or segments SACKed above a hole (RFC 6675 §2).
pub(crate) const DUP_THRESH: u32 = 3;

/// The least RTO of a stack that keeps to RFC 6298 §2.4.
pub(crate) const MIN_RTO_RFC6298: Span = Span::from_secs(1);

/// The longest that a receiver holds an ACK back, as most do: Linux's TCP_DELACK_MAX. RFC 5681 §4.2 allows 500 ms.
pub(crate) const DELAYED_ACK: Span = Span::from_millis(200);

/// What follows something within this time was triggered by it, or left with it: a host answers sooner, and no timer is so
/// short (Linux's TCP_TIMEOUT_MIN is two ticks, of 1 ms each).
pub(crate) const AT_ONCE: Span = Span::from_millis(1);
