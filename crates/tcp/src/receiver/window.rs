//! The receive window: how much it promises, how it grows with what is read, when a promise is worth an ACK.

use crate::stack::WindowPolicy;
use wire::{Span, Time};

/// What the window field holds unshifted (RFC 9293 §3.1) and the largest shift (RFC 7323 §2.3).
const FIELD_MAX: u64 = 65_535;
const SHIFT_MAX: u8 = 14;

/// The shift that lets the largest window of this policy be said: what the SYN offers.
pub fn scale_for(policy: WindowPolicy) -> u8 {
    let largest = match policy {
        WindowPolicy::Fixed { buffer_bytes } => buffer_bytes,
        WindowPolicy::AutoTuned { max_bytes, .. } => max_bytes,
    };
    (0..SHIFT_MAX).find(|shift| u64::from(largest) >> shift <= FIELD_MAX).unwrap_or(SHIFT_MAX)
}

#[derive(Clone, Debug)]
pub struct Window {
    /// Offset up to which the application has read.
    read_to: u64,
    /// The right edge, as far as it was ever promised, and as the sender was told last.
    edge: u64,
    told: u64,
    /// What may be held unread and out of order, bytes.
    space: u64,
    /// The edge moves by this at least (RFC 9293 §3.8.6.2.2).
    step: u64,
    mss: u32,
    shift: u8,
    tuning: Option<Tuning>,
}

/// Dynamic right-sizing (Fisk and Feng 2001, as Linux does it): room for twice what was read in a round trip.
#[derive(Clone, Debug)]
struct Tuning {
    /// Before reads say more: two segments for each that arrives, up to this (Linux, `rcv_ssthresh`).
    untuned: u64,
    max: u64,
    /// The most that was read in a round trip, ten segments to begin with; where growth is foreseen
    /// (tcp_rcv_space_adjust).
    read_before: Option<u64>,
    /// Smoothed round trip as seen from here; zero while unknown.
    rtt: Span,
    /// It came from timestamps; otherwise it is the least time that a whole window took.
    from_hints: bool,
    /// When the present count of bytes read began, and where.
    since: Time,
    mark: u64,
    /// Without timestamps: the round trip ends when `next` reaches this; began at `window_since`.
    window_end: u64,
    window_since: Time,
}

impl Window {
    pub fn new(policy: WindowPolicy, mss: u32, first: u64) -> Window {
        let (space, tuning) = match policy {
            WindowPolicy::Fixed { buffer_bytes } => (buffer_bytes, None),
            WindowPolicy::AutoTuned { initial_bytes, untuned_bytes, max_bytes, ahead } => {
                let read_before = ahead.then_some(u64::from(mss) * 10);
                (initial_bytes, Some(Tuning { read_before, ..Tuning::new(untuned_bytes, max_bytes, first) }))
            }
        };
        let space = u64::from(space.max(1));
        // A SYN's window is never scaled (RFC 7323 §2.2).
        let edge = first + space.min(FIELD_MAX);
        let mut window = Window { read_to: first, edge, told: edge, space, step: 1, mss, shift: 0, tuning };
        window.set_step();
        window
    }

    pub fn negotiated(&mut self, mss: u32, shift: u8) {
        self.mss = mss;
        self.shift = shift.min(SHIFT_MAX);
        self.set_step();
    }

    /// RFC 9293 §3.8.6.2.2: the smaller of half the buffer and a full segment.
    fn set_step(&mut self) {
        self.step = (self.space / 2).min(u64::from(self.mss)).max(1);
    }

    #[inline]
    pub fn read_to(&self) -> u64 {
        self.read_to
    }
    #[inline]
    pub fn edge(&self) -> u64 {
        self.edge
    }

    /// The window as said on the wire, a multiple of 2^shift, bytes.
    #[inline]
    pub fn advertised(&self, next: u64) -> u32 {
        let unit = 1u64 << self.shift;
        let largest = FIELD_MAX << self.shift;
        let kept = self.edge.saturating_sub(next);
        let room = self.edge_to_offer().saturating_sub(next);
        let open = (room & !(unit - 1)).min(largest);
        if open >= kept && open > 0 {
            return open as u32;
        }
        self.rounded(next, kept, room).min(largest) as u32
    }

    /// Rounding down would take back a part of the promise, or scale a small window away: round up. Many small
    /// segments would each add to that, so it ends a quarter beyond the buffer; RFC 7323 §2.4 allows the edge to
    /// move left by less than a unit then.
    fn rounded(&self, next: u64, kept: u64, room: u64) -> u64 {
        let unit = 1u64 << self.shift;
        let least = if room >= self.step { room.min(unit) } else { 0 };
        let up = (kept.max(least) + unit - 1) & !(unit - 1);
        let most = self.read_to + self.space + unit.max(self.space / 4);
        if next + up <= most { up } else { kept & !(unit - 1) }
    }

    /// Where the edge goes: as far as there is room, if that is a step worth it; else where it is.
    #[inline]
    fn edge_to_offer(&self) -> u64 {
        let room = self.read_to + self.space;
        if room >= self.edge + self.step { room } else { self.edge }
    }

    /// A window is sent; returns it.
    #[inline]
    pub fn sent(&mut self, next: u64) -> u32 {
        let window = self.advertised(next);
        self.told = next + u64::from(window);
        self.edge = self.edge.max(self.told);
        window
    }

    /// The room has at least doubled what is left of the promise, and that is a step worth it: the sender may be
    /// waiting. While the sender has most of the window left, the ACKs that go anyway tell it soon enough.
    #[inline]
    pub fn update_due(&self, next: u64) -> bool {
        let left = self.told.saturating_sub(next);
        left * 2 <= self.space
            && next + u64::from(self.advertised(next)) >= self.told + self.step
            && u64::from(self.advertised(next)) >= 2 * left
    }

    /// A segment of `len` bytes moved `next`.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, next: u64, len: u32) {
        let Some(tuning) = &mut self.tuning else { return };
        if self.space < tuning.untuned && len >= self.mss / 2 {
            self.space = (self.space + 2 * u64::from(self.mss)).min(tuning.untuned);
            self.set_step();
        } else if !tuning.from_hints && next >= tuning.window_end {
            tuning.on_window(now, next, self.edge);
        }
    }

    #[inline]
    pub fn on_read(&mut self, now: Time, bytes: u64) {
        self.read_to += bytes;
        let Some(tuning) = &mut self.tuning else { return };
        if tuning.rtt == Span::ZERO || now - tuning.since < tuning.rtt {
            return;
        }
        let wanted = tuning.wanted(self.read_to - tuning.mark).min(tuning.max);
        tuning.mark = self.read_to;
        tuning.since = now;
        if wanted > self.space {
            self.space = wanted;
            self.set_step();
        }
    }

    /// The round trip that echoed timestamps gave, smoothed by an eighth.
    #[inline]
    pub fn rtt_hint(&mut self, rtt: Span) {
        let Some(tuning) = &mut self.tuning else { return };
        if tuning.from_hints {
            tuning.rtt += (rtt - tuning.rtt) / 8;
        } else {
            tuning.rtt = rtt;
            tuning.from_hints = true;
        }
        tuning.rtt = tuning.rtt.max(Span(1));
    }

    /// The round trip as far as it is known here.
    pub fn rtt(&self) -> Option<Span> {
        self.tuning.as_ref().map(|t| t.rtt).filter(|&rtt| rtt > Span::ZERO)
    }

    /// What a sender may still send from `next` on, bytes.
    pub fn left(&self, next: u64) -> u64 {
        self.edge.saturating_sub(next)
    }
}

impl Tuning {
    /// Room for twice what was `read` in a round trip; and for twice the growth that this is of what was read before.
    fn wanted(&mut self, read: u64) -> u64 {
        let mut wanted = 2 * read;
        if let Some(before) = &mut self.read_before
            && read > *before
        {
            wanted += 2 * (wanted * (read - *before) / (*before).max(1));
            *before = read;
        }
        wanted
    }

    fn new(untuned_bytes: u32, max_bytes: u32, first: u64) -> Tuning {
        Tuning {
            untuned: u64::from(untuned_bytes.min(max_bytes)),
            max: u64::from(max_bytes),
            read_before: None,
            rtt: Span::ZERO,
            from_hints: false,
            since: Time::ZERO,
            mark: first,
            window_end: first,
            window_since: Time::FAR_PAST,
        }
    }

    /// A window's worth took at least a round trip: the least of them counts.
    fn on_window(&mut self, now: Time, next: u64, edge: u64) {
        if self.window_since > Time::FAR_PAST {
            let took = (now - self.window_since).max(Span(1));
            self.rtt = if self.rtt == Span::ZERO { took } else { self.rtt.min(took) };
        }
        self.window_since = now;
        self.window_end = edge.max(next + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(ahead: bool) -> Window {
        let policy = WindowPolicy::AutoTuned {
            initial_bytes: 30_000,
            untuned_bytes: 30_000,
            max_bytes: 200_000,
            ahead,
        };
        let mut w = Window::new(policy, 1000, 1);
        w.rtt_hint(Span::from_millis(100));
        w
    }
    fn read(w: &mut Window, ms: i64, bytes: u64) -> u64 {
        w.on_read(Time(ms * 1_000_000), bytes);
        w.space
    }

    #[test]
    fn reading_that_grows_makes_room_for_twice_the_growth() {
        // Linux: tcp_rcv_space_adjust, rcvq_space.space of ten segments to begin with.
        let mut w = window(true);
        assert_eq!(read(&mut w, 100, 20_000), 40_000 + 2 * 40_000);
        assert_eq!(read(&mut w, 200, 20_000), 120_000, "as much as before asks for no more");
        assert_eq!(read(&mut w, 300, 30_000), 120_000, "60,000 and 2 * 30,000");
        assert_eq!(read(&mut w, 400, 60_000), 200_000, "no more than allowed");
        let mut plain = window(false);
        assert_eq!(read(&mut plain, 100, 20_000), 40_000);
    }
}
