"""Rows of a table as columns, flow by flow: in memory, or in files where they are many."""

from __future__ import annotations

import mmap
import os
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from operator import le
from shutil import disk_usage
from typing import Any, cast

from rexmit.files.not_written import NotWrittenError
from rexmit.frame import Batch, batches
from rexmit.report.tables import Places, runs
from rexmit.screen.units import size

Told = Callable[[int, int], None]

#: Tables of more rows than this are kept in temporary files, of which the system holds in memory what is
#: used. The files have no names, so the kernel removes them however the process ends.
IN_MEMORY = 1_000_000


class Columns:
    """Columns of all flows; the rows of one lie together, in the order of the table. One is `time_ns`.

    kinds: the columns' kinds by name, as Python's `array` calls them.
    """

    def __init__(self, kinds: Mapping[str, str], rows: int) -> None:
        self.columns: dict[str, memoryview] = {}
        self.in_files = rows > IN_MEMORY
        if self.in_files:
            _check_room(rows * sum(array(kind).itemsize for kind in kinds.values()))
        for name, kind in kinds.items():
            length = rows * array(kind).itemsize
            room = _file(length) if self.in_files else bytearray(length)
            self.columns[name] = memoryview(room).cast(cast("Any", kind))
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
            self._ordered[flow] = all(map(le, time, islice(time, 1, None)))
        if self._ordered[flow]:
            a, z = bisect_left(time, from_ns), bisect_right(time, to_ns)
        else:
            inside = [place for place, at in enumerate(time) if from_ns <= at <= to_ns]
            a, z = (inside[0], inside[-1] + 1) if inside else (0, 0)
        return slice(rows.start + a, rows.start + max(a, z))

    def fill(
        self, table: Any, value: Callable[[Batch, str], Sequence[Any]], told: Told | None = None
    ) -> None:
        """Takes in a table batch by batch. value: a column of a batch, by its name here; nothing: it stays 0.

        told(rows done, rows in all) is called now and then, and may raise.
        """
        done = 0
        for batch in batches(table):
            where = slice(done, done + len(batch))
            for name, column in self.columns.items():
                found = value(batch, name)
                if len(found):
                    column[where] = array(column.format, found)
            for flow, a, z in runs(batch.column("flow")):
                self._rows.add(flow, done + a, done + z)
            done += len(batch)
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


def _file(length: int) -> mmap.mmap:
    with tempfile.TemporaryFile(prefix="rexmit-") as made:
        os.truncate(made.fileno(), length)
        # The mapping keeps the file once it is closed.
        return mmap.mmap(made.fileno(), length)


def nanoseconds(batch: Batch, origin_ns: int) -> array[int]:
    """The instants of the column `time` as whole ns since the origin."""
    return array("q", [time - origin_ns for time in batch.column("time")])


def places(values: Sequence[str | None], words: Sequence[str]) -> bytes:
    """Words by their places among those that there are, 0 for none."""
    place: dict[str | None, int] = {word: k for k, word in enumerate(words)}
    return bytes([place.get(value, 0) for value in values])
