//! Watches one data direction and keeps what its limits are read from: a bounded series of rounds.
//!
//! A round lasts about a round trip, or 10 ms where that is shorter. The first [`FINE`] stay as they are, since slow
//! start is over in a few; behind them pairs are merged when there are more than [`MOST`], so that memory for a flow
//! is bounded and the cost for each packet is a few compares.

use crate::rows::{Release, RoundRow};
use wire::{Span, Time};

/// Rounds kept of a flow: the first ones never merged, and all together.
const FINE: usize = 48;
const MOST: usize = 240;

/// No round is shorter.
const SHORTEST: Span = Span::from_millis(10);

/// Data that follows so soon on other data has waited for nothing.
pub(crate) const WAIT: Span = Span::from_micros(100);

/// A pause this long, or two round trips, is an idle gap with a row of its own, and belongs to no round.
const PAUSE: Span = Span::from_millis(50);

/// Counters of the stream, as they stand; a round is the difference of two.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    pub sent_bytes: u64,
    pub resent_bytes: u64,
    pub delivered_bytes: u64,
}

/// ACKs that come one close behind the other, and what they told of.
#[derive(Clone, Copy, Debug, Default)]
struct Train {
    /// Its first ACK in this round, and the last.
    first: Time,
    last: Time,
    /// Delivered when its first ACK had come, and its last.
    from_bytes: u64,
    bytes: u64,
    /// A longer silence ends it.
    most: Span,
    /// The longest silence of this round, from one delivery to the next.
    silence: (Time, Time),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    until: Time,
    /// The window that was seen last.
    window: u64,
    train: Train,
    open: RoundRow,
    /// The counters when the open round began, and the round trip that gave it its length.
    from: Counted,
    rtt: Span,
    /// So many rounds go into one that is kept.
    stride: u32,
    done: Vec<RoundRow>,
    /// Those that ended since they were asked for last, each as it was.
    fresh: Vec<(RoundRow, (Time, Time))>,
}

impl Rounds {
    /// Begins to watch a stream, with the room that it has.
    pub fn begin(&mut self, now: Time, counted: Counted, rtt: Span) {
        self.done.clear();
        self.fresh.clear();
        (self.stride, self.window) = (1, u64::MAX);
        self.open(now, counted, rtt);
    }

    fn open(&mut self, now: Time, counted: Counted, rtt: Span) {
        self.open = RoundRow { start: now, ..RoundRow::default() };
        self.note_window(self.window);
        (self.from, self.rtt) = (counted, rtt);
        // What is merged is as long as those it is merged with.
        let rounds = if self.done.len() < FINE { 1 } else { self.stride };
        self.until = now + SHORTEST.max(rtt) * i64::from(rounds);
        let most = (rtt / 8).max(Span::from_micros(500));
        let bytes = counted.delivered_bytes;
        self.train = Train { first: now, last: now, from_bytes: bytes, bytes, most, silence: (now, now) };
    }

    /// An ACK met `flight` bytes; `window` is what it advertises, [`u64::MAX`] where that is not known, and `delivered`
    /// all that arrived so far. True if the round has gone by: [`Rounds::turn`] is to be called.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, flight: u64, window: u64, delivered: u64) -> bool {
        self.open.flight_bytes = self.open.flight_bytes.max(flight);
        if window != self.window {
            self.note_window(window);
        }
        if delivered != self.train.bytes {
            if now - self.train.last > self.train.most {
                self.begin_train(now, delivered);
            }
            (self.train.last, self.train.bytes) = (now, delivered);
        }
        now >= self.until
    }

    /// The next train begins with an ACK that reports `delivered` bytes.
    #[inline(never)]
    fn begin_train(&mut self, now: Time, delivered: u64) {
        let (from, to) = self.train.silence;
        if now - self.train.last > self.train.most.max(to - from) {
            self.train.silence = (self.train.last, now);
        }
        self.end_train();
        (self.train.first, self.train.from_bytes) = (now, delivered);
    }

    #[inline(never)]
    fn note_window(&mut self, window: u64) {
        self.window = window;
        if window != u64::MAX {
            let r = &mut self.open;
            r.window_max_bytes = r.window_max_bytes.max(Some(window));
            r.window_min_bytes = Some(r.window_min_bytes.map_or(window, |least| least.min(window)));
        }
    }

    fn end_train(&mut self) {
        let (t, r) = (&self.train, &mut self.open);
        let bytes = t.bytes - t.from_bytes;
        if bytes > r.train_bytes && t.last > t.first {
            (r.train_bytes, r.train) = (bytes, t.last - t.first);
        }
    }

    /// An ACK reports data that arrived some time before it: its bytes belong to no train, so the open train ends here.
    #[cold]
    pub fn break_train(&mut self, now: Time, delivered: u64) {
        self.begin_train(now, delivered);
        (self.train.last, self.train.bytes) = (now, delivered);
    }

    /// A round trip was measured.
    #[inline(always)]
    pub fn on_rtt(&mut self, sample: Span) {
        let r = &mut self.open;
        r.rtt_n += 1;
        r.rtt_sum += sample;
        r.rtt_min = Some(r.rtt_min.map_or(sample, |least| least.min(sample)));
    }

    /// New data left at `to` that had waited since `from`; `turn`: since the ACK that set it off, where that is seen. True
    /// if it was a pause, which parts two rounds: [`Rounds::pause`] is to be called.
    #[inline(never)]
    pub fn on_wait(&mut self, from: Time, to: Time, by: Release, turn: Option<Span>) -> bool {
        let wait = to - from;
        if wait > PAUSE.max(self.rtt * 2) {
            return true;
        }
        let waited = &mut self.open.waited;
        waited.times += 1;
        if let Some(turn) = turn {
            waited.answers += 1;
            waited.turn += turn;
        }
        *match by {
            Release::Window => &mut waited.window,
            Release::Ack => &mut waited.ack,
            Release::Write | Release::Message => &mut waited.application,
            Release::Timer | Release::Pace | Release::Unknown => &mut waited.other,
        } += wait;
        false
    }

    /// Ends the round at `from` and begins the next at `to`.
    #[inline(never)]
    pub fn pause(&mut self, from: Time, to: Time, counted: Counted, rtt: Span) {
        self.close(from, counted);
        self.open(to, counted, rtt);
    }

    /// The round has gone by.
    #[inline(never)]
    pub fn turn(&mut self, now: Time, counted: Counted, rtt: Span) {
        self.pause(now, now, counted, rtt);
    }

    fn close(&mut self, end: Time, counted: Counted) {
        self.end_train();
        let r = &mut self.open;
        r.end = end.max(r.start);
        r.sent_bytes = counted.sent_bytes - self.from.sent_bytes;
        r.resent_bytes = counted.resent_bytes - self.from.resent_bytes;
        r.delivered_bytes = counted.delivered_bytes - self.from.delivered_bytes;
        if r.end == r.start && r.delivered_bytes == 0 {
            return;
        }
        r.quiet = self.train.silence.1 - self.train.silence.0;
        self.done.push(*r);
        self.fresh.push((*r, self.train.silence));
        if self.done.len() == MOST {
            self.merge();
        }
    }

    fn merge(&mut self) {
        let kept = FINE + (MOST - FINE) / 2;
        for i in FINE..kept {
            let at = FINE + 2 * (i - FINE);
            self.done[i] = self.done[at].with(&self.done[at + 1]);
        }
        self.done.truncate(kept);
        // Pauses end rounds, too, however long those are to be.
        self.stride = self.stride.saturating_mul(2);
    }

    /// Rounds that ended since this was asked last.
    #[inline(always)]
    pub fn take_fresh(&mut self) -> std::vec::Drain<'_, (RoundRow, (Time, Time))> {
        self.fresh.drain(..)
    }

    #[inline(always)]
    pub fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// Ends the open round. `last`: when the last data passed.
    pub fn finish(&mut self, last: Time, counted: Counted) {
        self.close(last.max(self.train.last), counted);
    }

    /// Those that have ended.
    pub fn done(&self) -> &[RoundRow] {
        &self.done
    }
}

#[cfg(test)]
mod tests;
