//! The timer of Linux since 2.4: the deviation is the largest of a round trip, and at least 200 ms.

use super::{doubled, smoothed::LONGEST_SAMPLE};
use wire::Span;

pub const RTO_MIN: Span = Span::from_millis(200);
pub const RTO_MAX: Span = Span::from_secs(120);

/// SRTT and the mean deviation as Jacobson has them, but the RTO rests on the largest deviation of the last
/// round trip of data, which never counts for less than 200 ms: the RTO is about SRTT + 200 ms or more.
/// Nanoseconds; `srtt8` times 8, the deviations times 4.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Linux {
    srtt8: i64,
    mdev4: i64,
    /// Largest deviation since `round_end` was set.
    mdev_max4: i64,
    rttvar4: i64,
    /// The round trip is over when data beyond this is acknowledged.
    round_end: u64,
}

impl Linux {
    /// `una`, `nxt`: first byte not acknowledged and next byte to be sent, after the ACK that gave the sample.
    #[inline]
    pub fn on_rtt(&mut self, rtt: Span, una: u64, nxt: u64) {
        let r = rtt.0.clamp(1, LONGEST_SAMPLE);
        if self.srtt8 == 0 {
            let deviation = (r << 1).max(RTO_MIN.0);
            *self = Linux {
                srtt8: r << 3,
                mdev4: r << 1,
                mdev_max4: deviation,
                rttvar4: deviation,
                round_end: nxt,
            };
            return;
        }
        let error = r - (self.srtt8 >> 3);
        self.srtt8 += error;
        let mut change = error.abs() - (self.mdev4 >> 2);
        if error < 0 && change > 0 {
            // The path got faster: that is no reason for a longer timeout, so an eighth of the gain.
            change >>= 3;
        }
        self.mdev4 += change;
        if self.mdev4 > self.mdev_max4 {
            self.mdev_max4 = self.mdev4;
            self.rttvar4 = self.rttvar4.max(self.mdev_max4);
        }
        if una > self.round_end {
            // Up at once, down by a quarter of the gap per round trip.
            self.rttvar4 -= (self.rttvar4 - self.mdev_max4).max(0) >> 2;
            self.round_end = nxt;
            self.mdev_max4 = RTO_MIN.0;
        }
    }
    #[inline]
    pub fn rto(&self, backoff: u32) -> Span {
        doubled((self.srtt8 >> 3) + self.rttvar4, backoff, RTO_MAX)
    }
    pub fn srtt(&self) -> Option<Span> {
        (self.srtt8 != 0).then_some(Span(self.srtt8 >> 3))
    }
    pub fn rttvar(&self) -> Span {
        Span(self.rttvar4 >> 2)
    }
}
