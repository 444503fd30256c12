//! Westwood+: Reno's growth, but a loss leaves the measured bandwidth times the smallest RTT.

use super::{AckFacts, LossFacts, Window, WindowRule, aimd::Aimd};
use wire::{Span, Time};

params::params! {
    /// Grieco and Mascolo 2004; nothing to choose.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "westwood+", "ssthresh from the bandwidth of ACKs (Westwood+)." {}
}

/// Mascolo et al. 2001, Grieco and Mascolo 2004, in the form of Linux 2.6.32 (read there, `tcp_westwood.c`):
/// bandwidth is sampled over an RTT, at least 50 ms, and filtered twice with 7/8 and 1/8.
///
/// Linux applies it when recovery ends (cwnd and ssthresh) and as the floor of its rate halving; here ssthresh is
/// this from the loss on, and both are set anew when a recovery ends, from what was measured in it. Exact times, no
/// jiffies.
#[derive(Clone, Copy, Debug)]
pub(super) struct WestwoodPlus {
    growth: Aimd,
    /// Bytes per second: after the first filter, and after both.
    once: f64,
    bandwidth: f64,
    /// The sample being built: since when, and how many bytes.
    since: Option<Time>,
    bytes: u64,
    /// Duplicate ACKs' bytes, which the cumulative ACK will report again.
    counted_early: u64,
    rtt: Span,
    rtt_min: Option<Span>,
    /// The path may have changed: the next sample replaces `rtt_min`.
    forget_rtt_min: bool,
    after_timeout: bool,
}

/// Before a sample, "too conservative" on purpose: no bandwidth is measured until there is one.
const FIRST_RTT: Span = Span::from_secs(20);
/// Shorter samples say little.
const SHORTEST_SAMPLE: Span = Span::from_millis(50);

impl WestwoodPlus {
    fn filter(&mut self, sample: f64) {
        if self.once == 0.0 && self.bandwidth == 0.0 {
            (self.once, self.bandwidth) = (sample, sample);
            return;
        }
        self.once = (7.0 * self.once + sample) / 8.0;
        self.bandwidth = (7.0 * self.bandwidth + self.once) / 8.0;
    }

    /// Bytes that this ACK says have arrived. A duplicate without SACK stands for one segment, which the
    /// cumulative ACK reports once more, later.
    fn arrived(&mut self, w: &Window, a: &AckFacts) -> u64 {
        let delivered = u64::from(a.delivered.max(a.acked));
        if delivered == 0 {
            self.counted_early += u64::from(w.smss);
            return u64::from(w.smss);
        }
        let again = delivered.saturating_sub(u64::from(w.smss)).min(self.counted_early);
        self.counted_early -= again;
        delivered - again
    }

    /// Bandwidth times the smallest RTT, in whole segments, at least 2. Bytes.
    fn share(&self, w: &Window) -> u32 {
        let bytes = self.bandwidth * self.rtt_min.unwrap_or(Span::ZERO).as_secs();
        ((bytes / f64::from(w.smss)) as u32).max(2).saturating_mul(w.smss)
    }
}

impl WindowRule for WestwoodPlus {
    type Params = Params;

    fn new(_: &Params) -> WestwoodPlus {
        WestwoodPlus {
            growth: Aimd::linux26(),
            once: 0.0,
            bandwidth: 0.0,
            since: None,
            bytes: 0,
            counted_early: 0,
            rtt: FIRST_RTT,
            rtt_min: None,
            forget_rtt_min: false,
            after_timeout: false,
        }
    }

    fn measure(&mut self, w: &mut Window, a: &AckFacts, _open: bool) {
        if let Some(rtt) = a.rtt
            && rtt > Span::ZERO
        {
            self.rtt = rtt;
        }
        let since = *self.since.get_or_insert(a.now);
        let elapsed = a.now - since;
        if elapsed > self.rtt.max(SHORTEST_SAMPLE) {
            self.filter(self.bytes as f64 / elapsed.as_secs());
            self.bytes = 0;
            self.since = Some(a.now);
        }
        self.bytes += self.arrived(w, a);
        self.rtt_min = match self.rtt_min {
            Some(least) if !self.forget_rtt_min => Some(least.min(self.rtt)),
            _ => Some(self.rtt),
        };
        self.forget_rtt_min = false;
    }

    fn in_slow_start(&self, w: &Window) -> bool {
        self.growth.in_slow_start(w)
    }

    fn avoid(&mut self, w: &mut Window, a: &AckFacts, acked: u32) {
        self.growth.avoid(w, a, acked);
    }

    fn ssthresh(&mut self, w: &Window, l: &LossFacts) -> u32 {
        self.growth.ssthresh(w, l);
        self.after_timeout = l.timeout;
        self.forget_rtt_min |= l.timeout;
        self.share(w)
    }

    fn on_recovery_end(&mut self, w: &mut Window, _now: Time) {
        if !self.after_timeout {
            w.ssthresh = self.share(w);
            w.cwnd = w.ssthresh;
        }
    }
}

#[cfg(test)]
mod tests;
