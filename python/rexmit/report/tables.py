"""Tables of a capture read once, and the rows of each flow out of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rexmit.captured.flows import ON_DEMAND
from rexmit.frame import Frame

if TYPE_CHECKING:
    from rexmit.api import Capture

Row = dict[str, Any]


def runs(flows: Any) -> Iterator[tuple[int, int, int]]:
    """Flow, first row and the row behind the last, of rows that lie together by flow."""
    edges = np.flatnonzero(np.diff(flows)) + 1
    for a, z in pairwise([0, *edges.tolist(), len(flows)]):
        if a < z:
            yield int(flows[a]), a, z


class Places:
    """Where the rows of each flow lie, in two arrays by the flow's number: a dictionary of slices takes ten
    times as much.
    """

    def __init__(self) -> None:
        self._ends = np.zeros((2, 64), np.int64)

    def __getitem__(self, flow: int) -> slice:
        if not 0 <= flow < self._ends.shape[1]:
            return slice(0, 0)
        first, behind = self._ends[:, flow].tolist()
        return slice(first, behind)

    def __contains__(self, flow: int) -> bool:
        rows = self[flow]
        return bool(rows.stop > rows.start)

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self._ends[1] > self._ends[0]).tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Places) and np.array_equal(self._ends, other._ends)

    __hash__ = None  # type: ignore[assignment]

    def add(self, flow: int, first: int, behind: int) -> None:
        """Further rows of a flow, which follow those before."""
        if flow >= self._ends.shape[1]:
            room = np.zeros((2, max(flow + 1, 2 * self._ends.shape[1]) - self._ends.shape[1]), np.int64)
            self._ends = np.concatenate([self._ends, room], axis=1)
        if flow in self:
            if self._ends[1, flow] != first:
                raise AssertionError(f"the rows of flow {flow} do not lie together")
            first = int(self._ends[0, flow])
        self._ends[:, flow] = first, behind


class Part:
    """Columns of some rows of a frame, which is converted once for all who ask."""

    def __init__(self, frame: Frame, rows: slice) -> None:
        self._frame = frame
        self._rows = rows

    def __len__(self) -> int:
        return int(self._rows.stop - self._rows.start)

    def __getitem__(self, name: str) -> Any:
        return self._frame[name][self._rows]


class Tables:
    """The tables of a capture, each read when it is first asked for."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        # All that a page shows in one pass, not each table in one of its own.
        capture._keep(*ON_DEMAND)
        self._tables: dict[str, tuple[Any, Places]] = {}
        self._whole: dict[str, Frame] = {}
        self._none: dict[str, Frame] = {}

    def _table(self, name: Any) -> tuple[Any, Places]:
        if name not in self._tables:
            table = pa.table(self.capture.table(name))
            places = Places()
            for flow, a, z in runs(table.column("flow").to_numpy()):
                places.add(flow, a, z)
            self._tables[name] = table, places
        return self._tables[name]

    def flows(self, name: str) -> list[int]:
        """Which flows have rows in a table."""
        return list(self._table(name)[1])

    def all(self, name: str) -> Frame:
        """All rows of a table."""
        if name not in self._whole:
            self._whole[name] = self._frame(self._table(name)[0])
        return self._whole[name]

    def part(self, name: str, flow: int) -> Part:
        """Columns of a flow's rows."""
        return Part(self.all(name), self.place(name, flow))

    def place(self, name: str, flow: int) -> slice:
        """Where in a table the rows of a flow lie."""
        return self._table(name)[1][flow]

    def frame(self, name: str, flow: int) -> Frame:
        """The rows of a flow."""
        table, rows = self._table(name)[0], self.place(name, flow)
        if rows.start == rows.stop:
            if name not in self._none:
                self._none[name] = self._frame(table.slice(0, 0))
            return self._none[name]
        return self._frame(table.slice(rows.start, rows.stop - rows.start))

    def rows(self, name: str, flow: int) -> list[Row]:
        """The same as dictionaries, times in s since the origin."""
        return self.frame(name, flow).rows()

    def _frame(self, table: Any) -> Frame:
        return Frame(table, self.capture.origin_ns, self.capture.since)


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
