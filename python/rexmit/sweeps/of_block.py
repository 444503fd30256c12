"""Whether rows of `runs` are those of their block: a file may be damaged, or a stranger's."""

from __future__ import annotations

from typing import Any

from rexmit.sweeps.parquet import DamagedError
from rexmit.sweeps.plan import Plan


class OfBlock:
    """The rows of one block, batch by batch."""

    #: Columns that each batch must have.
    COLUMNS = ("run", "point", "replication", "flow")

    def __init__(self, plan: Plan, number: int) -> None:
        self._plan = plan
        self._runs = plan.of_block(number)
        self._seen: set[int] = set()
        self._flows: set[str | None] = set()
        self._rows = 0

    def check(self, batch: Any) -> None:
        """Raises DamagedError for a batch with rows of other runs, or with more rows than runs and flows."""
        import numpy as np
        import pyarrow.compute as pc

        which = [batch.column(name) for name in self.COLUMNS[:3]]
        if any(column.null_count for column in which):
            raise DamagedError("a row does not say which run it is of")
        run, point, replication = (column.to_numpy() for column in which)
        strange = (run < self._runs.start) | (run >= self._runs.stop)
        if strange.any():
            raise DamagedError(f"run {run[strange][0]} is not of this block")
        wrong = (point != run % self._plan.points) | (replication != run // self._plan.points + 1)
        if wrong.any():
            raise DamagedError(f"run {run[wrong][0]} is of another point or replication in the plan")
        self._seen.update(np.unique(run).tolist())
        self._flows.update(pc.unique(batch.column("flow")).to_pylist())
        self._rows += batch.num_rows
        if self._rows > len(self._runs) * len(self._flows):
            raise DamagedError(
                f"more than {len(self._runs) * len(self._flows):,} rows, one for each run and flow"
            )

    def check_end(self) -> None:
        """Raises DamagedError if runs of the block have no row."""
        if len(self._seen) < len(self._runs):
            raise DamagedError(f"only {len(self._seen):,} of {len(self._runs):,} runs have rows")
