"""What the captures of a folder come to: their tables, as they lie there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from rexmit.fleets.one import CAPTURES, TABLES, schema
from rexmit.fleets.plan import KIND, Plan
from rexmit.sweeps.numbered import Numbered, named
from rexmit.sweeps.parquet import DamagedError, batches, opened
from rexmit.sweeps.store import PLAN, plan_there
from rexmit.tables import Table

#: Batches that are put together, and rows of one that is large by itself.
TOGETHER, ROWS = 256, 10_000


class Store(Numbered):
    """The folder of a fleet, or its address: `plan.json`, and Parquet files by the capture's number."""

    def __init__(self, where: str | os.PathLike[str]) -> None:
        super().__init__(where, CAPTURES)

    def plan(self) -> Plan | None:
        """The plan that lies there; None if none does. Raises ValueError if it is another kind of folder."""
        content = self.place.read(PLAN)
        try:
            return None if content is None else Plan.of_json(content.decode("utf-8", "replace"))
        except ValueError as error:
            raise ValueError(f"{self.name}/{PLAN}: {error}; name another folder") from None

    def rows(self, table: str, numbers: list[int]) -> Iterator[Any]:
        """Record batches of a table, those of several small files in one: a batch of one row and its columns
        take 30 kB. Raises ValueError for a file that cannot be read.
        """
        import pyarrow as pa

        some: list[Any] = []
        for batch in self._batches(table, numbers):
            some.append(batch)
            if len(some) == TOGETHER or batch.num_rows >= ROWS:
                yield from pa.Table.from_batches(some).combine_chunks().to_batches()
                some.clear()
        if some:
            yield from pa.Table.from_batches(some).combine_chunks().to_batches()

    def _batches(self, table: str, numbers: list[int]) -> Iterator[Any]:
        import pyarrow as pa

        from rexmit.fleets.checked import check

        wanted = schema(table)
        for number in numbers:
            content = self.place.read(named(table, number))
            if content is None:  # a capture that could not be read has no flows
                continue
            try:
                with opened(pa.BufferReader(content), wanted) as whole:
                    for batch in batches(whole, wanted):
                        check(table, number, batch)
                        yield batch
            except DamagedError as error:
                raise ValueError(
                    f"{self.name}/{named(table, number)}: cannot be read ({error}); remove it and "
                    f"{named(CAPTURES, number)}, and the same command makes both again"
                ) from None


class _Stream:
    """A table of all captures, read anew each time, capture by capture."""

    def __init__(self, store: Store, table: str, numbers: list[int]) -> None:
        self._store, self._table, self._numbers = store, table, numbers

    def _batches(self) -> Iterator[Any]:
        return self._store.rows(self._table, self._numbers)

    @property
    def column_names(self) -> list[str]:
        first = next(self._batches(), None)
        return ["capture"] if first is None else list(first.schema.names)

    def __len__(self) -> int:
        return sum(int(batch.num_rows) for batch in self._batches())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow as pa

        found = self._batches()
        first = next(found, None)
        if first is None:
            return pa.table({"capture": pa.array([], pa.int64())}).__arrow_c_stream__(requested_schema)

        def all_of() -> Iterator[Any]:
            yield first
            yield from found

        return pa.RecordBatchReader.from_batches(first.schema, all_of()).__arrow_c_stream__(requested_schema)


class Fleet:
    """The captures of a folder, analysed. Made by `rexmit.fleets.fleet`, and by `rexmit.fleets.load`."""

    def __init__(self, store: Store, plan: Plan, stopped: bool = False) -> None:
        self.store, self.plan = store, plan
        #: Whether it was stopped before all captures were analysed.
        self.interrupted = stopped
        done = set(store.done())
        self._numbers = [k for k in plan.numbers if k in done]

    def table(self, name: str) -> Table:
        """Rows of all captures, behind `capture`, by the table's name: captures, flows, bursts, episodes,
        idle or causes.
        """
        if name not in (CAPTURES, *TABLES):
            raise ValueError(f"{name}: is none of {', '.join((CAPTURES, *TABLES))}")
        return Table(name, lambda: _Stream(self.store, name, self._numbers))

    def __repr__(self) -> str:
        from rexmit.screen.say import one_line
        from rexmit.screen.units import count

        done, all_of_them = len(self._numbers), len(self.plan.numbers)
        some = f", {count(all_of_them - done, 'more')} not analysed yet" if done < all_of_them else ""
        return one_line(f"<fleet of {count(done, 'capture')}{some}, {self.store.name}>")

    def addresses(self) -> dict[str, list[str]]:
        """Each table's Parquet files, as other programs call them. Unreadable captures have no flows."""
        place, found = self.store.place, {}
        for table in (CAPTURES, *TABLES):
            there = set(place.names(table))
            names = [named(table, number) for number in self._numbers]
            files = [place.address(name) for name in names if name.partition("/")[2] in there]
            if files:
                found[table] = files
        return found

    @property
    def captures(self) -> Table:
        """One row for each capture: files, span, sums of its flows, or why it could not be read."""
        return self.table(CAPTURES)

    @property
    def flows(self) -> Table:
        return self.table("flows")

    @property
    def bursts(self) -> Table:
        return self.table("bursts")

    @property
    def episodes(self) -> Table:
        return self.table("episodes")

    @property
    def idle(self) -> Table:
        return self.table("idle")

    @property
    def causes(self) -> Table:
        """Of each connection its answer, and every other cause that took time."""
        return self.table("causes")

    @property
    def failed(self) -> bool:
        """True if rexmit itself failed on a flow: its column `fault` says where."""
        return bool(self.summary["totals"]["faults"])

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What all of it comes to (docs/fleet.md)."""
        from rexmit.fleets.summary import summary

        return summary(self)

    def page(self) -> str:
        """The summary on one screen, as `rexmit analyze DIR` prints it."""
        from rexmit.fleets.page import page

        return "\n".join(page(self.summary))


def is_fleet(where: str | os.PathLike[str]) -> bool:
    """Whether what lies there are results of many captures."""
    told = plan_there(where)
    return isinstance(told, dict) and told.get("kind") == KIND


def load(where: str | os.PathLike[str]) -> Fleet:
    """What lies in a folder or at an address. Raises ValueError if there is no plan of captures."""
    store = Store(where)
    plan = store.plan()
    if plan is None:
        raise ValueError(f"{store.name}: there is no {PLAN}, so it is no folder of many captures' results")
    return Fleet(store, plan)
