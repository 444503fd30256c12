"""Bursts or episodes of two flows, matched by when they began, in time that grows as n log n."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.flows import Flow

Row = dict[str, Any]
Floats = Sequence[float]
#: Places of the two rows of a pair; None where a row stands alone.
Places = tuple[int | None, int | None]

#: Two episodes further apart than this are never the same event, s: beyond it only a repeated outage matches.
NEAR_S = 1.0
#: Columns that are times; a pair has them in s since the flow's own start.
TIMES = ("start", "last", "back", "first_repair", "end")
#: Pairs whose rows are made at once.
AT_ONCE = 500


@dataclass(frozen=True)
class Pair:
    """What happened in both, or in one only. Times are s since the flow's own start."""

    first: Row | None
    second: Row | None


class Side:
    """Bursts or episodes of one flow in order of time. Rows are made only for what somebody looks at."""

    def __init__(self, capture: Capture, flow: Flow, table: Literal["bursts", "episodes"]) -> None:
        from rexmit.running.folder import LiveFolder

        frame = flow.frame(table)
        begin = float(flow.row["start"])
        began = frame.plain("start")
        self._begin = begin
        self._order = sorted(range(len(frame)), key=began.__getitem__)
        self._frame = frame
        #: When each began, s since the flow's own start.
        self.starts: Floats = [began[place] - begin for place in self._order]
        #: Which outage took data of each, where the run knows.
        self.outages: list[str | None] | None = None
        if len(frame) and "outage" in frame:
            told = frame.text("outage")
            self.outages = [told[place] for place in self._order]
        elif isinstance(capture, LiveFolder):
            self.outages = capture.outages_of(flow, table, [start + begin for start in self.starts])

    def rows(self, places: Sequence[int]) -> list[Row]:
        """The rows at these places of the order."""
        found = self._frame.take(self._order[place] for place in places).rows()
        for place, row in zip(places, found, strict=True):
            row.update({key: row[key] - self._begin for key in TIMES if row.get(key) is not None})
            if self.outages is not None:
                row["outage"] = self.outages[place]
        return found


class Matches:
    """Pairs of the rows of two flows, in order of time."""

    def __init__(self, first: Side, second: Side) -> None:
        self._sides = (first, second)
        self._places = nearest(first.starts, second.starts)

    def __len__(self) -> int:
        return len(self._places)

    def __repr__(self) -> str:
        both, first, second = self.counts
        return f"<matches: {both:,} in both, {first:,} in the first only, {second:,} in the second only>"

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many are in both, in the first only, and in the second only."""
        first = sum(b is None for _, b in self._places)
        second = sum(a is None for a, _ in self._places)
        return len(self) - first - second, first, second

    @property
    def outages(self) -> tuple[list[str | None] | None, list[str | None] | None]:
        """Of each side, which outage took data of each row, in order of time; None where no run knows."""
        return self._sides[0].outages, self._sides[1].outages

    @property
    def has_outages(self) -> bool:
        """Whether the run of either knows an outage that took data."""
        return any(outage for side in self._sides for outage in side.outages or ())

    def pairs(self, most: int | None = None) -> Iterator[Pair]:
        """The pairs, or so many of them at most."""
        places = self._places[:most]
        for begin in range(0, len(places), AT_ONCE):
            some = places[begin : begin + AT_ONCE]
            rows = []
            for side, of_side in zip(self._sides, zip(*some, strict=True), strict=True):
                wanted = [place for place in of_side if place is not None]
                rows.append(iter(side.rows(wanted)))
            for a, b in some:
                yield Pair(None if a is None else next(rows[0]), None if b is None else next(rows[1]))


def nearest(first: Floats, second: Floats) -> list[Places]:
    """Pairs of two ascending sequences by the nearest values, each once, none across another; what is left
    stands alone. In order of time.

    The nearest two of what is left are always neighbours in the merged sequence, and a pair parts it into two
    that no further pair may join. So only neighbours can be pairs, and the nearest are taken first.
    """
    near = max(NEAR_S, _beat(first) / 2, _beat(second) / 2)
    # Equal times alternate, so that the k-th of the one stands beside the k-th of the other.
    merged = sorted(
        (time, among, which, place)
        for which, side in enumerate((first, second))
        for place, (time, among) in enumerate(zip(side, _among_equals(side), strict=True))
    )
    # The pair's places in the first and in the second say which of equal distances is taken first.
    close = []
    for at, ((time, _, which, place), (later, _, other, behind)) in enumerate(pairwise(merged)):
        if which != other and later - time <= near:
            pair = (place, behind) if which == 0 else (behind, place)
            close.append((later - time, pair, at))
    paired = bytearray(len(merged))
    begins: dict[int, tuple[int, int]] = {}
    for _, pair, at in sorted(close):
        if not paired[at] and not paired[at + 1]:
            paired[at] = paired[at + 1] = 1
            begins[at] = pair
    found: list[Places] = []
    for at, (_, _, which, place) in enumerate(merged):
        if at in begins:
            found.append(begins[at])
        elif not paired[at]:
            found.append((place, None) if which == 0 else (None, place))
    return found


def _among_equals(times: Floats) -> list[int]:
    """How many equal values stand before each of an ascending sequence."""
    return [place for _, equal in groupby(times) for place, _ in enumerate(equal)]


def _beat(starts: Floats) -> float:
    """The shortest time from one to the next; 0 for fewer than two."""
    return min((later - start for start, later in pairwise(starts)), default=0.0)
