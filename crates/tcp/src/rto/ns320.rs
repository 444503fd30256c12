//! ns-3.20's RttMeanDeviation: one gain for mean and deviation, whole milliseconds, a multiplier up to 64.
//!
//! Read in ns-3.20. Its full traces (Tahoe, Reno, NewReno, and NewReno with errors) agree in every cwnd change and
//! every data segment with the sender described here; the one timeout in them rests on the minimum of 0.2 s.
//!
//! What the sender has to do about the timer:
//! - A sample is taken of the *oldest* segment that is outstanding, when an ACK covers all of it and it was sent
//!   once: with delayed ACKs this is the first of the two, so the wait for the second counts in. It runs from when
//!   TCP hands the segment down, the wait in the device's queue included. A segment that was resent gives none, and
//!   while it is the oldest, nothing behind it does at that ACK. Samples are taken before anything else is done
//!   with an ACK, of old ones too.
//! - The SYN is not timed. The SYN's own timer is apart: 3 s, doubled, 6 tries.
//! - The timer is started when a data segment is sent and it does not run, and restarted at every ACK that
//!   advances, partial ones too, with `rto()` after that ACK's sample. A fast retransmit leaves it running.
//! - A timeout doubles the multiplier before the segment is resent; a fast retransmit does not. It does not clear
//!   the count of duplicates (only an ACK that advances does), and it ends fast recovery.
//!
//! And the rest of that sender, in bytes:
//! - FlightSize is the highest byte ever sent less the highest acknowledged, also while going back; what may be
//!   sent is min(cwnd, window) less (SND.NXT - SND.UNA). With less than a segment of room nothing is sent, unless
//!   it takes all that there is. No Nagle, no limited transmit.
//! - A duplicate is an ACK of SND.UNA without data while SND.UNA < SND.NXT. The third one acts, if not in recovery.
//! - Tahoe: ssthresh = max(cwnd / 2, 2 SMSS), cwnd = 1 SMSS, SND.NXT back to SND.UNA, which is sent; duplicates
//!   beyond the third do nothing. A timeout does the same.
//! - Reno, NewReno: ssthresh = max(FlightSize / 2, 2 SMSS), cwnd = ssthresh + 3 SMSS, SND.UNA is sent and nothing else,
//!   whatever cwnd allows (row `error_1e-4` of its figures shows it). Each further duplicate adds 1 SMSS and sends. A timeout halves alike, sets cwnd = 1 SMSS and goes back.
//! - Reno leaves recovery at the first ACK that advances: cwnd = ssthresh, which then grows by this same ACK.
//! - NewReno, ACK below `recover` (the highest byte sent on entry): cwnd -= acknowledged, then cwnd += 1 SMSS (two
//!   changes in a trace), SND.UNA is sent, and then new data as the window allows; slow but steady (RFC 6582 §4),
//!   since the timer restarts. Duplicates count from 0 again.
//! - NewReno, ACK at or beyond `recover`: cwnd = min(ssthresh, FlightSize before this ACK + 1 SMSS), which then
//!   grows by this same ACK.
//! - Growth comes before SND.UNA moves, whether or not cwnd is what limits (`congestion/aimd.rs`, `PerAck`).

use super::{Bounds, LONGEST_SAMPLE, RttSample, TimerRule};
use crate::sampler::Samples;
use wire::Span;

#[derive(Clone, Copy, Debug)]
pub(super) struct Ns320 {
    estimate: Span,
    deviation: Span,
    sampled: bool,
    /// The multiplier is 2^`backoff`.
    backoff: u32,
}

/// Attribute `Gain`.
const GAIN: f64 = 0.1;
/// Attribute `MaxMultiplier`: 2^6.
const MOST_BACKOFF: u32 = 6;
const MILLISECOND: i64 = 1_000_000;
/// Attribute `ConnTimeout`.
const HANDSHAKE: Span = Span::from_secs(3);

impl Ns320 {
    /// `initial` is attribute `InitialEstimation` (1 s), an RTT with no deviation, which comes to the same.
    pub(super) fn new(b: &Bounds) -> Ns320 {
        Ns320 { estimate: b.initial, deviation: Span::ZERO, sampled: false, backoff: 0 }
    }
}

/// A difference times the gain, through seconds as a double, cut to whole nanoseconds.
fn gained(difference: Span) -> Span {
    Span((difference.as_secs() * GAIN * 1e9) as i64)
}

impl TimerRule for Ns320 {
    fn on_sample(&mut self, _b: &Bounds, s: &RttSample) {
        let rtt = Span(s.rtt.0.clamp(0, LONGEST_SAMPLE.0));
        if self.sampled {
            let error = rtt - self.estimate;
            self.estimate += gained(error);
            self.deviation += gained(Span(error.0.abs()) - self.deviation);
        } else {
            // The first deviation is the whole sample, not its half.
            (self.estimate, self.deviation) = (rtt, rtt);
            self.sampled = true;
        }
        self.backoff = 0;
    }

    fn on_timeout(&mut self, _b: &Bounds) {
        self.backoff = (self.backoff + 1).min(MOST_BACKOFF);
    }

    fn rto(&self, b: &Bounds) -> Span {
        // Each part is cut to whole milliseconds, and the minimum is raised to before the multiplier.
        let ms = self.estimate.0 / MILLISECOND + 4 * (self.deviation.0 / MILLISECOND);
        let base = Span(ms * MILLISECOND).max(b.min);
        (base * (1 << self.backoff)).min(b.max)
    }
    fn backoff(&self) -> u32 {
        self.backoff
    }
    fn srtt(&self, _b: &Bounds) -> Option<Span> {
        self.sampled.then_some(self.estimate)
    }
    fn rttvar(&self, _b: &Bounds) -> Option<Span> {
        self.sampled.then_some(self.deviation)
    }
    fn handshake_apart(&self, nth: u32) -> Option<Span> {
        Some(HANDSHAKE * (1 << nth.min(16)))
    }
    fn samples(&self) -> Samples {
        Samples::Oldest
    }
}
