//! The timer of Linux since 2.4: the deviation is the largest of a round trip, and at least the minimum.

use super::{Bounds, RttSample, TimerRule, doubled};
use crate::sampler::Samples;
use wire::Span;

/// SRTT and the mean deviation as Jacobson has them, but the RTO rests on the largest deviation of the last round
/// trip of data, which never counts for less than the minimum (200 ms): the RTO is about SRTT + 200 ms or more.
///
/// Read in Linux 2.6.32 (`tcp_rtt_estimator`, `tcp_set_rto`, `tcp_bound_rto`). In units of the clock's grain (a
/// jiffy there); `srtt8` times 8, the deviations times 4.
///
/// Since 4.x it counts in microseconds, and prefers the segments' own times to timestamps (`tcp_ack_update_rtt`); the
/// timer is still set in jiffies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linux {
    /// What it counts in, nanoseconds; and which samples it wants.
    unit: i64,
    samples: Samples,
    /// The smallest timeout, in units.
    floor: i64,
    srtt8: i64,
    mdev4: i64,
    /// Largest deviation since `round_end` was set.
    mdev_max4: i64,
    rttvar4: i64,
    /// The round trip is over when data beyond this offset is acknowledged.
    round_end: u64,
    backoff: u32,
}

/// Nanoseconds.
const MICROSECOND: i64 = 1000;

impl Linux {
    pub(super) fn in_ticks(b: &Bounds) -> Linux {
        Linux::new(b.unit(), Samples::Stamped, b)
    }
    pub(super) fn in_microseconds(b: &Bounds) -> Linux {
        Linux::new(MICROSECOND, Samples::Exact, b)
    }
    fn new(unit: i64, samples: Samples, b: &Bounds) -> Linux {
        Linux {
            unit,
            samples,
            floor: b.min.0 / unit,
            srtt8: 0,
            mdev4: 0,
            mdev_max4: 0,
            rttvar4: 0,
            round_end: 0,
            backoff: 0,
        }
    }
    /// The deviation of a round trip that is over is not looked at again.
    pub(super) fn set_floor(&mut self, b: &Bounds) {
        self.floor = b.min.0 / self.unit;
    }
    fn measured(&self, b: &Bounds, s: &RttSample) -> i64 {
        match self.samples {
            // A constant divides faster.
            Samples::Exact => b.within_an_hour(s.rtt) / MICROSECOND,
            Samples::Stamped | Samples::Oldest => b.measured_units(s),
        }
    }
}

impl TimerRule for Linux {
    fn on_sample(&mut self, b: &Bounds, s: &RttSample) {
        let floor = self.floor;
        // A sample within one reading of the clock counts as one.
        let rtt = self.measured(b, s).max(1);
        // A valid sample ends the back-off.
        self.backoff = 0;
        if self.srtt8 == 0 {
            self.srtt8 = rtt << 3;
            self.mdev4 = rtt << 1;
            self.mdev_max4 = self.mdev4.max(floor);
            self.rttvar4 = self.mdev_max4;
            self.round_end = s.nxt;
            return;
        }
        let error = rtt - (self.srtt8 >> 3);
        self.srtt8 += error;
        let mut change = error.abs() - (self.mdev4 >> 2);
        if error < 0 && change > 0 {
            // The path got faster: that is no reason for a longer time-out, so an eighth of the gain.
            change >>= 3;
        }
        self.mdev4 += change;
        if self.mdev4 > self.mdev_max4 {
            self.mdev_max4 = self.mdev4;
            self.rttvar4 = self.rttvar4.max(self.mdev_max4);
        }
        if s.una > self.round_end {
            // Up at once, down by a quarter of the gap at the end of each round trip.
            self.rttvar4 -= (self.rttvar4 - self.mdev_max4).max(0) >> 2;
            self.round_end = s.nxt;
            self.mdev_max4 = floor;
        }
    }

    fn on_timeout(&mut self, _b: &Bounds) {
        self.backoff = self.backoff.saturating_add(1);
    }

    fn rto(&self, b: &Bounds) -> Span {
        if self.srtt8 == 0 {
            return doubled(b.initial, self.backoff, b.max);
        }
        let rto = Span(((self.srtt8 >> 3) + self.rttvar4) * self.unit);
        // What is doubled is in jiffies (tcp_set_rto, tcp_retransmit_timer).
        if self.backoff == 0 { rto.min(b.max) } else { doubled(b.in_ticks(rto), self.backoff, b.max) }
    }
    fn backoff(&self) -> u32 {
        self.backoff
    }
    fn srtt(&self, _b: &Bounds) -> Option<Span> {
        (self.srtt8 != 0).then(|| Span((self.srtt8 >> 3) * self.unit))
    }
    fn rttvar(&self, _b: &Bounds) -> Option<Span> {
        (self.srtt8 != 0).then(|| Span(self.rttvar4 * self.unit / 4))
    }
    fn samples(&self) -> Samples {
        self.samples
    }
}

#[cfg(test)]
mod tests;
