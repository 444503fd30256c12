"""Packets that came behind later ones, and how late they came."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from rexmit.fitted.seen import Json, Seen
from rexmit.fitted.value import Value, median, proportion, quantile, unknown

#: So many packets that came late show how late they come.
OFTEN = 3
_SACK = tuple(f"sack{i}_{end}" for i in (1, 2, 3, 4) for end in ("start", "end"))
_COLUMNS = ("time", "data", "class", "seq", "len", "ack", *_SACK)


@dataclass(frozen=True)
class Reordering:
    """share: of packets.  by: how long behind a later packet they came, s; None where none did."""

    share: Value
    by: Value | None


def of(seen: Seen) -> Reordering:
    """Where data arrives, packets show it. At the sender, ACKs with SACK blocks do: a hole was filled that
    nobody had repaired.
    """
    rows = seen.flow.columns("packets", *_COLUMNS).rows()
    if seen.arriving:
        late, source = _late_packets(rows), "packets that came behind later ones"
    elif not seen.row["sack_permitted"]:
        return Reordering(unknown("share", "ACKs have no SACK blocks that would show it"), None)
    else:
        late, source = _filled_holes(rows), "holes in SACK blocks that were filled without a repair"
    # What was repaired although it came was late as well; behind a timer it may have been an ACK that was.
    more = 0 if seen.row["timeouts"] or seen.arriving else int(seen.row["needless"] or 0)
    packets = max(int(seen.row["packets"]), len(late) + more, 1)
    count = len(late) + more
    low, high = proportion(count, packets)
    share = Value(count / packets, low, high, "share", source)
    if len(late) < OFTEN:
        return Reordering(share, None)
    ordered = sorted(late)
    words = f"{len(late):,} packets, the median and the middle nine tenths"
    return Reordering(
        share, Value(median(late), quantile(ordered, 0.05), quantile(ordered, 0.95), "s", words)
    )


def _late_packets(rows: list[Json]) -> list[float]:
    tops: list[int] = []
    times: list[float] = []
    late: list[float] = []
    for r in rows:
        if not r["data"]:
            continue
        end = r["seq"] + r["len"]
        if r["class"] == "reordered" and tops:
            # The first packet that came and lies above it.
            late.append(r["time"] - times[min(bisect.bisect_left(tops, end), len(tops) - 1)])
        if not tops or end > tops[-1]:
            tops.append(end)
            times.append(r["time"])
    return late


class _Board:
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


def _filled_holes(rows: list[Json]) -> list[float]:
    board, again = _Board(), set[int]()
    sizes: dict[int, int] = {}
    late: list[float] = []
    for r in rows:
        if r["data"]:
            if r["class"] == "ordinary":
                sizes[r["seq"]] = r["len"]
            else:
                again.add(r["seq"])
            continue
        blocks = [(r[f"sack{i}_start"], r[f"sack{i}_end"]) for i in (1, 2, 3, 4)]
        sacked = [(a, b) for a, b in blocks if a is not None and b is not None and b > (r["ack"] or 0)]
        if r["ack"] is not None and (board.starts or sacked):
            sacked.append((board.first or r["ack"], r["ack"]))
        for a, b in sorted(sacked):
            for start, end in board.cover(a, b):
                since = board.above_since(end - 1)
                if since is None or since >= r["time"]:
                    continue
                late += [r["time"] - since] * sum(s not in again for s in _segments(sizes, start, end))
        for _, end in sacked:
            board.reached(end, r["time"])
        board.forget_below(r["ack"] or 0)
    return late


def _segments(sizes: dict[int, int], start: int, end: int) -> list[int]:
    """The first bytes of the segments of a hole; none where it does not begin with a segment."""
    found = []
    while start < end and start in sizes:
        found.append(start)
        start += max(sizes[start], 1)
    return found
