//! What the observer of a stream's rounds is told.

use super::{Account, Stand};
use crate::rounds::{Counted, SetOff};
use crate::rows::{FlowId, RoundRow};
use crate::sink::Sink;
use wire::{Flags, Packet, Span, Time};

/// Of a flow of fewer segments there is nothing to tell.
const LEAST_SEGMENTS: u64 = 10;

/// An ACK sets off data within this time at a host that is not busy; where ACKs come closer together than that, within a
/// quarter of their distance, or data that nothing set off would seem to follow on one of them.
const PROMPT: Span = Span::from_millis(1);
const PROMPT_AT_LEAST: Span = Span::from_micros(150);

impl Account {
    fn counted(&self) -> Counted {
        Counted {
            sent_bytes: self.counts.bytes,
            resent_bytes: self.counts.resent_bytes,
            delivered_bytes: self.delivery.bytes(),
        }
    }

    /// An ACK has been taken in; `flight` is what it met, `window` what is told of the other host's.
    #[inline(always)]
    pub fn ack_in_round(&mut self, now: Time, flight: u64, window: Option<u64>) {
        let Some(rounds) = &mut self.rounds else { return self.begin_rounds(now) };
        let window = window.unwrap_or(u64::MAX);
        if rounds.on_ack(now, flight, window, self.delivery.bytes()) {
            let (counted, rtt) = (self.counted(), self.whole_round());
            if let Some(rounds) = &mut self.rounds {
                rounds.turn(now, counted, rtt);
            }
        }
    }

    #[inline(never)]
    fn begin_rounds(&mut self, now: Time) {
        if self.counts.segments >= LEAST_SEGMENTS {
            let (counted, rtt) = (self.counted(), self.whole_round());
            let mut rounds = self.spare_rounds.take().unwrap_or_default();
            rounds.begin(now, counted, rtt);
            self.rounds = Some(rounds);
        }
    }

    /// Rows of all; the `last` data left then.
    pub fn put_rounds(&mut self, flow: FlowId, last: Time, sink: &mut impl Sink) {
        let counted = self.counted();
        if let Some(rounds) = &mut self.rounds {
            let rows = rounds.finish(last, counted).iter();
            rows.for_each(|row| sink.round(RoundRow { flow, ..*row }));
        }
    }

    /// The smoothed round trip of the path, as far as it shows here: away from the sender that of the timestamps.
    fn whole_round(&self) -> Span {
        let by_timestamps = Span::from_secs_f64(self.rtt.by_timestamps().mean);
        self.rtt.srtt().max(by_timestamps)
    }

    #[inline(always)]
    pub(super) fn rtt_in_round(&mut self, sample: Span) {
        if let Some(rounds) = &mut self.rounds {
            rounds.on_rtt(sample);
        }
    }

    /// New data that had waited passes; nothing of it is counted yet.
    #[inline(never)]
    pub fn wait_in_round(&mut self, packet: &Packet, to: Time, turn: Span, stand: &Stand<'_>) {
        let from = stand.last.sent;
        if self.rounds.is_none() {
            return;
        }
        let by = self.set_off(packet, from, to, turn, stand);
        let since_ack = to - stand.last_news;
        let answered = (by == SetOff::Ack && turn == Span::ZERO).then_some(since_ack);
        if let Some(rounds) = &mut self.rounds
            && rounds.on_wait(from, to, by, answered)
        {
            self.pause_rounds(from, to);
        }
    }

    #[cold]
    fn pause_rounds(&mut self, from: Time, to: Time) {
        let (counted, rtt) = (self.counted(), self.whole_round());
        if let Some(rounds) = &mut self.rounds {
            rounds.pause(from, to, counted, rtt);
        }
    }

    fn prompt(&self, stand: &Stand<'_>) -> Span {
        // Every second segment is acknowledged (RFC 5681 section 4.2).
        let acks = (stand.flight / (2 * u64::from(stand.agreed.mss.max(1)))).max(1) as i64;
        (self.rtt.srtt() / (4 * acks)).clamp(PROMPT_AT_LEAST, PROMPT)
    }

    /// What ended the wait. `turn`: from an ACK passing here to what it sets off.
    fn set_off(&self, packet: &Packet, from: Time, to: Time, turn: Span, stand: &Stand<'_>) -> SetOff {
        let at_sender = turn == Span::ZERO;
        let by_ack = match at_sender {
            true => to - stand.last_news <= self.prompt(stand),
            false => self.rounds.as_ref().is_some_and(|r| to - from > turn / 8 && r.answers_train(to, turn)),
        };
        let mss = u64::from(stand.agreed.mss);
        let widened = stand.window.changed + turn > from && stand.window.now > stand.window.before;
        let window = if widened { stand.window.before } else { stand.window.now };
        let took = if by_ack { self.ack.took } else { 0 };
        let full = stand.window.known && at_sender && stand.next - stand.una + took + mss > window;
        // Where data arrives, by what its sender had heard when the last of it left: a newer ACK let this go.
        let full_here = !at_sender && stand.window.was_full(stand.next, mss);
        let full_sized = stand.last.largest;
        let ran_dry = stand.last.pushed && stand.last.payload < full_sized;
        // Nagle's algorithm keeps back what fills no segment, if that is all there is (RFC 896).
        let alone = stand.next == stand.una && packet.seg.payload < full_sized;
        let held_back = alone && packet.seg.flags.has(Flags::PSH);
        match () {
            () if full && (by_ack || widened) && !held_back => SetOff::Window,
            () if full_here && !held_back => SetOff::Window,
            () if held_back => SetOff::Application,
            // Where a small send buffer made room, what was written into it may end in a short segment.
            () if by_ack => SetOff::Ack,
            // A sender that has more to send fills its segments. PSH on a full one says nothing: Linux sets it wherever
            // half of the window was written (forced_push).
            () if ran_dry => SetOff::Application,
            () => SetOff::Other,
        }
    }
}
