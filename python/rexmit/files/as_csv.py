"""Tables as CSV: a line of names, then a line for each row; nothing where there is no value."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import lru_cache
from io import TextIOWrapper
from time import gmtime, strftime
from typing import Any, BinaryIO

from rexmit.frame import Batch, Kind

_BOOLEANS = {True: "true", False: "false", None: None}


class Writer:
    """Writes batches of one table into an open file."""

    def __init__(self, file: BinaryIO, kinds: Sequence[Kind]) -> None:
        self._kinds = kinds
        self._text = TextIOWrapper(file, "utf-8", newline="")
        self._csv = csv.writer(self._text, lineterminator="\n")
        self._csv.writerow(kind.name for kind in kinds)

    def write(self, batch: Batch) -> None:
        """The rows of a batch."""
        columns = [_cells(batch.column(kind.name), kind.what) for kind in self._kinds]
        self._csv.writerows(zip(*columns, strict=True))

    def end(self) -> None:
        """No more comes; the file stays open."""
        self._text.flush()
        self._text.detach()


def _cells(values: Sequence[Any], what: str) -> Iterable[Any]:
    if what == "time":
        return (None if time is None else stamp(time) for time in values)
    if what == "bool":
        return map(_BOOLEANS.__getitem__, values)
    return values


def stamp(time_ns: int) -> str:
    """A time, ns since 1970, in UTC: `2024-01-31 12:34:56.000000001Z`."""
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return f"{_second(seconds)}.{rest:09}Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    return strftime("%Y-%m-%d %H:%M:%S", gmtime(seconds))
