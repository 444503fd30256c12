//! Watches a conversation and writes down, for every moment, what its next byte was waiting for.
//!
//! The idea is critical-path analysis (Barford and Crovella, SIGCOMM 2000): each packet was released by something, and
//! the time since the packet before it went to what released it. Both directions of a connection are one conversation,
//! so a request that waits for the answer before it, and the answer that waits for the request, share one time line.
//!
//! [`Waits`] keeps up to where time is accounted for. A packet that something released takes the time since then. Time
//! in which all that was written is under way ([`Wait::Path`]) is told apart from time in which a program wrote nothing
//! ([`Wait::Program`]) by the ACK that left nothing outstanding.
//!
//! A host may write while the other has more to send: a window of SSH's or HTTP/2's own, a line for each part of an upload.
//! Nobody waits for that. So it stands aside ([`Written`]) until the next packet of the host that has more to send: if that
//! goes on by itself, or a window or its pace had kept it back, the time is that packet's.
//!
//! Memory is bounded: the first [`FINE`] rows stay as they are, since slow start is over in a few; behind them pairs are
//! merged when there are more than [`MOST`].

mod kept;
mod stretch;

use crate::rows::{Release, Wait};
use kept::Kept;
pub use stretch::Stretch;
use wire::{Span, Time};

const FINE: usize = 24;
const MOST: usize = 96;

/// No row is shorter, but for the last and for one that a pause cuts short.
const SHORTEST: Span = Span::from_millis(10);

/// A pause this long, or two round trips, has a row of its own.
const PAUSE: Span = Span::from_millis(50);

/// A data packet that something released.
#[derive(Clone, Copy, Debug)]
pub struct Released {
    /// When it left its host, and by how much earlier it can have: from the packet that released it passing here to this
    /// packet passing here, for want of any wait at the host. 0 where the host's packets are seen as they leave.
    pub at: Time,
    pub loop_delay: Span,
    /// 0: the client; 1: the server.
    pub side: usize,
    pub by: Release,
    /// The receive window was closed, or a small segment was held back, where that is known.
    pub instead: Option<Wait>,
    /// When the last of the message passed that it answers.
    pub message: Option<Time>,
    /// The other host had more to send, so that nobody may have waited for this packet.
    pub aside: bool,
}

/// A packet that a program wrote, with the waits before it, before they are charged.
#[derive(Clone, Copy, Debug)]
struct Written {
    side: usize,
    /// When it left.
    at: Time,
    /// What its host waited for until then.
    wait: Wait,
    /// The host whose packets were under way before that wait, and until when.
    under_way: (usize, Time),
    /// It answers a message of the other host.
    answers: bool,
    /// The wait of packets that follow it at once.
    then: Wait,
}

#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// All that this host sent was acknowledged then; its packets may have known so much later as their loop takes.
    emptied: Option<Time>,
    /// What it waited for last: packets that follow at once belong to it, too.
    last: Option<Wait>,
}

#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Up to here time is accounted for.
    upto: Time,
    /// The smoothed round trip: a row is about as long.
    pub round_trip: Span,
    sides: [Side; 2],
    aside: Option<Written>,
    open: Stretch,
    /// When the open row is long enough.
    until: Time,
    /// So many round trips go into one row that is kept.
    stride: u32,
    done: Kept,
}

impl Waits {
    /// Begins with the first packet of a conversation, with the room that it has.
    pub fn begin(&mut self, now: Time) {
        let mut done = std::mem::take(&mut self.done);
        done.begin(now);
        *self = Waits { upto: now, stride: 1, done, ..Waits::default() };
        self.open_row(now);
    }

    fn open_row(&mut self, now: Time) {
        self.open = Stretch { start: now, end: now, ..Stretch::default() };
        let rounds = if self.done.len() < FINE { 1 } else { self.stride };
        self.until = now + SHORTEST.max(self.round_trip) * i64::from(rounds);
    }

    /// The handshake is over.
    pub fn on_established(&mut self, now: Time) {
        self.charge(0, Wait::Handshake, now);
    }

    /// All that a host sent is acknowledged, as it may know from `at` on.
    #[inline]
    pub fn on_emptied(&mut self, side: usize, at: Time) {
        self.sides[side].emptied = Some(at);
    }

    /// Packets that followed each other at once, up to `at`, belong to what released the first of them.
    #[inline]
    fn catch_up(&mut self, side: usize, at: Time) {
        if at > self.upto {
            self.charge(side, self.sides[side].last.unwrap_or(Wait::Path), at);
        }
    }

    /// A data packet leaves that did not follow at once on the one before it, which left at `before`.
    pub fn on_released(&mut self, r: &Released, before: Option<Time>) {
        if matches!(r.by, Release::Ack | Release::Window | Release::Pace) {
            self.aside.take_if(|written| written.side != r.side);
        }
        if let Some(before) = before {
            self.catch_up(r.side, before.min(r.at));
        }
        let emptied = self.sides[r.side].emptied.take();
        match r.by {
            Release::Ack => self.charge(r.side, r.instead.unwrap_or(Wait::Ack), r.at),
            Release::Window => self.charge(r.side, r.instead.unwrap_or(Wait::Window), r.at),
            Release::Timer => self.charge(r.side, r.instead.unwrap_or(Wait::Timer), r.at),
            Release::Pace => self.charge(r.side, Wait::Pace, r.at),
            Release::Unknown => self.charge(r.side, Wait::Unknown, r.at),
            // The other host's message was under way until it had come, as far as the loop to this host and back takes; or up
            // to the ACK of it, where one came before the answer.
            Release::Message => {
                let came = r.message.unwrap_or(self.upto) + r.loop_delay;
                let heard = self.sides[1 - r.side].emptied.take().filter(|t| *t > self.upto);
                let until = heard.map_or(came, |t| t.min(came));
                // The program wrote the packets that follow at once, too: a link spaces them.
                self.write(r, (1 - r.side, until), Wait::Path);
            }
            // Packets were under way until the ACK that left nothing outstanding; then the program took the time. Of messages
            // that follow each other within one tick of the sender's clock the program wrote each.
            Release::Write => {
                let until = emptied.map_or(self.upto, |t| t + r.loop_delay);
                self.write(r, (r.side, until), r.instead.unwrap_or(Wait::Path));
            }
        }
    }

    fn write(&mut self, r: &Released, under_way: (usize, Time), then: Wait) {
        let answers = r.by == Release::Message;
        let wait = if answers { r.instead.unwrap_or(Wait::Program) } else { Wait::Program };
        let written = Written { side: r.side, at: r.at, wait, under_way, answers, then };
        if r.aside {
            self.aside = Some(written);
        } else {
            self.charge_written(written);
        }
    }

    fn charge_written(&mut self, w: Written) {
        self.open.turns[w.side] += u32::from(w.answers);
        self.charge(w.under_way.0, Wait::Path, w.under_way.1.min(w.at));
        self.charge(w.side, w.wait, w.at);
        self.sides[w.side].last = Some(w.then);
    }

    /// New payload bytes of a host.
    #[inline]
    pub fn on_bytes(&mut self, side: usize, bytes: u32) {
        self.aside.take_if(|written| written.side != side);
        self.open.bytes[side] += u64::from(bytes);
    }

    /// The time up to `to` went to this.
    pub fn charge(&mut self, side: usize, wait: Wait, to: Time) {
        if let Some(written) = self.aside.take() {
            self.charge_written(written);
        }
        if to <= self.upto {
            return;
        }
        let length = to - self.upto;
        let pause = length > PAUSE.max(self.round_trip * 2);
        if pause && self.open.end > self.open.start {
            self.close_row();
        }
        self.open.waited[side][wait as usize] += length;
        self.sides[side].last = Some(wait);
        self.upto = to;
        self.open.end = to;
        if pause || to >= self.until {
            self.close_row();
        }
    }

    fn close_row(&mut self) {
        self.done.push(&self.open);
        if self.done.len() == MOST {
            self.done.merge_pairs(FINE);
            self.stride = self.stride.saturating_mul(2);
        }
        self.open_row(self.upto);
    }

    /// The rows. The observation ends at `end`; `waits` is what was still waited for then.
    pub fn finish(&mut self, end: Time, waits: (usize, Wait)) -> impl Iterator<Item = Stretch> + '_ {
        // Whoever had more to send does not show it any more; only an answer to it tells that it was all.
        self.aside.take_if(|written| !written.answers);
        if waits.1 == Wait::Nothing {
            // What was under way was owed; what follows its ACK was not.
            let emptied = self.sides.iter().filter_map(|s| s.emptied).max();
            if let Some(t) = emptied.filter(|t| *t > self.upto) {
                let side = usize::from(self.sides[1].emptied == emptied);
                self.charge(side, Wait::Path, t.min(end));
            }
        }
        self.charge(waits.0, waits.1, end);
        if self.open.end > self.open.start || self.open.bytes != [0; 2] || self.done.is_empty() {
            self.done.push(&self.open);
        }
        self.done.iter()
    }
}
