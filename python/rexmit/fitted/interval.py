"""An interruption of the path: when it began, and how long it was."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Interval:
    """When it began and how long it was, s, and the interval of its length.

    since: when the first packet was sent that met it.  copies: lost in a row, at least.
    """

    start: float
    length: float
    low: float
    high: float | None
    since: float
    copies: int = 0

    def spans(self, trip: float) -> tuple[float, float]:
        """From before the first packet that met it was sent to a round trip behind it."""
        return self.since - 1e-4, self.start + (self.high if self.high is not None else 1e9) + trip
