//! ACKs that come together: how much more is acknowledged at a time than the bandwidth explains, so that cwnd has room
//! for it and sending goes on between them (Linux: bbr_update_ack_aggregation).

use crate::congestion::units;
use crate::sampler::rate::RateSample;
use wire::Time;

/// Each of the two maxima is of so many round trips.
const WINDOW_ROUNDS: u32 = 5;
/// An epoch ends where so many segments were acknowledged in it.
const LONGEST: u64 = 1 << 20;
/// The excess that counts is at most this long a time's.
const MOST_US: u64 = 100_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    epoch: Time,
    acked: u64,
    most: [u32; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) fn new(now: Time) -> Aggregation {
        Aggregation { epoch: now, acked: 0, most: [0; 2], current: 0, rounds: 0 }
    }

    /// Nothing was in flight for a while.
    pub(super) fn restart(&mut self, now: Time) {
        (self.epoch, self.acked) = (now, 0);
    }

    /// Segments to add to cwnd.
    pub(super) fn allowance(&self, bw: u64) -> u32 {
        let most = units::delivered_in(bw, MOST_US).min(u64::from(u32::MAX)) as u32;
        self.most[0].max(self.most[1]).min(most)
    }

    pub(super) fn note(&mut self, s: &RateSample, round_began: bool, bw: u64, delivered_at: Time, cwnd: u32) {
        if s.newly_delivered == 0 || s.interval.is_none() {
            return;
        }
        if round_began {
            self.rounds += 1;
            if self.rounds >= WINDOW_ROUNDS {
                self.rounds = 0;
                self.current ^= 1;
                self.most[self.current] = 0;
            }
        }
        let newly = u64::from(s.newly_delivered);
        let mut expected = units::delivered_in(bw, units::us(delivered_at - self.epoch));
        // Slower than expected, or long ago: what comes from here on is compared anew.
        if self.acked <= expected || self.acked + newly >= LONGEST {
            self.acked = 0;
            self.epoch = delivered_at;
            expected = 0;
        }
        self.acked = (self.acked + newly).min(LONGEST - 1);
        let extra = (self.acked - expected).min(u64::from(cwnd)) as u32;
        let most = &mut self.most[self.current];
        *most = (*most).max(extra.min(u32::from(u16::MAX)));
    }
}
