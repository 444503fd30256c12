"""What ACKs and their SACK blocks report of segments, and when they do so first."""

from __future__ import annotations

import bisect
from typing import Any

Json = dict[str, Any]
SACK = tuple(f"sack{i}_{end}" for i in (1, 2, 3, 4) for end in ("start", "end"))


class Board:
    """What SACK blocks have reported, and when."""

    def __init__(self) -> None:
        self.first = 0
        self.tops: list[int] = []
        self.times: list[float] = []
        self.starts: list[int] = []
        self.ends: list[int] = []

    def cover(self, start: int, end: int) -> list[tuple[int, int]]:
        """The parts that were not covered before, which are now."""
        start = max(start, self.first)
        if start >= end:
            return []
        low = bisect.bisect_left(self.ends, start)
        high = bisect.bisect_right(self.starts, end)
        new, at = [], start
        for a, b in zip(self.starts[low:high], self.ends[low:high], strict=True):
            if at < a:
                new.append((at, a))
            at = max(at, b)
        if at < end:
            new.append((at, end))
        if low < high:
            start, end = min(start, self.starts[low]), max(end, self.ends[high - 1])
        self.starts[low:high], self.ends[low:high] = [start], [end]
        return new

    def forget_below(self, acked: int) -> None:
        while self.ends and self.ends[0] <= acked:
            del self.starts[0], self.ends[0]
        self.first = max(self.first, acked)

    def reached(self, top: int, time: float) -> None:
        if not self.tops or top > self.tops[-1]:
            self.tops.append(top)
            self.times.append(time)

    def above_since(self, end: int) -> float | None:
        """When something above this was reported first."""
        at = bisect.bisect_right(self.tops, end)
        return self.times[at] if at < len(self.tops) else None


def sacked_by(row: Json) -> list[tuple[int, int]]:
    """The SACK blocks of an ACK that lie above it."""
    blocks = [(row[f"sack{i}_start"], row[f"sack{i}_end"]) for i in (1, 2, 3, 4)]
    return [(a, b) for a, b in blocks if a is not None and b is not None and b > (row["ack"] or 0)]


def segments(sizes: dict[int, int], start: int, end: int) -> list[int]:
    """The first bytes of the segments of a hole; none where it does not begin with a segment."""
    found = []
    while start < end and start in sizes:
        found.append(start)
        start += max(sizes[start], 1)
    return found
