//! What the parts of a stream tell each other.

use super::window::Window;
use crate::infer::LEAST_MSS;
use crate::rows::{FlowId, Limit};
use wire::{Flags, Packet, Segment, Span, Time};

/// What both hosts agreed on, as far as is known. SACK blocks and timestamps that pass tell it too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreed {
    /// 0 until it is known, or asked for.
    pub mss: u32,
    pub sack_permitted: bool,
    pub timestamps: bool,
    /// Is it known whether SACK was agreed on?
    pub sack_known: bool,
    /// Blocks have passed.
    pub sack_seen: bool,
    /// The stream began before the capture.
    pub mid_stream: bool,
}

impl Agreed {
    /// MSS-sized segments in `payload` bytes; a bare FIN counts as one.
    pub fn segments(&self, payload: u32) -> u32 {
        if payload <= self.mss { 1 } else { payload.div_ceil(self.mss.max(1)) }
    }
}

/// The data that left last.
#[derive(Clone, Copy, Debug)]
pub struct LastData {
    pub payload: u32,
    /// It ended in PSH or FIN.
    pub pushed: bool,
    /// The highest data did, whatever was repaired since.
    pub end_pushed: bool,
    /// The largest payload of all.
    pub largest: u32,
    /// The largest payload without PSH: more was to follow, so it filled its segment.
    pub filled: u32,
    pub sent: Time,
    /// When it passed here; `None` before the first.
    pub seen: Option<Time>,
    /// How long after the data before it, in microseconds; as long as there is room for.
    pub waited_us: u32,
    pub ts_val: u32,
    /// When a FIN without data was sent last.
    pub fin: Time,
}

impl Default for LastData {
    fn default() -> LastData {
        LastData {
            payload: 0,
            pushed: true,
            end_pushed: true,
            largest: 0,
            filled: 0,
            sent: Time::FAR_PAST,
            seen: None,
            waited_us: 0,
            ts_val: 0,
            fin: Time::FAR_PAST,
        }
    }
}

impl LastData {
    /// Data was sent at `sent`, and passes here. `highest`: nothing above it has been sent.
    #[inline(always)]
    pub fn note(&mut self, packet: &Packet, sent: Time, highest: bool) {
        let seg = &packet.seg;
        if seg.payload > 0 {
            self.waited_us = (self.silence(packet.time).0 / 1000).try_into().unwrap_or(u32::MAX);
            (self.seen, self.sent, self.payload) = (Some(packet.time), sent, seg.payload);
            self.ts_val = seg.timestamps.map_or(0, |ts| ts.val);
        } else {
            self.fin = sent;
        }
        self.pushed = seg.flags.has(Flags::PSH.with(Flags::FIN));
        if highest {
            self.end_pushed = self.pushed;
        }
    }
    /// Notes the size of a segment with data.
    #[inline(always)]
    pub fn note_size(&mut self, seg: &Segment) {
        self.largest = self.largest.max(seg.payload);
        if !seg.flags.has(Flags::PSH) {
            self.filled = self.filled.max(seg.payload);
        }
    }
    /// How long after the data before it that passed.
    pub fn waited(&self) -> Span {
        Span::from_micros(i64::from(self.waited_us))
    }
    /// How long before `now` it passed, or a FIN behind it; the capture's clock may have gone back since.
    #[inline(always)]
    pub fn silence(&self, now: Time) -> Span {
        (now - self.seen.unwrap_or(now).max(self.fin)).max(Span::ZERO)
    }
}

/// How the stream stands: what is outstanding, and what is allowed.
#[derive(Clone, Copy, Debug)]
pub struct FlowState<'a> {
    pub flow: FlowId,
    /// Lowest offset not acknowledged, and the one after the highest seen.
    pub una: u64,
    pub next: u64,
    /// Bytes sent, not acknowledged and not SACKed.
    pub flight: u64,
    pub window: &'a Window,
    pub agreed: &'a Agreed,
    pub last: &'a LastData,
    /// When the last ACK with news reached the sender.
    pub last_news: Time,
}

impl FlowState<'_> {
    /// What a sender that has more to send puts into a segment. One whose every segment had PSH has only written messages
    /// (RFC 9293 section 3.9.1.2).
    pub fn full_segment(&self) -> u32 {
        if self.last.filled > 0 {
            self.last.filled.max(LEAST_MSS)
        } else {
            self.agreed.mss.max(self.last.largest)
        }
    }
    /// The sender had more to send behind its last data: that has no PSH (RFC 9293 section 3.9.1.2), it fills its segments, with
    /// which a message seldom ends, or it fills the receive window, which had room up to `edge`. A packet that a network card
    /// cuts holds several segments.
    pub fn goes_on(&self, edge: u64) -> bool {
        let (last, mss) = (self.last, self.agreed.mss.max(1));
        let fills = || {
            last.payload.is_multiple_of(mss) || self.window.is_full_up_to(edge, self.next, 2 * u64::from(mss))
        };
        last.seen.is_some() && (!last.pushed || fills())
    }
    /// What keeps the sender from sending more.
    pub fn limit(&self) -> Limit {
        let in_flight = self.next - self.una;
        let mss = self.agreed.mss;
        if self.window.advertised().is_some_and(|w| in_flight + u64::from(mss) > w) {
            Limit::ReceiveWindow
        } else if self.last.pushed && self.last.payload < mss {
            Limit::Application
        } else {
            Limit::SenderWindow
        }
    }
}
