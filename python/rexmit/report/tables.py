"""Tables of a capture read once, and the rows of each flow out of them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rexmit.captured.flows import ON_DEMAND
from rexmit.frame import Frame

if TYPE_CHECKING:
    from rexmit.api import Capture

Row = dict[str, Any]


def runs(flows: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Flow, first row and the row behind the last, of rows that lie together by flow."""
    behind = 0
    for flow, rows in groupby(flows):
        first, behind = behind, behind + sum(1 for _ in rows)
        yield flow, first, behind


class Places:
    """Where the rows of each flow lie, in two arrays by the flow's number: a dictionary of slices takes ten
    times as much.
    """

    def __init__(self) -> None:
        self._first, self._behind = array("q"), array("q")

    def __getitem__(self, flow: int) -> slice:
        if not 0 <= flow < len(self._first):
            return slice(0, 0)
        return slice(self._first[flow], self._behind[flow])

    def __contains__(self, flow: int) -> bool:
        rows = self[flow]
        return bool(rows.stop > rows.start)

    def __iter__(self) -> Iterator[int]:
        return (flow for flow in range(len(self._first)) if self._behind[flow] > self._first[flow])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Places) and (self._first, self._behind) == (other._first, other._behind)

    __hash__ = None  # type: ignore[assignment]

    def add(self, flow: int, first: int, behind: int) -> None:
        """Further rows of a flow, which follow those before."""
        if flow >= len(self._first):
            room = bytes(8 * (flow + 1 - len(self._first)))
            self._first.frombytes(room)
            self._behind.frombytes(room)
        if flow in self:
            if self._behind[flow] != first:
                raise AssertionError(f"the rows of flow {flow} do not lie together")
            first = self._first[flow]
        self._first[flow], self._behind[flow] = first, behind


class Part:
    """Columns of some rows of a frame, which is converted once for all who ask."""

    def __init__(self, frame: Frame, rows: slice) -> None:
        self._frame = frame
        self._rows = rows

    def __len__(self) -> int:
        return int(self._rows.stop - self._rows.start)

    def plain(self, name: str) -> Any:
        """As `Frame.plain` has it."""
        return self._frame.plain(name)[self._rows]


class Tables:
    """The tables of a capture, each read when it is first asked for."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        # All that a page shows in one pass, not each table in one of its own.
        capture._keep(*ON_DEMAND)
        self._tables: dict[str, tuple[Frame, Places]] = {}
        self._none: dict[str, Frame] = {}

    def _table(self, name: Any) -> tuple[Frame, Places]:
        if name not in self._tables:
            frame = Frame(self.capture.table(name), self.capture.origin_ns, self.capture.since)
            places = Places()
            for flow, first, behind in runs(frame.raw("flow")):
                places.add(flow, first, behind)
            self._tables[name] = frame, places
        return self._tables[name]

    def flows(self, name: str) -> list[int]:
        """Which flows have rows in a table."""
        return list(self._table(name)[1])

    def all(self, name: str) -> Frame:
        """All rows of a table."""
        return self._table(name)[0]

    def part(self, name: str, flow: int) -> Part:
        """Columns of a flow's rows."""
        return Part(self.all(name), self.place(name, flow))

    def place(self, name: str, flow: int) -> slice:
        """Where in a table the rows of a flow lie."""
        return self._table(name)[1][flow]

    def frame(self, name: str, flow: int) -> Frame:
        """The rows of a flow."""
        rows = self.place(name, flow)
        if rows.start == rows.stop:
            return self._none.setdefault(name, self.all(name).take(()))
        return self.all(name).slice(rows.start, rows.stop)

    def rows(self, name: str, flow: int) -> list[Row]:
        """The same as dictionaries, times in s since the origin."""
        return self.frame(name, flow).rows()


#: Columns of tables that are instants; all others of the same unit are lengths of time.
TIMES = ("start", "end", "last", "back", "first_repair", "time", "first_data", "last_data", "reset")


def in_ns(row: Row) -> Row:
    """A row of a table with its instants as whole ns since the origin, under names that say so."""
    told = {}
    for name, value in row.items():
        if name in TIMES:
            told[f"{name}_ns"] = None if value is None else round(float(value) * 1e9)
        elif name != "flow":
            told[name] = value
    return told
