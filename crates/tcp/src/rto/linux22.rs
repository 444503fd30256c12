//! The timer of Linux 2.2, whose back-off outlives the segment that earned it (paper `rto`), and the paper's cure.

use super::{Bounds, RttSample, TimerRule, doubled};
use wire::Span;

/// RTO = (SRTT + 4 mdev) (1 + 1/4 + 1/2^(cwnd-1)), equation (1) of paper `rto`, times 2^backoff.
///
/// While anything is unacknowledged after a timeout, each timestamped ACK computes the RTO anew and shifts it by
/// the back-off again, so an idle time of a minute follows one more loss; the back-off goes when nothing is
/// outstanding any more. Without timestamps there are no samples while retransmitting (Karn), so the doubled RTO
/// itself stays, until a segment that was sent once gives a sample. In units of the clock's grain (10 ms there).
#[derive(Clone, Copy, Debug)]
pub(super) struct Linux22 {
    /// Times 8.
    srtt8: i64,
    /// Times 4.
    mdev4: i64,
    /// The timer fired, and not everything sent has been acknowledged since.
    in_loss: bool,
    /// A sample came with this ACK.
    fresh: bool,
    /// The window as it was last known, segments.
    cwnd: u32,
    cured: bool,
    backoff: u32,
    /// As it was set last; the window may have changed since, which does not matter until the next ACK.
    rto: Span,
}

/// While the handshake's sample is all there is.
const FIRST_CWND: u32 = 2;
/// Where 1/2^(cwnd-1) no longer matters.
const LARGE_CWND: u32 = 60;

impl Linux22 {
    pub(super) fn new(b: &Bounds, cured: bool) -> Linux22 {
        Linux22 {
            srtt8: 0,
            mdev4: 0,
            in_loss: false,
            fresh: false,
            cwnd: FIRST_CWND,
            cured,
            backoff: 0,
            rto: b.initial,
        }
    }

    /// Equation (1), in integers as the kernel has them, between the bounds; then the back-off.
    fn computed(&self, b: &Bounds, cwnd_segments: u32) -> Span {
        let base = (self.srtt8 >> 3) + self.mdev4;
        let rto = base + (base >> 2) + (base >> (cwnd_segments.clamp(1, LARGE_CWND) - 1));
        // The shift comes first and the bounds last.
        doubled(Span(rto * b.unit()), self.backoff, b.max).max(b.min)
    }
}

impl TimerRule for Linux22 {
    fn on_sample(&mut self, b: &Bounds, s: &RttSample) {
        if self.in_loss && !s.from_timestamp {
            return;
        }
        let rtt = b.measured_units(s);
        if self.srtt8 == 0 {
            let rtt = rtt.max(1);
            (self.srtt8, self.mdev4) = (rtt << 3, rtt << 1);
        } else {
            let error = rtt - (self.srtt8 >> 3);
            self.srtt8 = (self.srtt8 + error).max(1);
            self.mdev4 += error.abs() - (self.mdev4 >> 2);
        }
        self.fresh = true;
        if !s.from_timestamp {
            // Karn's rule: a segment that was sent once ends the back-off.
            self.backoff = 0;
        }
        // For a sample of the handshake; with any other, `on_ack_advance` knows the window better.
        self.rto = self.computed(b, self.cwnd);
    }

    fn on_timeout(&mut self, b: &Bounds) {
        self.in_loss = true;
        self.backoff = self.backoff.saturating_add(1);
        self.rto = doubled(self.rto, 1, b.max);
    }

    fn on_ack_advance(&mut self, b: &Bounds, una: u64, nxt: u64, cwnd_segments: u32) {
        self.cwnd = cwnd_segments;
        let all_acked = una >= nxt;
        if self.in_loss && (all_acked || self.cured) {
            self.in_loss = false;
            // The cure: the segment that earned the back-off was the first one not acknowledged, and this ACK
            // acknowledges it. With timestamps both rules have a sample here; without, the back-off waits for one.
            if self.cured || self.fresh {
                self.backoff = 0;
            }
        }
        let has_sample = self.srtt8 != 0;
        if self.fresh || (self.cured && self.backoff == 0 && has_sample) {
            self.rto = self.computed(b, cwnd_segments);
        }
        self.fresh = false;
    }

    fn rto(&self, _b: &Bounds) -> Span {
        self.rto
    }
    fn backoff(&self) -> u32 {
        self.backoff
    }
    fn srtt(&self, b: &Bounds) -> Option<Span> {
        (self.srtt8 != 0).then(|| Span((self.srtt8 >> 3) * b.unit()))
    }
    fn rttvar(&self, b: &Bounds) -> Option<Span> {
        (self.srtt8 != 0).then(|| Span(self.mdev4 * b.unit() / 4))
    }
}

#[cfg(test)]
mod tests;
