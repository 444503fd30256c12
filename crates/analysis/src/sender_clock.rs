//! The sender's own clock, read from its timestamps: when a packet left, before any queue on its way here.

use wire::{Span, Time};

/// Ticks per second that stacks use for TSval (RFC 7323 §5.4 allows 1 Hz to 1 kHz; Linux offers 1 MHz too).
const RATES: [f64; 6] = [10.0, 100.0, 250.0, 1000.0, 10_000.0, 1_000_000.0];
/// The least transit is sought anew this often, so that clocks may drift apart.
const WINDOW: Span = Span::from_secs(60);
/// Fewer ticks tell no rate.
const FEWEST_TICKS: i32 = 20;

#[derive(Clone, Copy, Debug, Default)]
pub struct SenderClock {
    first: Option<(u32, Time)>,
    /// Length of a tick, 0 while unknown.
    tick: Span,
    /// When so many ticks have passed since the first packet, that is read again.
    read_again_at: i32,
    /// Least of (arrival − timestamp) in this window and in the one before.
    least: Span,
    least_before: Span,
    window_start: Time,
    /// The timestamp seen last.
    last: u32,
    /// Data has come: what only acknowledges takes less time on each link.
    data: bool,
}

impl SenderClock {
    /// Takes in a timestamp seen at `now`, not before the last one, of a packet with `data` or without.
    #[inline]
    pub fn note(&mut self, ts: u32, now: Time, data: bool) {
        if data && !self.data {
            self.begin_with_data();
        }
        // Seen again in the same window, it has only been longer on its way.
        if ts != self.last || self.tick == Span::ZERO || now - self.window_start > WINDOW {
            self.last = ts;
            self.weigh(ts, now);
        }
    }

    /// The first data tells how long data takes where no queue of its sender's is.
    fn begin_with_data(&mut self) {
        self.data = true;
        self.window_start = Time::FAR_PAST;
        (self.least, self.least_before) = (Span::MAX, Span::MAX);
        if self.tick == Span::ZERO {
            self.first = None;
        }
    }

    fn weigh(&mut self, ts: u32, now: Time) {
        let Some((ts0, t0)) = self.first else {
            self.first = Some((ts, now));
            return;
        };
        let (ticks, passed) = (ts.wrapping_sub(ts0) as i32, now - t0);
        if ticks >= self.read_again_at.max(FEWEST_TICKS) && passed >= Span::from_millis(100) {
            self.read_rate(ticks, passed, now);
        }
        if self.tick == Span::ZERO {
            return;
        }
        if now - self.window_start > WINDOW {
            self.least_before = self.least;
            self.least = Span::MAX;
            self.window_start = now;
        }
        self.least = self.least.min(passed - self.tick * i64::from(ticks));
    }

    /// How fast it ticks. A queue that fills makes it seem slow by up to a half, and more where all else is over in
    /// a moment: it is read again whenever twice as much has passed.
    fn read_rate(&mut self, ticks: i32, passed: Span, now: Time) {
        let seen = f64::from(ticks) / passed.as_secs();
        let Some(rate) = RATES.into_iter().find(|r| seen > r * 0.5 && seen < r * 1.25) else { return };
        self.read_again_at = ticks.saturating_mul(2);
        let tick = Span::from_secs_f64(1.0 / rate);
        if tick != self.tick {
            self.tick = tick;
            // That of the first packet, which met no queue of its sender's own making.
            self.least = if passed <= WINDOW { Span::ZERO } else { Span::MAX };
            self.least_before = Span::MAX;
            self.window_start = now;
        }
    }

    /// How long a tick takes; 0 while that is not known.
    pub fn tick(&self) -> Span {
        self.tick
    }

    /// When a packet that carries `ts` and is seen at `now` would have passed, had it met no queue.
    pub fn unqueued(&self, ts: u32, now: Time) -> Time {
        match self.first {
            Some((ts0, t0)) if self.tick > Span::ZERO => {
                let ticks = i64::from(ts.wrapping_sub(ts0) as i32);
                // The timestamp says when its tick began; half a tick later is the better guess.
                let left = t0 + self.tick * ticks + self.least.min(self.least_before) + self.tick / 2;
                left.min(now)
            }
            _ => now,
        }
    }
}
