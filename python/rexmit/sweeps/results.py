"""What a sweep found: its rows, as they lie in the folder, and a summary by point."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from rexmit import extras
from rexmit.sweeps.block import RUNS
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.store import Store
from rexmit.tables import Table

if TYPE_CHECKING:
    from rexmit.figures.style import Figure
    from rexmit.sweeps.carry_out import Outcome
    from rexmit.sweeps.drawing import Drawing


class Stored:
    """A table of the store as an Arrow stream: read anew each time, block by block, so that it is never whole
    in memory.
    """

    def __init__(self, store: Store, table: str) -> None:
        self._store = store
        self._table = table

    @property
    def column_names(self) -> list[str]:
        return list(self._store.schema(self._table).names)

    def __len__(self) -> int:
        return self._store.count(self._table)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow as pa

        rows = self._store.rows(self._table)
        reader = pa.RecordBatchReader.from_batches(self._store.schema(self._table), rows)
        return reader.__arrow_c_stream__(requested_schema)


class Sweep:
    """A sweep's results. Made by `rexmit.sweep`, and by `rexmit.sweeps.load` of its folder."""

    def __init__(self, store: Store, plan: Plan, outcome: Outcome | None = None) -> None:
        self.store = store
        self.plan = plan
        #: What the call that made this did; None of a folder that was loaded.
        self.outcome = outcome

    @property
    def where(self) -> str:
        """The folder, or address."""
        return self.store.name

    @property
    def interrupted(self) -> bool:
        """Whether it was stopped before all was done."""
        return self.outcome is not None and self.outcome.stopped

    def table(self, name: str) -> Table:
        """A table that was kept, by its name: rows of all runs that are done, behind `run`, `point`,
        `replication`, the varied values and `seed`. Raises ValueError for one that was not.
        """
        if name != RUNS and name not in self.plan.tables:
            kept = ", ".join([RUNS, *self.plan.tables])
            raise ValueError(f"table {name} was not kept ({kept}): tables={name!r} in the plan keeps it")
        return Table(name, lambda: Stored(self.store, name))

    def addresses(self) -> dict[str, list[str]]:
        """Each table's Parquet files, as other programs call them."""
        done = self.store.done()
        return {name: [self.store.address(name, k) for k in done] for name in [RUNS, *self.plan.tables]}

    @property
    def runs(self) -> Table:
        """One row for each run and flow: point, varied values, seed, how it ended, what was counted."""
        return self.table(RUNS)

    @cached_property
    def summary(self) -> Table:
        """One row for each point, flow and measure: mean with its intervals, quantiles (docs/sweep.md)."""
        from rexmit.sweeps import summaries

        return Table("summary", lambda: summaries.table(self.plan, self.store))

    @cached_property
    def differences(self) -> Table:
        """One row for each point, flow and measure against the first value of what is paired: the mean of the
        paired differences with its interval, p and Holm's (docs/sweep.md). Empty if nothing is paired.
        """
        from rexmit.sweeps import differences

        return Table("differences", lambda: differences.table(self.plan, self.store))

    def curves(
        self,
        measure: str = "goodput",
        along: str | None = None,
        *,
        flow: str | None = None,
        where: Mapping[str, str] | None = None,
    ) -> Figure:
        """A measure's mean along a key, with the 95% interval as a band, a line for each combination of the
        other keys. where: keys held at one value.
        """
        return self._drawing(measure, flow, where).curves(along)

    def heat_map(
        self,
        measure: str = "goodput",
        across: str | None = None,
        up: str | None = None,
        *,
        flow: str | None = None,
        where: Mapping[str, str] | None = None,
    ) -> Figure:
        """A measure's mean at each pair of two keys' values."""
        return self._drawing(measure, flow, where).heat_map(across, up)

    def distributions(
        self, measure: str = "goodput", *, flow: str | None = None, where: Mapping[str, str] | None = None
    ) -> Figure:
        """The share of runs at or below each value, a line for each point."""
        return self._drawing(measure, flow, where).distributions()

    def paired(
        self, measure: str = "goodput", *, flow: str | None = None, where: Mapping[str, str] | None = None
    ) -> Figure:
        """The paired differences with their 95% intervals."""
        return self._drawing(measure, flow, where).differences()

    def _drawing(self, measure: str, flow: str | None, where: Mapping[str, str] | None) -> Drawing:
        from rexmit.sweeps import summaries
        from rexmit.sweeps.drawing import Drawing

        return Drawing(self.plan, summaries.read(self.store), measure, flow, where)

    def figures(self, form: str = "png") -> list[str]:
        """Draws what the plan allows into `figures/` of the results: png, svg or pdf. Returns the names."""
        from rexmit.files.passing import folder
        from rexmit.sweeps import drawing, summaries

        names = []
        for name, drawn in drawing.every(self.plan, summaries.read(self.store)):
            with folder() as scratch:
                content = drawn.save(os.path.join(scratch, f"x.{form}")).read_bytes()
            safe = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
            names.append(f"figures/{safe}.{form}")
            self.store.place.write(names[-1], content)
        return names

    def __repr__(self) -> str:
        from rexmit.screen.units import count

        return f"<sweep of {self.plan.name}: {count(self.plan.points, 'point')}, {self.where}>"


def load(where: str | os.PathLike[str]) -> Sweep:
    """The results in a folder or at an address, finished or not. Raises ValueError if there is no plan."""
    extras.need("sweep", "reading a sweep", "numpy", "pyarrow", "scipy")
    store = Store(where)
    plan = store.plan()
    if plan is None:
        raise ValueError(f"{store.name}: there is no plan.json, so it is no folder of rexmit sweep")
    return Sweep(store, plan)


def parts(names: Sequence[str | os.PathLike[str]]) -> list[Sweep]:
    """Several folders of one plan. Raises ValueError, with what differs, if they are of several."""
    found = [load(name) for name in names]
    for other in found[1:]:
        if other.plan.digest != found[0].plan.digest:
            what = ", ".join(found[0].plan.differences(other.plan)) or "the plan"
            raise ValueError(f"{other.where}: is of another plan than {found[0].where}: {what} differs")
    return found
