//! Idle gaps: no data segment sent for longer than a threshold, and why.

use crate::rows::{Cause, IdleCause};
use wire::{Span, Time};

/// What was true when the gap ended, before the packet that ended it was taken in. `flight` and `window` are those
/// that the sender had during the gap: what ended it, if an ACK did, is not in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gap {
    /// What the packet that ended it is, if it is a retransmission, and its back-off.
    pub resent: Option<(Cause, u32)>,
    /// A probe with new data ended it.
    pub probe: bool,
    pub handshake: bool,
    pub zero_window: bool,
    pub flight: u64,
    /// What the receiver advertised; `None` where its scale is not known.
    pub window: Option<u64>,
    pub mss: u64,
    /// An ACK with news reached the sender no longer before than an ACK takes to set off a packet.
    pub by_ack: bool,
    /// That ACK was of all that was in flight, the last of it no full segment, and had no data with it.
    pub of_small: bool,
    /// A wider window reached it so shortly before.
    pub by_window: bool,
    /// The last data before it ended in PSH or FIN.
    pub pushed: bool,
}

impl Gap {
    /// The cause, by the precedence of the definition.
    pub fn cause(&self) -> IdleCause {
        match self.resent {
            _ if self.handshake => IdleCause::Handshake,
            _ if self.zero_window => IdleCause::ZeroWindow,
            Some((Cause::Timeout, 0)) | Some((Cause::Probe, _)) => IdleCause::Timeout,
            Some((Cause::Timeout, _)) => IdleCause::TimeoutBackoff,
            _ if self.probe => IdleCause::Timeout,
            _ if self.fills_window() => IdleCause::ReceiveWindow,
            _ if self.by_ack && self.of_small => IdleCause::Nagle,
            _ if self.flight > 0 && self.by_ack => IdleCause::AckClock,
            _ if self.flight == 0 && self.pushed => IdleCause::Application,
            _ => IdleCause::Unknown,
        }
    }

    /// Not another segment fitted; with nothing in flight, where a sender waits for a window worth a segment (the
    /// silly window, RFC 9293 §3.8.6.2.1).
    fn fills_window(&self) -> bool {
        let waits = self.flight > 0 || self.by_window;
        waits && self.window.is_some_and(|w| self.flight + self.mss > w)
    }
}

/// The threshold: what the user set, or max(2 RTTmin, 50 ms).
pub fn threshold(set: Option<Span>, rtt_min: Option<Span>) -> Span {
    set.unwrap_or_else(|| Span::from_millis(50).max(rtt_min.unwrap_or(Span::ZERO) * 2))
}

/// Totals of a stream's gaps.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdleTotals {
    pub total: Span,
    pub longest: Span,
    pub gaps: u32,
}

impl IdleTotals {
    pub fn add(&mut self, from: Time, to: Time) {
        let length = to - from;
        self.total += length;
        self.longest = self.longest.max(length);
        self.gaps += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap() -> Gap {
        Gap {
            resent: None,
            probe: false,
            handshake: false,
            zero_window: false,
            flight: 0,
            window: Some(65535),
            mss: 1448,
            by_ack: false,
            of_small: false,
            by_window: false,
            pushed: true,
        }
    }

    #[test]
    fn causes_follow_their_precedence() {
        assert_eq!(gap().cause(), IdleCause::Application);
        assert_eq!(Gap { pushed: false, ..gap() }.cause(), IdleCause::Unknown);
        assert_eq!(Gap { flight: 2896, by_ack: true, ..gap() }.cause(), IdleCause::AckClock);
        assert_eq!(Gap { flight: 64500, by_ack: true, ..gap() }.cause(), IdleCause::ReceiveWindow);
        assert_eq!(Gap { flight: 64500, window: None, by_ack: true, ..gap() }.cause(), IdleCause::AckClock);
        let small = Gap { flight: 100, by_ack: true, of_small: true, ..gap() };
        assert_eq!(small.cause(), IdleCause::Nagle);
        assert_eq!(Gap { window: Some(1000), ..small }.cause(), IdleCause::ReceiveWindow);
        assert_eq!(Gap { by_ack: false, ..small }.cause(), IdleCause::Unknown);
        assert_eq!(Gap { window: Some(1000), by_window: true, ..gap() }.cause(), IdleCause::ReceiveWindow);
        assert_eq!(Gap { window: Some(1000), ..gap() }.cause(), IdleCause::Application);
        let timeout = Gap { flight: 64500, resent: Some((Cause::Timeout, 0)), ..gap() };
        assert_eq!(timeout.cause(), IdleCause::Timeout);
        assert_eq!(Gap { resent: Some((Cause::Timeout, 2)), ..timeout }.cause(), IdleCause::TimeoutBackoff);
        assert_eq!(Gap { zero_window: true, ..timeout }.cause(), IdleCause::ZeroWindow);
        assert_eq!(Gap { handshake: true, zero_window: true, ..timeout }.cause(), IdleCause::Handshake);
    }
}
