//! How fast data was delivered while all was well: the R in the cost of an episode.

use std::collections::VecDeque;
use std::mem::offset_of;
use wire::{Span, Time};

/// A point on the curve of delivered bytes, kept for the last max(1 s, 8 RTT) outside episodes.
#[derive(Clone, Copy, Debug)]
struct Point {
    time: Time,
    /// Time and bytes outside episodes up to here.
    outside: Span,
    bytes_outside: u64,
    bytes: u64,
}

const POINTS: i64 = 64;

/// Fields in the order of their use: during an episode those before `outside`.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Delivery {
    bytes: u64,
    last: Option<Time>,
    in_episode: bool,
    outside: Span,
    bytes_outside: u64,
    points: VecDeque<Point>,
}

impl Delivery {
    /// So many bytes of it are touched by each ACK during an episode.
    pub(super) const IN_EPISODES: usize = offset_of!(Delivery, outside);

    /// As if new, with the room it has.
    pub fn clear(&mut self) {
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        *self = Delivery { points, ..Delivery::default() };
    }
    /// Bytes delivered in all: acknowledged or SACKed.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// When more was known to have arrived.
    pub fn last(&self) -> Option<Time> {
        self.last
    }

    #[inline(always)]
    fn window(rtt_min: Span) -> Span {
        Span::from_secs(1).max(rtt_min * 8)
    }

    /// `n` more bytes are known to have arrived.
    #[inline(always)]
    pub fn delivered(&mut self, n: u64, now: Time, rtt_min: Span) {
        self.bytes += n;
        let since = self.last.map_or(Span::ZERO, |t| (now - t).max(Span::ZERO));
        self.last = Some(now);
        if self.in_episode {
            return;
        }
        self.outside += since;
        self.bytes_outside += n;
        let window = Self::window(rtt_min);
        let step = window / POINTS;
        if self.points.back().is_none_or(|p| self.outside - p.outside >= step) {
            self.note_point(now, window);
        }
    }

    #[inline(never)]
    fn note_point(&mut self, now: Time, window: Span) {
        self.points.push_back(Point {
            time: now,
            outside: self.outside,
            bytes_outside: self.bytes_outside,
            bytes: self.bytes,
        });
        // One point older than the window stays, and as much again for an episode that began earlier.
        while self.points.len() > 2 && self.outside - self.points[1].outside > window * 2 {
            self.points.pop_front();
        }
    }

    /// An episode began at `start`, which lies in the past. Returns the rate before it in bytes per second,
    /// if there is a window to measure it in, and the bytes delivered up to then.
    pub fn episode_starts(&mut self, start: Time, now: Time, rtt_min: Span) -> (Option<f64>, u64) {
        while self.points.back().is_some_and(|p| p.time > start) {
            self.points.pop_back();
        }
        self.in_episode = true;
        self.last = Some(now);
        let Some(end) = self.points.back().copied() else {
            self.outside = Span::ZERO;
            self.bytes_outside = 0;
            return (None, 0);
        };
        // Time outside episodes ends where this one starts.
        self.outside = end.outside;
        self.bytes_outside = end.bytes_outside;
        let window = Self::window(rtt_min);
        let from = self.points.iter().rev().find(|p| end.outside - p.outside >= window);
        let rate = from.map(|p| {
            (end.bytes_outside - p.bytes_outside) as f64 / (end.outside - p.outside).as_secs().max(1e-9)
        });
        (rate, end.bytes)
    }

    pub fn episode_ends(&mut self, now: Time) {
        self.in_episode = false;
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_second_outside_episodes() {
        let mut d = Delivery::default();
        let rtt = Span::from_millis(10);
        for ms in 0..3000 {
            d.delivered(1000, Time(ms * 1_000_000), rtt);
        }
        let (rate, bytes) = d.episode_starts(Time(2_900_000_000), Time(3_000_000_000), rtt);
        assert!((rate.unwrap() - 1e6).abs() < 2e4, "{rate:?}");
        assert!((bytes as i64 - 2_900_000).abs() < 20_000, "{bytes}");
    }

    #[test]
    fn without_a_second_of_quiet_there_is_no_rate() {
        let mut d = Delivery::default();
        let rtt = Span::from_millis(10);
        for ms in 0..500 {
            d.delivered(1000, Time(ms * 1_000_000), rtt);
        }
        assert_eq!(d.episode_starts(Time(400_000_000), Time(500_000_000), rtt).0, None);
    }

    #[test]
    fn time_inside_an_episode_does_not_count() {
        let mut d = Delivery::default();
        let rtt = Span::from_millis(10);
        let at = |ms: i64, d: &mut Delivery, n| d.delivered(n, Time(ms * 1_000_000), rtt);
        (0..800).for_each(|ms| at(ms, &mut d, 1000));
        d.episode_starts(Time(800_000_000), Time(800_000_000), rtt);
        (800..5000).step_by(100).for_each(|ms| at(ms, &mut d, 10));
        d.episode_ends(Time(5_000_000_000));
        (5000..5400).for_each(|ms| at(ms, &mut d, 1000));
        let (rate, _) = d.episode_starts(Time(5_400_000_000), Time(5_400_000_000), rtt);
        assert!((rate.unwrap() - 1e6).abs() < 3e4, "{rate:?}");
    }
}
