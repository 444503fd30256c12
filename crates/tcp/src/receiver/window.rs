//! The receive window: how much it promises, how it grows with what is read, when a promise is worth an ACK.

mod linux26;
mod tuning;

use crate::stack::WindowPolicy;
use linux26::Linux26;
use tuning::Tuning;
use wire::{Span, Time};

/// What the window field holds unshifted (RFC 9293 §3.1) and the largest shift (RFC 7323 §2.3).
const FIELD_MAX: u64 = 65_535;
const SHIFT_MAX: u8 = 14;

/// The shift that lets the largest window of this policy be said: what the SYN offers.
pub fn scale_for(policy: WindowPolicy) -> u8 {
    let largest = match policy {
        WindowPolicy::Fixed { buffer_bytes } => buffer_bytes,
        WindowPolicy::AutoTuned { max_bytes, .. } => max_bytes,
        // Of the largest buffer, overhead and all (tcp_select_initial_window).
        WindowPolicy::Linux26(w) => w.max_bytes,
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
    /// What may be held unread and out of order, bytes; with Linux's policy, what it could be at most.
    space: u64,
    /// The edge moves by this at least (RFC 9293 §3.8.6.2.2).
    step: u64,
    mss: u32,
    shift: u8,
    room: Room,
}

/// How the room comes about.
#[derive(Clone, Debug)]
enum Room {
    Fixed,
    Tuned(Tuning),
    // In a box: most connections have none.
    Linux26(Box<Linux26>),
}

impl Window {
    pub fn new(policy: WindowPolicy, mss: u32, first: u64) -> Window {
        let (space, room) = match policy {
            WindowPolicy::Fixed { buffer_bytes } => (u64::from(buffer_bytes), Room::Fixed),
            WindowPolicy::AutoTuned { initial_bytes, untuned_bytes, max_bytes, ahead } => {
                let tuning = Tuning::new(untuned_bytes, max_bytes, ahead.then_some(mss), first);
                (u64::from(initial_bytes), Room::Tuned(tuning))
            }
            WindowPolicy::Linux26(spec) => {
                let linux = Linux26::new(spec, mss, first);
                (linux.space(), Room::Linux26(Box::new(linux)))
            }
        };
        let space = space.max(1);
        // A SYN's window is never scaled (RFC 7323 §2.2).
        let open = if let Room::Linux26(linux) = &room { linux.open() } else { space };
        let edge = first + open.min(FIELD_MAX);
        let mut window = Window { read_to: first, edge, told: edge, space, step: 1, mss, shift: 0, room };
        window.set_step();
        window
    }

    pub fn negotiated(&mut self, mss: u32, shift: u8) {
        self.mss = mss;
        self.shift = shift.min(SHIFT_MAX);
        if let Room::Linux26(linux) = &mut self.room {
            linux.set_mss(mss);
        }
        self.set_step();
    }

    pub fn established(&mut self, now: Time) {
        if let Room::Tuned(t) = &mut self.room {
            t.established(now);
        }
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
        let room = self.edge_to_offer(next).saturating_sub(next);
        let open = match self.room {
            // Linux rounds up what is not the rest of a promise, too (__tcp_select_window).
            Room::Linux26(_) => (room + unit - 1) & !(unit - 1),
            _ => room & !(unit - 1),
        }
        .min(largest);
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
    fn edge_to_offer(&self, next: u64) -> u64 {
        let room = match &self.room {
            Room::Linux26(linux) => return self.edge.max(next + linux.open()),
            _ => self.read_to + self.space,
        };
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

    /// A segment of `len` bytes moved `next`; `waiting` bytes are held behind holes. Did it make the window grow?
    #[inline]
    pub fn on_arrival(&mut self, now: Time, next: u64, len: u32, waiting: u64) -> bool {
        let space = match &mut self.room {
            Room::Fixed => return false,
            Room::Tuned(t) => t.on_arrival(now, next, len, self.mss, self.edge, self.space),
            Room::Linux26(linux) => {
                linux.on_arrival(now, next, len, next.saturating_sub(self.read_to), waiting, self.edge);
                return false;
            }
        };
        self.grow_to(space)
    }

    /// A segment of `len` bytes is held behind a hole; `waiting` bytes are, the last of them `beyond` what is expected. Did
    /// it make the window grow?
    pub fn on_held(&mut self, len: u32, waiting: u64, beyond: u64) -> bool {
        let space = match &mut self.room {
            Room::Fixed => return false,
            Room::Tuned(t) => t.on_held(len, self.mss, self.space, beyond),
            Room::Linux26(linux) => {
                linux.holds(waiting);
                return false;
            }
        };
        self.grow_to(space)
    }

    /// Room for `space` bytes, once an arrival has been counted. Is it more?
    #[inline]
    fn grow_to(&mut self, space: u64) -> bool {
        let grows = space > self.space;
        self.set_space(space);
        grows
    }

    #[inline]
    pub fn on_read(&mut self, now: Time, bytes: u64) {
        self.read_to += bytes;
        let space = match &mut self.room {
            Room::Fixed => return,
            Room::Tuned(t) => t.on_read(now, self.read_to, bytes, self.space),
            Room::Linux26(linux) => {
                linux.on_read(now, bytes, self.read_to);
                linux.space()
            }
        };
        self.set_space(space);
    }

    #[inline]
    fn set_space(&mut self, space: u64) {
        if space != self.space {
            self.space = space;
            self.set_step();
        }
    }

    /// Does what echoes this timestamp tell a round trip that no other segment told?
    #[inline]
    pub fn tells_rtt(&mut self, echo: u32) -> bool {
        match &mut self.room {
            Room::Tuned(t) => t.tells_rtt(echo),
            Room::Fixed | Room::Linux26(_) => true,
        }
    }

    /// The round trip that an echoed timestamp gave.
    #[inline]
    pub fn rtt_hint(&mut self, rtt: Span) {
        match &mut self.room {
            Room::Fixed => {}
            Room::Tuned(t) => t.rtt_hint(rtt),
            Room::Linux26(linux) => linux.rtt_hint(rtt),
        }
    }

    /// The round trip as far as it is known here.
    pub fn rtt(&self) -> Option<Span> {
        let rtt = match &self.room {
            Room::Fixed => Span::ZERO,
            Room::Tuned(t) => t.rtt(),
            Room::Linux26(linux) => linux.rtt(),
        };
        (rtt > Span::ZERO).then_some(rtt)
    }

    /// What a sender may still send from `next` on, bytes.
    pub fn left(&self, next: u64) -> u64 {
        self.edge.saturating_sub(next)
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
    /// Segments arrive, in order and behind a hole, until they make no more room, two for each.
    fn filled(w: &mut Window, ms: i64) -> u64 {
        for k in 0..200 {
            let before = w.space;
            if k % 2 == 0 {
                w.on_arrival(Time(ms * 1_000_000), 1, 1000, 0);
            } else {
                w.on_held(1000, 1000, 0);
            }
            assert!(w.space <= before + 2000);
        }
        w.space
    }
    fn read(w: &mut Window, ms: i64, bytes: u64) -> u64 {
        w.on_read(Time(ms * 1_000_000), bytes);
        w.space
    }

    #[test]
    fn reading_that_grows_makes_room_for_twice_the_growth() {
        // Linux: tcp_rcv_space_adjust, rcvq_space.space of ten segments to begin with.
        let mut w = window(true);
        assert_eq!(read(&mut w, 100, 20_000), 30_000, "room comes with data: tcp_grow_window");
        assert_eq!(filled(&mut w, 100), 40_000 + 2 * 40_000);
        read(&mut w, 200, 20_000);
        assert_eq!(filled(&mut w, 200), 120_000, "as much as before asks for no more");
        read(&mut w, 300, 30_000);
        assert_eq!(filled(&mut w, 300), 120_000, "60,000 and 2 * 30,000");
        read(&mut w, 400, 60_000);
        assert_eq!(filled(&mut w, 400), 200_000, "no more than allowed");
        // What a hole had held up is no rate: of 500,000 bytes the first call leaves 237,856 in the queue.
        let mut w = window(true);
        read(&mut w, 100, 20_000);
        read(&mut w, 200, 500_000);
        assert_eq!(filled(&mut w, 200), 120_000, "24,288 count: 48,576 and 2 * 10,414");
        let mut plain = window(false);
        assert_eq!(read(&mut plain, 100, 20_000), 40_000);
    }
}
