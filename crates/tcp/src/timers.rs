//! One table of timers: a deadline each, moved by writing it, found by comparing a handful of numbers.
//!
//! Nothing is queued: a timer that moves at every ACK costs a store. The delayed ACK's deadline is the
//! receiver's own, and is compared beside these.

use wire::{Span, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Retransmission, of the handshake too (RFC 6298).
    Retransmit,
    /// Probes of a closed window (RFC 9293 §3.8.6.1).
    Persist,
    /// A tail-loss probe (RFC 8985 §7).
    Probe,
    /// Segments that may only be late are lost by now (RFC 8985 §6.2 step 5).
    Reorder,
    /// What is paced may leave (`pacing`).
    Pacing,
    /// RFC 9293 §3.8.4.
    KeepAlive,
    /// 2 MSL (RFC 9293 §3.6).
    TimeWait,
}

const COUNT: usize = Timer::TimeWait as usize + 1;
const OFF: Time = Time::FAR_FUTURE;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timers {
    at: [Time; COUNT],
}

impl Default for Timers {
    fn default() -> Timers {
        Timers { at: [OFF; COUNT] }
    }
}

impl Timers {
    #[inline]
    pub(crate) fn set(&mut self, timer: Timer, at: Time) {
        self.at[timer as usize] = at;
    }
    pub(crate) fn at(&self, timer: Timer) -> Time {
        self.at[timer as usize]
    }
    pub(crate) fn start(&mut self, timer: Timer, now: Time, after: Span) {
        self.set(timer, now + after);
    }
    #[inline]
    pub(crate) fn stop(&mut self, timer: Timer) {
        self.at[timer as usize] = OFF;
    }
    pub(crate) fn stop_all(&mut self) {
        self.at = [OFF; COUNT];
    }
    #[inline]
    pub(crate) fn is_set(&self, timer: Timer) -> bool {
        self.at[timer as usize] < OFF
    }
    /// Of the timers of loss recovery one runs at a time where probes and reordering have theirs (RFC 8985 §8).
    #[inline]
    pub(crate) fn arm(&mut self, timer: Timer, at: Time) {
        for other in [Timer::Retransmit, Timer::Probe, Timer::Reorder] {
            self.at[other as usize] = OFF;
        }
        self.set(timer, at);
    }
    /// Stops a timer that is due, and says so.
    pub(crate) fn fires(&mut self, timer: Timer, now: Time) -> bool {
        let due = self.at[timer as usize] <= now;
        if due {
            self.stop(timer);
        }
        due
    }
    /// When the earliest fires; [`Time::FAR_FUTURE`] if none runs.
    #[inline(always)]
    pub(crate) fn first(&self) -> Time {
        let [a, b, c, d, e, f, g] = self.at;
        a.min(b).min(c.min(d)).min(e.min(f).min(g))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_next_and_fires_once() {
        let mut t = Timers::default();
        assert_eq!(t.first(), OFF);
        t.set(Timer::KeepAlive, Time(50));
        t.start(Timer::Retransmit, Time(10), Span(20));
        assert_eq!(t.first(), Time(30));
        assert!(!t.fires(Timer::Retransmit, Time(29)));
        assert!(t.fires(Timer::Retransmit, Time(30)) && !t.fires(Timer::Retransmit, Time(31)));
        assert_eq!(t.first(), Time(50));
    }
}
