"""What a sweep's folder holds: `plan.json`, and for each block a file in `runs/` and in each kept table's."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rexmit.files.address import is_remote
from rexmit.sweeps.block import RUNS, Files, runs_schema
from rexmit.sweeps.numbered import Numbered, named
from rexmit.sweeps.of_block import OfBlock
from rexmit.sweeps.parquet import DamagedError, batches, opened
from rexmit.sweeps.places import Place, place
from rexmit.sweeps.plan import Plan

PLAN = "plan.json"


def plan_there(where: str | os.PathLike[str]) -> Any:
    """The value in the `plan.json` of a folder or an address; None where there is none, or no JSON in it.

    Raises ValueError for one that cannot be read, as an address that cannot be reached.
    """
    if not is_remote(os.fspath(where)) and not os.path.isdir(where):
        return None
    content = place(where).read(PLAN)
    try:
        return None if content is None else json.loads(content)
    except (ValueError, RecursionError):
        return None


class Store(Numbered):
    """The files of one plan, block by block."""

    def __init__(self, where: str | os.PathLike[str] | Place) -> None:
        super().__init__(where, RUNS)
        #: The plan, once it was read or written; blocks and rows are held against it.
        self._plan: Plan | None = None

    def plan(self) -> Plan | None:
        """The plan that lies there; None if none does. Raises ValueError if it is none."""
        content = self.place.read(PLAN)
        if content is None:
            return None
        try:
            self._plan = Plan.of_json(content.decode("utf-8", "replace"))
        except ValueError as error:
            raise ValueError(f"{self.name}/{PLAN}: {error}") from None
        return self._plan

    def begin(self, plan: Plan) -> None:
        """Puts the plan there. Raises ValueError if rows lie there without one."""
        if self.place.names(RUNS):
            raise ValueError(f"{self.name}: there are runs/ without a {PLAN}; name another folder")
        self.place.write(PLAN, plan.to_json().encode())
        self._plan = plan

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
                raise self._missing(named(table, number))
        return {table: content for table, content in found.items() if content is not None}

    def rows(
        self, table: str, blocks: Sequence[int] | None = None, columns: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """Record batches of one table, block by block. Raises ValueError for a file that cannot be read, and
        for one whose rows are not those of its block.
        """
        import pyarrow as pa

        blocks = self.done() if blocks is None else blocks
        if not blocks:
            return
        wanted = self.schema(table)
        names = wanted.names if columns is None else list(columns)
        for number in blocks:
            with self._file(table, number, wanted) as whole:
                held = OfBlock(self._plan, number) if table == RUNS and self._plan else None
                read = dict.fromkeys([*names, *(OfBlock.COLUMNS if held else ())])
                for batch in batches(whole, pa.schema([wanted.field(name) for name in read])):
                    if held:
                        held.check(batch)
                    yield batch.select(names)
                if held:
                    held.check_end()

    def check(self, number: int) -> None:
        """Raises ValueError if a file of a block cannot be read, or holds other rows than the block's."""
        for table in [RUNS, *(self._plan.tables if self._plan else ())]:
            for _ in self.rows(table, [number], ()):
                pass

    def schema(self, table: str) -> Any:
        """The columns of a table. Raises ValueError if no block is done."""
        done = self.done()
        if not done:
            raise ValueError(f"{self.name}: no run is done yet")
        with self._file(table, done[0]) as file:
            return file.schema_arrow

    def count(self, table: str) -> int:
        """How many rows a table has."""
        rows = 0
        for number in self.done():
            with self._file(table, number) as file:
                rows += file.metadata.num_rows
        return rows

    @contextmanager
    def _file(self, table: str, number: int, wanted: Any = ()) -> Iterator[Any]:
        """A block's file of a table. wanted: fields that it must have, and `runs` those of every plan."""
        name = named(table, number)
        fields = [*(runs_schema() if table == RUNS else ()), *wanted]
        try:
            with (
                self.place.open(name) as file,
                opened(file, fields) as whole,
            ):
                yield whole
        except FileNotFoundError:
            raise self._missing(name) from None
        except DamagedError as error:
            raise ValueError(
                f"{self.name}/{name}: cannot be read ({error}); remove it, and the same command makes its "
                "runs again"
            ) from None

    def done(self) -> list[int]:
        """The blocks that are done, in order; files of blocks that the plan has not do not count."""
        there = super().done()
        return there if self._plan is None else [number for number in there if number < self._plan.blocks]

    def address(self, table: str, number: int) -> str:
        """A block's file of a table, as other programs call it. Raises ValueError for what is no file."""
        try:
            return self.place.address(named(table, number))
        except FileNotFoundError:
            raise self._missing(named(table, number)) from None

    def _missing(self, name: str) -> ValueError:
        return ValueError(f"{self.name}/{name}: is not there, though its block is done")
