//! Reasons why a sender was idle. Each reason has a file with the rule that finds it, and a line in the list.

mod ack_clock;
mod application;
mod handshake;
mod nagle;
mod peer;
mod receive_window;
mod timeout;
mod timeout_backoff;
mod unknown;
mod zero_window;

use crate::cause::Cause;
use crate::closed_set::Hue;
use crate::{closed_sets, members};

// The reasons, in order of precedence: the first one whose rule holds is the reason of a gap.
members! {
    /// Why the sender sat idle; in order of precedence.
    #[derive(Default)]
    "idle_cause" IdleCause of About {
        Handshake(handshake),
        ZeroWindow(zero_window),
        Timeout(timeout),
        TimeoutBackoff(timeout_backoff),
        ReceiveWindow(receive_window),
        Nagle(nagle),
        Peer(peer),
        AckClock(ack_clock),
        Application(application),
        #[default]
        Unknown(unknown),
    }
}

/// A reason as its file describes it.
pub struct About {
    /// As it stands in JSON and tables.
    pub name: &'static str,
    /// As it stands in a sentence or a legend: "idle 2 s ...".
    pub in_words: &'static str,
    /// For docs/definitions.md, in Markdown.
    pub means: &'static str,
    pub group: Group,
    pub colour: Hue,
    /// Whether a gap shows this reason.
    holds: fn(&Gap) -> bool,
    data_waits: DataWaits,
    /// An outage may hide in such a gap: it is neither for want of data nor for want of room at the receiver.
    pub path_may_be_dark: bool,
}

closed_sets! {
    /// Groups of reasons: a timer, an ACK, a window.
    "idle_group" Group {
        Opening = "opening", "the handshake";
        Window = "window", "the receiver's window";
        Timer = "timer", "a timer";
        Ack = "ack", "an ACK";
        Application = "application", "an application";
        Unknown = "unknown", "unknown";
    }
}

/// Whether data waits to be sent in a gap.
enum DataWaits {
    Yes,
    No,
    /// The reason is not known: data waits if other data is in flight.
    IfInFlight,
}

impl About {
    fn properties(&self) -> Vec<(&'static str, &'static str)> {
        let data_waits = match self.data_waits {
            DataWaits::Yes => "yes",
            DataWaits::No => "no",
            DataWaits::IfInFlight => "if data is in flight",
        };
        vec![
            ("means", self.means),
            ("group", self.group.name()),
            ("colour", self.colour.name()),
            ("data_waits", data_waits),
        ]
    }
}

impl IdleCause {
    /// The reason of a gap.
    pub(crate) fn of(gap: &Gap) -> IdleCause {
        let mut all = IdleCause::ALL.iter().copied();
        all.find(|cause| (cause.about().holds)(gap)).unwrap_or_default()
    }
    /// Whether data waited meanwhile: a window, a timer or an ACK held it back. A gap without a known cause counts
    /// where something was in flight.
    pub fn holds_data_back(self, flight_bytes: u64) -> bool {
        match self.about().data_waits {
            DataWaits::Yes => true,
            DataWaits::No => false,
            DataWaits::IfInFlight => flight_bytes > 0,
        }
    }
    /// Whether the sender waited for its retransmission timer or for its probe timer.
    pub fn by_timer(self) -> bool {
        self.about().group == Group::Timer
    }
}

/// The state of the stream when a gap ended, before the packet that ended it was processed. `flight` and `window` are the
/// sender's during the gap: an ACK that ended it has not changed them yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gap {
    /// Cause and back-off of the retransmission that ended the gap, if one did.
    pub resent: Option<(Cause, u32)>,
    /// A probe with new data ended it.
    pub probe: bool,
    pub handshake: bool,
    pub zero_window: bool,
    pub flight: u64,
    /// The receive window in bytes; `None` where its scale is not known.
    pub window: Option<u64>,
    pub mss: u64,
    /// An ACK with news reached the sender no longer before than an ACK takes to set off a packet.
    pub by_ack: bool,
    /// That ACK was of all that was in flight, the last of it no full segment, and had no data with it.
    pub of_small: bool,
    /// Two full segments or more waited far longer for that ACK than others had: a receiver answers those at once
    /// (RFC 9293 §3.8.6.3), so nothing came through.
    pub stalled: bool,
    /// A wider window reached it so shortly before.
    pub by_window: bool,
    /// A packet ended it that is no full segment, and all that the window had room for: a sender that has more to send
    /// waits for a timer before it sends so little (RFC 9293 §3.8.6.2.1).
    pub took_all_room: bool,
    /// The highest data before it ended in PSH or FIN.
    pub pushed: bool,
    /// Data of the other host's came in it, and nothing was in flight any more.
    pub asked: bool,
    /// It lasted to the end of the observation.
    pub unended: bool,
}

impl Gap {
    pub fn takes_all_room(&self, payload: u32) -> bool {
        let payload = u64::from(payload);
        self.flight == 0 && payload < self.mss && self.window == Some(payload)
    }

    /// Not another segment fitted; with nothing in flight, where a sender waits for a window worth a segment (the
    /// silly window, RFC 9293 §3.8.6.2.1). A window that is full because no ACK comes is not what was waited for,
    /// unless the receiver took back some of it.
    fn fills_window(&self) -> bool {
        let waits = self.flight > 0 || self.by_window || self.took_all_room;
        let full = |w| self.flight + self.mss > w && (!self.stalled || self.flight > w);
        waits && self.window.is_some_and(full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap() -> Gap {
        Gap { window: Some(65535), mss: 1448, pushed: true, ..Gap::default() }
    }

    #[test]
    fn causes_follow_their_precedence() {
        assert_eq!(IdleCause::of(&gap()), IdleCause::Application);
        assert_eq!(IdleCause::of(&Gap { pushed: false, ..gap() }), IdleCause::Unknown);
        assert_eq!(IdleCause::of(&Gap { flight: 2896, by_ack: true, ..gap() }), IdleCause::AckClock);
        assert_eq!(IdleCause::of(&Gap { flight: 64500, by_ack: true, ..gap() }), IdleCause::ReceiveWindow);
        assert_eq!(
            IdleCause::of(&Gap { flight: 64500, window: None, by_ack: true, ..gap() }),
            IdleCause::AckClock
        );
        let stalled = Gap { flight: 64500, by_ack: true, stalled: true, ..gap() };
        assert_eq!(IdleCause::of(&stalled), IdleCause::AckClock);
        let small = Gap { flight: 100, by_ack: true, of_small: true, ..gap() };
        assert_eq!(IdleCause::of(&small), IdleCause::Nagle);
        assert_eq!(IdleCause::of(&Gap { window: Some(1000), ..small }), IdleCause::ReceiveWindow);
        assert_eq!(IdleCause::of(&Gap { by_ack: false, ..small }), IdleCause::Unknown);
        assert_eq!(
            IdleCause::of(&Gap { window: Some(1000), by_window: true, ..gap() }),
            IdleCause::ReceiveWindow
        );
        assert_eq!(IdleCause::of(&Gap { window: Some(1000), ..gap() }), IdleCause::Application);
        let little = Gap { window: Some(1024), ..gap() };
        assert!(little.takes_all_room(1024) && !little.takes_all_room(1000));
        assert_eq!(IdleCause::of(&Gap { took_all_room: true, ..little }), IdleCause::ReceiveWindow);
        assert_eq!(IdleCause::of(&Gap { asked: true, ..gap() }), IdleCause::Peer);
        assert_eq!(IdleCause::of(&Gap { asked: true, flight: 2896, by_ack: true, ..gap() }), IdleCause::Peer);
        let timeout = Gap { flight: 64500, resent: Some((Cause::Timeout, 0)), ..gap() };
        assert_eq!(IdleCause::of(&timeout), IdleCause::Timeout);
        assert_eq!(
            IdleCause::of(&Gap { resent: Some((Cause::Timeout, 2)), ..timeout }),
            IdleCause::TimeoutBackoff
        );
        assert_eq!(IdleCause::of(&Gap { zero_window: true, ..timeout }), IdleCause::ZeroWindow);
        assert_eq!(
            IdleCause::of(&Gap { handshake: true, zero_window: true, ..timeout }),
            IdleCause::Handshake
        );
    }
}
