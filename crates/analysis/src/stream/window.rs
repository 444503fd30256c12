//! The window that the other host advertises.

use wire::{Span, Time};

/// What any ACK is compared with comes last, beside what else ACKs touch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Window {
    /// Its scale is known: the handshake was seen, or the flights tell.
    pub known: bool,
    /// The scale that the flights tell, where no handshake was seen.
    pub concluded: Option<u8>,
    pub fit: ScaleFit,
    pub max: u64,
    pub min: u64,
    /// What it was before an ACK changed it last, and when that was.
    pub before: u64,
    pub changed: Time,
    pub zero_since: Option<Time>,
    /// When it was last probed while it was closed.
    pub probed: Time,
    /// The last probe waits for an answer: so many packets of the receiver's host had come before it.
    pub probe_waits: Option<u32>,
    /// When it was last opened again.
    pub reopened: Time,
    pub zeros: u64,
    pub zero_time: Span,
    /// Up to where the receiver takes data, as far as its sender had heard when the last data left, and the data before.
    pub edge: u64,
    pub edge_before: u64,
    /// The window was made wider without an ACK of more, and its sender may not have heard that.
    pub update: Option<Update>,
    /// The peer's advertised window, bytes; scaled only where its scale is known.
    pub now: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Update {
    pub time: Time,
    pub ts: Option<u32>,
    /// Up to where the receiver takes data then.
    pub edge: u64,
}

/// The least scale by which the window that is advertised holds what is in flight. A sender never has more in flight than
/// its window, so that no smaller scale is possible; where the flight fills that window again and again, it is what holds
/// the sender back.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScaleFit {
    scale: u8,
    /// ACKs that met a flight, those of them whose flight left no room for a segment, and those whose flight was larger than
    /// the window.
    met: u32,
    filled: u32,
    exceeded: u32,
}

/// The largest scale (RFC 7323 §2.3).
const LARGEST_SCALE: u8 = 14;
/// So many flights tell the scale. Another limit of the sender's lies by chance within a segment of a window of eight segments
/// in one of five transfers, and of larger windows less often.
const FLIGHTS: u32 = 32;
const SEGMENTS: u64 = 8;
/// A flight seems larger than the window where the capture lacks an ACK: one may, and one in so many.
const SELDOM: u32 = 8;
/// What was so long ago counts half.
const REMEMBERED: u32 = 256;

impl ScaleFit {
    /// An ACK meets `flight` bytes; the window field said `raw` before.
    fn note(&mut self, flight: u64, raw: u64, segment: u64) {
        self.met += 1;
        self.filled += u32::from(flight + segment > raw << self.scale);
        self.exceeded += u32::from(flight > raw << self.scale);
        if SELDOM * self.exceeded > self.met + SELDOM && self.scale < LARGEST_SCALE {
            let scale = self.scale + 1;
            *self = ScaleFit { scale, ..ScaleFit::default() };
            return self.note(flight, raw, segment);
        }
        if self.met == REMEMBERED {
            (self.met, self.filled, self.exceeded) = (self.met / 2, self.filled / 2, self.exceeded / 2);
        }
    }
    fn is_filled(&self) -> bool {
        2 * self.filled > self.met
    }
    fn tells(&self, raw: u64, segment: u64) -> bool {
        self.met >= FLIGHTS && self.is_filled() && raw << self.scale >= SEGMENTS * segment
    }
}

impl Default for Window {
    fn default() -> Window {
        Window {
            now: u64::MAX,
            known: false,
            concluded: None,
            fit: ScaleFit::default(),
            max: 0,
            min: u64::MAX,
            before: u64::MAX,
            changed: Time::FAR_PAST,
            zero_since: None,
            probed: Time::FAR_PAST,
            probe_waits: None,
            reopened: Time::FAR_PAST,
            zeros: 0,
            zero_time: Span::ZERO,
            edge: 0,
            edge_before: 0,
            update: None,
        }
    }
}

impl Window {
    /// It is closed, and what is to be sent waits: it was probed.
    pub fn is_closed_to_data(&self) -> bool {
        self.probed >= self.changed && self.probed > Time::FAR_PAST
    }
    /// Where data arrives: the window was made wider. Of several updates that were not heard the first tells when the sender
    /// can have known, and the last how much.
    pub fn on_update(&mut self, update: Update) {
        let first = self.update.unwrap_or(update);
        self.update = Some(Update { edge: first.edge.max(update.edge), ..first });
    }
    /// When the data before the last left, its sender knew of less than `room` beyond `next`.
    pub fn was_full(&self, next: u64, room: u64) -> bool {
        self.is_full_up_to(self.edge_before, next, room)
    }
    /// A window that ends at `edge` has less than `room` beyond `next`.
    pub fn is_full_up_to(&self, edge: u64, next: u64, room: u64) -> bool {
        self.known && edge > 0 && next + room > edge
    }
    /// Where no handshake told the scale, and the data is seen as it leaves: an ACK meets `flight` bytes, and the largest segment
    /// is so large.
    #[cold]
    pub fn fit_scale(&mut self, flight: u64, segment: u64) {
        if flight == 0 || self.now == 0 || self.now == u64::MAX {
            return;
        }
        let raw = self.now >> self.concluded.unwrap_or(0);
        self.fit.note(flight, raw, segment);
        let scale = self.fit.scale;
        if let Some(concluded) = self.concluded.filter(|concluded| scale != *concluded) {
            // There was room: that scale was too small.
            self.rescale(|bytes| bytes >> concluded);
            (self.known, self.concluded) = (false, None);
        }
        if self.concluded.is_none() && self.fit.tells(raw, segment) {
            self.rescale(|bytes| bytes << scale);
            (self.known, self.concluded) = (true, Some(scale));
        }
    }
    fn rescale(&mut self, by: impl Fn(u64) -> u64) {
        for bytes in [&mut self.max, &mut self.min, &mut self.before, &mut self.now] {
            if *bytes != u64::MAX {
                *bytes = by(*bytes);
            }
        }
    }
    /// The scale that the flights tell, or that they would fit.
    pub fn scale_that_fits(&self) -> Option<u8> {
        self.concluded.or((!self.known && self.fit.is_filled()).then_some(self.fit.scale))
    }
    /// What is advertised, where its scale is known and one was seen.
    pub fn advertised(&self) -> Option<u64> {
        (self.known && self.now != u64::MAX).then_some(self.now)
    }
}
