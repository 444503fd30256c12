"""Rows that engines make, as Parquet files: a folder for each table, in it a file for each number."""

from __future__ import annotations

import os
import re

from rexmit.sweeps.block import Files
from rexmit.sweeps.places import Place, place

#: As `named` names files: six digits, or more without a leading zero.
_NAMED = re.compile(r"([0-9]{6}|[1-9][0-9]{6,11})\.parquet")


class Numbered:
    """The files of a place. A number is done when its file of table `last`, written last, is there."""

    def __init__(self, where: str | os.PathLike[str] | Place, last: str) -> None:
        self.place: Place = place(where) if isinstance(where, str | os.PathLike) else where
        self._last = last

    @property
    def name(self) -> str:
        """As the user named it."""
        return self.place.name

    def done(self) -> list[int]:
        """The numbers that are done, in order."""
        return sorted(int(match[1]) for match in map(_NAMED.fullmatch, self.place.names(self._last)) if match)

    def keep(self, number: int, files: Files) -> None:
        """Puts a number's files there. Raises NotWrittenError."""
        for table in sorted(files, key=lambda table: table == self._last):
            self.place.write(named(table, number), files[table])


def named(table: str, number: int) -> str:
    """The name of a file within its place."""
    return f"{table}/{number:06d}.parquet"
