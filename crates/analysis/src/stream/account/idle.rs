//! Idle gaps: no data segment sent for longer than a threshold, and why.

use super::{Account, Stand, Surroundings, View};
use crate::infer::LEAST_MSS;
use crate::rows::{Cause, FlowId, IdleCause, IdleRow};
use crate::sink::Sink;
use wire::{Packet, Span, Time};

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
            _ if self.asked => IdleCause::Peer,
            _ if self.flight > 0 && self.by_ack => IdleCause::AckClock,
            _ if self.flight == 0 && self.pushed => IdleCause::Application,
            _ => IdleCause::Unknown,
        }
    }

    fn takes_all_room(&self, payload: u32) -> bool {
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

/// The threshold: what the user set, or max(2 RTTmin, 50 ms).
pub fn threshold(set: Option<Span>, rtt_min: Option<Span>) -> Span {
    set.unwrap_or_else(|| Span::from_millis(50).max(rtt_min.unwrap_or(Span::ZERO) * 2))
}

/// What ended a gap.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// A retransmission, with its back-off.
    pub resent: Option<(Cause, u32)>,
    /// A probe with new data.
    pub probe: bool,
    /// An ACK with news reached the sender no longer before than an ACK takes to set off a packet.
    pub by_ack: bool,
    /// When the sender's SYN passed.
    pub syn: Option<Time>,
}

impl Account {
    /// A gap in the sending ends with this packet, if there was one.
    pub fn note_gap<S: Sink>(
        &mut self,
        packet: &Packet,
        by: &Ended,
        stand: &Stand<'_>,
        around: &mut Surroundings<'_, S>,
    ) {
        if packet.seg.payload == 0 {
            return; // a bare FIN is no data, and ends no gap
        }
        let to = around.view.sent;
        let any_before = stand.last.seen.is_some();
        let syn = by.syn.unwrap_or(to);
        let mut from = if any_before { stand.last.sent } else { syn };
        if to - from <= self.idle_threshold(around) {
            return; // and no part of it is longer
        }
        let mut gap = Gap {
            resent: by.resent,
            probe: by.probe,
            flight: stand.flight,
            window: stand.window.told(),
            mss: u64::from(stand.agreed.mss),
            by_ack: by.by_ack,
            stalled: by.by_ack && self.waited_long(from, to, stand, &around.view),
            pushed: stand.last.end_pushed,
            ..Gap::default()
        };
        gap.took_all_room = gap.takes_all_room(packet.seg.payload);
        if by.resent.is_none() {
            self.look_before_the_ack(&mut gap, from, to, stand, &around.view);
        }
        if !any_before {
            // Until the handshake is over nothing may be sent; what passes after that is another wait.
            from = around.view.established.map_or(to, |t| t.max(syn).min(to));
            self.gap_row(syn, from, &Gap { handshake: true, ..gap }, stand.flow, around);
        }
        gap.zero_window = stand.window.zero_since.is_some() || stand.window.reopened > from;
        let asked = (around.view.spoken + around.view.turn).min(to);
        // Data that came while something was in flight set nothing off, unless it brought the ACK.
        let free = stand.flight == 0 && (!by.by_ack || self.ack.carried) && by.resent.is_none() && !by.probe;
        if !free || asked <= from {
            return self.gap_row(from, to, &gap, stand.flow, around);
        }
        let until_asked = Gap { asked: true, ..gap };
        let then = Gap { flight: 0, by_ack: false, by_window: false, ..gap };
        let long = self.idle_threshold(around);
        match (asked - from > long, to - asked > long) {
            (true, true) => {
                self.gap_row(from, asked, &until_asked, stand.flow, around);
                self.gap_row(asked, to, &then, stand.flow, around);
            }
            // A gap is one: what is short goes with the rest.
            _ if asked - from >= to - asked => self.gap_row(from, to, &until_asked, stand.flow, around),
            _ => self.gap_row(from, to, &then, stand.flow, around),
        }
    }

    /// What held the sender back is what was so until the ACK came that ended the gap.
    fn look_before_the_ack(&self, gap: &mut Gap, from: Time, to: Time, stand: &Stand<'_>, view: &View) {
        let told = stand.window.changed + view.turn;
        let just_now = told > from && to - told <= self.pace(view, false).tolerance;
        gap.by_window = just_now && stand.window.now > stand.window.before;
        if gap.by_ack {
            let small = stand.last.payload < full_segment(stand);
            gap.of_small = gap.flight == 0 && small && !self.ack.carried;
            gap.flight += self.ack.took;
        }
        if just_now {
            gap.window = gap.window.map(|_| stand.window.before);
        }
    }

    /// Twice as long as the last ACK before the gap took, or longer, for all that is in flight left before it.
    fn waited_long(&self, from: Time, to: Time, stand: &Stand<'_>, view: &View) -> bool {
        let before = self.rtt.at(from).map(|rtt| rtt + view.turn);
        let flight = stand.flight + self.ack.took;
        flight >= 2 * u64::from(full_segment(stand)) && before.is_some_and(|rtt| to - from > rtt * 2)
    }

    fn idle_threshold<S: Sink>(&self, around: &Surroundings<'_, S>) -> Span {
        threshold(around.config.idle, self.rtt.min().map(|r| r + around.view.turn))
    }

    /// A row, if it is long enough for one.
    pub fn gap_row<S: Sink>(
        &mut self,
        from: Time,
        to: Time,
        gap: &Gap,
        flow: FlowId,
        around: &mut Surroundings<'_, S>,
    ) {
        // When a packet was sent is a guess where its queue is not seen, and no gap is known of before the capture.
        let (from, to) = (from.max(around.origin), to.max(around.origin));
        let limit = self.idle_threshold(around);
        if to - from <= limit {
            return;
        }
        let cause = gap.cause();
        self.idle.add(from, to, cause.holds_data_back(gap.flight));
        around.sink.idle(IdleRow {
            flow,
            start: from,
            end: to,
            excess: to - from - limit,
            cause,
            flight_bytes: gap.flight,
            told: false,
        });
    }
}

/// What a segment holds that is full: less than the MSS where the path takes less (RFC 1191, RFC 8899).
fn full_segment(stand: &Stand<'_>) -> u32 {
    stand.last.largest.max(LEAST_MSS).min(stand.agreed.mss)
}

/// Totals of a stream's gaps.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdleTotals {
    pub total: Span,
    /// While data waited.
    pub blocked: Span,
    pub longest: Span,
    pub gaps: u32,
}

impl IdleTotals {
    pub fn add(&mut self, from: Time, to: Time, blocked: bool) {
        let length = to - from;
        self.total += length;
        if blocked {
            self.blocked += length;
        }
        self.longest = self.longest.max(length);
        self.gaps += 1;
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
        assert_eq!(gap().cause(), IdleCause::Application);
        assert_eq!(Gap { pushed: false, ..gap() }.cause(), IdleCause::Unknown);
        assert_eq!(Gap { flight: 2896, by_ack: true, ..gap() }.cause(), IdleCause::AckClock);
        assert_eq!(Gap { flight: 64500, by_ack: true, ..gap() }.cause(), IdleCause::ReceiveWindow);
        assert_eq!(Gap { flight: 64500, window: None, by_ack: true, ..gap() }.cause(), IdleCause::AckClock);
        let stalled = Gap { flight: 64500, by_ack: true, stalled: true, ..gap() };
        assert_eq!(stalled.cause(), IdleCause::AckClock);
        let small = Gap { flight: 100, by_ack: true, of_small: true, ..gap() };
        assert_eq!(small.cause(), IdleCause::Nagle);
        assert_eq!(Gap { window: Some(1000), ..small }.cause(), IdleCause::ReceiveWindow);
        assert_eq!(Gap { by_ack: false, ..small }.cause(), IdleCause::Unknown);
        assert_eq!(Gap { window: Some(1000), by_window: true, ..gap() }.cause(), IdleCause::ReceiveWindow);
        assert_eq!(Gap { window: Some(1000), ..gap() }.cause(), IdleCause::Application);
        let little = Gap { window: Some(1024), ..gap() };
        assert!(little.takes_all_room(1024) && !little.takes_all_room(1000));
        assert_eq!(Gap { took_all_room: true, ..little }.cause(), IdleCause::ReceiveWindow);
        assert_eq!(Gap { asked: true, ..gap() }.cause(), IdleCause::Peer);
        assert_eq!(Gap { asked: true, flight: 2896, by_ack: true, ..gap() }.cause(), IdleCause::Peer);
        let timeout = Gap { flight: 64500, resent: Some((Cause::Timeout, 0)), ..gap() };
        assert_eq!(timeout.cause(), IdleCause::Timeout);
        assert_eq!(Gap { resent: Some((Cause::Timeout, 2)), ..timeout }.cause(), IdleCause::TimeoutBackoff);
        assert_eq!(Gap { zero_window: true, ..timeout }.cause(), IdleCause::ZeroWindow);
        assert_eq!(Gap { handshake: true, zero_window: true, ..timeout }.cause(), IdleCause::Handshake);
    }
}
