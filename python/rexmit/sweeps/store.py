"""What a sweep's folder holds: `plan.json`, and for each block a file in `runs/` and in each kept table's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from rexmit.sweeps.block import RUNS, Files
from rexmit.sweeps.numbered import Numbered, named
from rexmit.sweeps.places import Place
from rexmit.sweeps.plan import Plan

PLAN = "plan.json"


class Store(Numbered):
    """The files of one plan, block by block."""

    def __init__(self, where: str | os.PathLike[str] | Place) -> None:
        super().__init__(where, RUNS)

    def plan(self) -> Plan | None:
        """The plan that lies there; None if none does. Raises ValueError if it is none."""
        content = self.place.read(PLAN)
        if content is None:
            return None
        try:
            return Plan.of_json(content.decode("utf-8", "replace"))
        except ValueError as error:
            raise ValueError(f"{self.name}/{PLAN}: {error}") from None

    def begin(self, plan: Plan) -> None:
        """Puts the plan there. Raises ValueError if rows lie there without one."""
        if self.place.names(RUNS):
            raise ValueError(f"{self.name}: there are runs/ without a {PLAN}; name another folder")
        self.place.write(PLAN, plan.to_json().encode())

    def same(self, plan: Plan) -> Plan | None:
        """The plan that lies there, if it is this one; None if none lies there.

        Raises ValueError, with what differs, if it is another: nothing is overwritten.
        """
        there = self.plan()
        if there is not None and there.digest != plan.digest:
            what = ", ".join(there.differences(plan)) or "the plan"
            raise ValueError(
                f"{self.name}: holds the results of another plan ({what} differs); name another folder"
            )
        return there

    def files(self, number: int, tables: Sequence[str]) -> Files:
        """A block as `keep` takes it. Raises ValueError if a file is not there."""
        found = {table: self.place.read(named(table, number)) for table in tables}
        for table, content in found.items():
            if content is None:
                raise self._unreadable(named(table, number), FileNotFoundError())
        return {table: content for table, content in found.items() if content is not None}

    def rows(
        self, table: str, blocks: Sequence[int] | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """Record batches of one table, block by block. Raises ValueError for a file that cannot be read."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for number in self.done() if blocks is None else blocks:
            name = named(table, number)
            try:
                with self.place.open(name) as file, pq.ParquetFile(file) as whole:
                    yield from whole.iter_batches(columns=columns)
            except (pa.ArrowException, OSError) as error:
                raise self._unreadable(name, error) from None

    def schema(self, table: str) -> Any:
        """The columns of a table. Raises ValueError if no block is done."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        done = self.done()
        if not done:
            raise ValueError(f"{self.name}: no run is done yet")
        name = named(table, done[0])
        try:
            with self.place.open(name) as file:
                return pq.read_schema(file)
        except (pa.ArrowException, OSError) as error:
            raise self._unreadable(name, error) from None

    def count(self, table: str) -> int:
        """How many rows a table has."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = 0
        for number in self.done():
            name = named(table, number)
            try:
                with self.place.open(name) as file:
                    rows += pq.read_metadata(file).num_rows
            except (pa.ArrowException, OSError) as error:
                raise self._unreadable(name, error) from None
        return rows

    def address(self, table: str, number: int) -> str:
        """A block's file of a table, as other programs call it."""
        return self.place.address(named(table, number))

    def _unreadable(self, name: str, error: Exception) -> ValueError:
        if isinstance(error, FileNotFoundError):
            return ValueError(f"{self.name}/{name}: is not there, though its block is done")
        return ValueError(
            f"{self.name}/{name}: cannot be read ({' '.join(str(error).split())}); remove it, and the same "
            "command makes its runs again"
        )
