"""Sends at the largest delivery rate that the path has shown, and keeps two round trips of it in flight."""

from rexmit.rules import Driving, DrivingRule, RateSample, Window


class Steady(DrivingRule):
    def __init__(self, gain: float = 1.05) -> None:
        self.gain = gain
        self.best = 0.0

    def begin(self, w: Window, d: Driving) -> None:
        # Ten segments in a round trip of 100 ms, until the first sample says more.
        d.pacing_rate = w.cwnd * 10

    def drive(self, w: Window, s: RateSample, d: Driving) -> None:
        if s.delivered is None or s.interval_ns is None or d.min_rtt_ns is None:
            return
        self.best = max(self.best, s.delivered * w.smss * 1e9 / s.interval_ns)
        # A little above what was delivered: else no sample could ever be larger.
        d.pacing_rate = int(self.gain * self.best)
        w.cwnd = max(4 * w.smss, int(2 * self.best * d.min_rtt_ns / 1e9))
