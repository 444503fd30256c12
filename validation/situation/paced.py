"""A sender that paces at a fixed rate, whatever the path could carry (SO_MAX_PACING_RATE)."""

from __future__ import annotations

from rexmit.rules import Driving, DrivingRule, RateSample, Window


class Paced(DrivingRule):
    def __init__(self, bytes_per_s: int) -> None:
        self.bytes_per_s = bytes_per_s

    def begin(self, w: Window, d: Driving) -> None:
        self.set(w, d)

    def drive(self, w: Window, s: RateSample, d: Driving) -> None:
        self.set(w, d)

    def set(self, w: Window, d: Driving) -> None:
        """cwnd never holds the sender: a second of data."""
        d.pacing_rate = self.bytes_per_s
        w.cwnd = max(10 * w.smss, self.bytes_per_s)
