//! How the congestion window moves: ns-2's `opencwnd` and `slowdown`. Unit: packets, and fractions of one.

use super::core::Core;

/// What a slow-down does to cwnd, beside halving ssthresh or leaving it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CutTo {
    Half,
    One,
}

impl Core {
    /// Whole packets that may be outstanding: cwnd with recovery's inflation, bounded by the window.
    pub(super) fn window(&self) -> i64 {
        (self.cwnd as i64).saturating_add(self.inflation).min(self.window_limit)
    }

    /// The same with its fraction.
    pub(super) fn window_exact(&self) -> f64 {
        (self.cwnd + self.inflation as f64).min(self.window_limit as f64)
    }

    /// One acknowledgement that advanced: slow start below ssthresh, one packet for a window's worth of them above.
    pub(super) fn open(&mut self) {
        if self.cwnd < self.ssthresh as f64 {
            self.cwnd += 1.0;
        } else {
            self.cwnd += 1.0 / self.cwnd;
        }
        self.bound_cwnd();
    }

    /// `maxcwnd_`.
    pub(super) fn bound_cwnd(&mut self) {
        if let Some(most) = self.spec.max_cwnd_packets
            && self.cwnd as i64 > i64::from(most)
        {
            self.cwnd = f64::from(most);
        }
    }

    /// ssthresh to half the window (never below 2), cwnd down.
    pub(super) fn slow_down(&mut self, to: CutTo) {
        let half = self.half_window();
        self.ssthresh = (half as i64).max(2);
        self.cut(to, half);
    }

    /// cwnd down, ssthresh as it is (though never below 2).
    pub(super) fn slow_down_keeping_ssthresh(&mut self, to: CutTo) {
        let half = self.half_window();
        self.ssthresh = self.ssthresh.max(2);
        self.cut(to, half);
    }

    fn cut(&mut self, to: CutTo, half: f64) {
        self.cwnd = match to {
            CutTo::Half => half,
            CutTo::One => 1.0,
        };
    }

    /// `precisionReduce_`: with its fraction; before it (2006) whole packets, rounded down.
    fn half_window(&self) -> f64 {
        if self.spec.exact_halving { self.window_exact() / 2.0 } else { (self.window() / 2) as f64 }
    }
}
