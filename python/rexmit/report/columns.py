"""Rows of a table as numpy columns, flow by flow: in memory, or in files where they are many."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from shutil import disk_usage
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rexmit.files.not_written import NotWrittenError
from rexmit.frame import batches
from rexmit.report.tables import Places, runs
from rexmit.screen.units import size

Array = npt.NDArray[Any]
Told = Callable[[int, int], None]

#: Tables of more rows than this are kept in temporary files, of which the system holds in memory what is
#: used. The files have no names, so the kernel removes them however the process ends.
IN_MEMORY = 1_000_000


class Columns:
    """Columns of all flows; the rows of one lie together, in the order of the table. One is `time_ns`.

    kinds: the columns' numpy kinds by name.
    """

    def __init__(self, kinds: Mapping[str, str], rows: int) -> None:
        self.columns: dict[str, Array] = {}
        in_files = rows > IN_MEMORY
        if in_files:
            _check_room(rows * sum(np.dtype(kind).itemsize for kind in kinds.values()))
        for name, kind in kinds.items():
            self.columns[name] = _in_file(kind, rows) if in_files else np.zeros(rows, dtype=kind)
        self._rows = Places()
        self._ordered: dict[int, bool] = {}

    def __len__(self) -> int:
        return len(self.columns["time_ns"])

    @property
    def rows(self) -> Places:
        """Where the rows of each flow lie."""
        return self._rows

    def of(self, flow: int) -> slice:
        """The rows of a flow."""
        return self._rows[flow]

    def within(self, flow: int, from_ns: int, to_ns: int) -> slice:
        """The rows of a flow from the first to the last in a stretch of time, both ends in it."""
        rows = self.of(flow)
        time = self.columns["time_ns"][rows]
        if flow not in self._ordered:
            self._ordered[flow] = bool((time[1:] >= time[:-1]).all())
        if self._ordered[flow]:
            a, z = int(np.searchsorted(time, from_ns)), int(np.searchsorted(time, to_ns, side="right"))
        else:
            inside = np.flatnonzero((time >= from_ns) & (time <= to_ns))
            a, z = (int(inside[0]), int(inside[-1]) + 1) if len(inside) else (0, 0)
        return slice(rows.start + a, rows.start + max(a, z))

    def fill(self, table: Any, value: Callable[[Any, str], Array], told: Told | None = None) -> None:
        """Takes in a table batch by batch. value: a column of a batch, by its name here.

        told(rows done, rows in all) is called now and then, and may raise.
        """
        done = 0
        for batch in batches(table):
            where = slice(done, done + batch.num_rows)
            for name, column in self.columns.items():
                found = value(batch, name)
                # What is all 0 lies in the file as a hole.
                if found.any():
                    column[where] = found
            for flow, a, z in runs(batch.column("flow").to_numpy()):
                self._rows.add(flow, done + a, done + z)
            done += batch.num_rows
            if told is not None:
                told(done, len(self))


def _check_room(wanted: int) -> None:
    """Raises NotWrittenError if it does not fit: what is written as memory is later fails without a word."""
    folder = tempfile.gettempdir()
    free = disk_usage(folder).free
    if free < wanted:
        raise NotWrittenError(
            f"{folder}: {size(wanted)} are needed there for a while, and {size(free)} are free; "
            "name another place with TMPDIR"
        )


def _in_file(kind: str, rows: int) -> Array:
    with tempfile.TemporaryFile(prefix="rexmit-") as made:
        os.truncate(made.fileno(), rows * np.dtype(kind).itemsize)
        # The mapping keeps the file once it is closed.
        return np.memmap(made, dtype=kind, mode="r+", shape=(rows,))


def nanoseconds(column: Any, origin_ns: int) -> Array:
    """A column of instants as whole ns since the origin."""
    whole = column.cast(pa.timestamp("ns", tz=column.type.tz)).cast(pa.int64())
    return cast("Array", whole.to_numpy() - origin_ns)


def places(column: Any, words: list[str]) -> Array:
    """A column of words by their places among those that there are, 0 for none."""
    found = pc.index_in(column.cast(pa.string()), value_set=pa.array(words))
    return cast("Array", pc.fill_null(found, 0).to_numpy(zero_copy_only=False))
