//! The sender's own pace: bursts that leave at equal distances, though the path would take them sooner.

use wire::{Span, Time};

/// So many bursts in a row leave at equal distances.
const STEADY: u32 = 8;
/// A pace spreads a window over the round trip. A window of two or three segments may be sent at equal distances without one.
const BURSTS_A_ROUND: i64 = 3;

/// The distances between bursts, for their size.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// When the last burst began, and at which offset.
    began: Time,
    start: u64,
    /// How long after the burst before it, and how many bytes that had.
    distance: Span,
    bytes: u64,
    /// So many distances in a row were equal.
    equal: u32,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace { began: Time::FAR_PAST, start: 0, distance: Span::ZERO, bytes: 0, equal: 0 }
    }
}

impl Pace {
    /// Two distances in a row were equal, or more.
    #[inline(always)]
    pub fn has_begun(&self) -> bool {
        self.equal > 0
    }

    /// Too many distances in a row were equal for an accident.
    #[inline(always)]
    pub fn is_even(&self) -> bool {
        self.equal >= STEADY
    }

    /// A burst from which the next distance is measured.
    #[inline(always)]
    pub fn begin(&mut self, now: Time, start: u64) {
        (self.began, self.start) = (now, start);
    }

    /// A burst that begins at offset `start` passes here.
    pub fn on_burst(&mut self, now: Time, start: u64) {
        let (distance, bytes) = (now - self.began, start.saturating_sub(self.start));
        let a = distance.0.saturating_mul(self.bytes as i64);
        let b = self.distance.0.saturating_mul(bytes as i64);
        let equal = bytes > 0 && a > 0 && a.saturating_sub(b).unsigned_abs() <= a as u64 / 16;
        self.equal = if equal { self.equal.saturating_add(1) } else { 0 };
        (self.began, self.start, self.distance, self.bytes) = (now, start, distance, bytes);
    }

    /// Bursts leave at equal distances, several in a round trip. `least`: the time that a link takes for each byte of them.
    pub fn is_steady(&self, round_trip: Span, least: (Span, u64)) -> bool {
        let (time, of) = least;
        let taken = i128::from(time.0) * i128::from(self.bytes);
        self.is_even()
            && self.distance * BURSTS_A_ROUND <= round_trip
            && i128::from(self.distance.0) * i128::from(of) >= 2 * taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Span = Span::from_millis(20);

    fn us(n: i64) -> Time {
        Time(n * 1000)
    }

    fn of_pairs(distances: &[i64]) -> Pace {
        let mut pace = Pace::default();
        let mut now = 0;
        for (n, distance) in distances.iter().enumerate() {
            now += distance;
            pace.on_burst(us(now), n as u64 * 2896);
        }
        pace
    }

    #[test]
    fn pairs_at_equal_distances_that_a_link_takes_in_less_are_paced() {
        let pace = of_pairs(&[2360; 12]);
        assert!(pace.is_steady(ROUND, (Span::from_micros(240), 1448)));
        assert!(pace.is_steady(ROUND, (Span::ZERO, 1448)), "where they leave no link parts them");
    }

    #[test]
    fn what_a_link_parts_is_not_paced() {
        let pace = of_pairs(&[480; 12]);
        assert!(!pace.is_steady(ROUND, (Span::from_micros(240), 1448)));
    }

    #[test]
    fn a_window_sent_at_once_in_each_round_trip_is_not_paced() {
        assert!(!of_pairs(&[240, 240, 240, 19_280].repeat(4)).is_steady(ROUND, (Span::ZERO, 1448)));
        // One burst in a round trip comes at equal distances, too.
        assert!(!of_pairs(&[20_000; 12]).is_steady(ROUND, (Span::ZERO, 1448)));
    }

    #[test]
    fn a_larger_burst_leaves_more_time_behind_it() {
        let mut pace = Pace::default();
        let (mut now, mut offset) = (0, 0);
        for n in 0..12 {
            pace.on_burst(us(now), offset);
            let segments = 1 + n % 3;
            (now, offset) = (now + segments * 1000, offset + segments as u64 * 1448);
        }
        assert!(pace.is_steady(ROUND, (Span::ZERO, 1448)));
    }
}
