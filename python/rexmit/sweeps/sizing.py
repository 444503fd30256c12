"""How large a block is, and what a plan will take, from a few of its runs.

The size of a block goes by counts (events, rows), never by a clock: the same plan has the same blocks on
every machine, so that parts which were made apart fit together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rexmit.sweeps.block import RUNS, parquet, tables_of
from rexmit.sweeps.plan import Plan

#: Runs that are tried: so many, spread over the first round, or fewer once they have had so many events.
TRIED = 16
TRIED_EVENTS = 10_000_000
#: What a block should take, and the most rows that it should hold while it is made.
BLOCK_S = 1.5
BLOCK_ROWS = 1_000_000
#: A round has at least so many blocks, where it has as many runs: the last ones end at about one time.
LEAST_BLOCKS = 32
#: Nominal costs of a run, an event, and an event that is analysed, s. They decide how large blocks are, and
#: nothing that is told.
RUN_S, EVENT_S, ANALYSED_S = 5e-4, 5e-7, 1.6e-6


@dataclass(frozen=True)
class Trial:
    """What the tried runs came to, each on the mean of them."""

    runs: int
    events: float
    rows: float
    seconds: float
    disk_bytes: float
    memory_bytes: float


def trial(plan: Plan, max_memory: int | None = None, go_on: Callable[[], bool] = lambda: True) -> Trial:
    """Makes a few of the plan's runs, and throws them away."""
    whole = plan.points * plan.runs
    tried: list[dict[str, Any]] = []
    events = 0
    # Loaded first, so that it does not count.
    import pyarrow.parquet

    assert pyarrow.parquet
    began = time.perf_counter()
    for number in sorted({k * whole // TRIED for k in range(TRIED)}):
        tried.append(tables_of(plan, range(number, number + 1), lambda done: go_on(), max_memory))
        events += tried[-1][RUNS].column("events")[0].as_py()
        if events >= TRIED_EVENTS:
            break
    seconds = time.perf_counter() - began
    every = [table for tables in tried for table in tables.values()]
    n = len(tried)
    return Trial(
        n,
        events / n,
        sum(table.num_rows for table in every) / n,
        seconds / n,
        sum(_disk(tried, name) for name in tried[0]),
        sum(table.nbytes for table in every) / n,
    )


def _disk(tried: Sequence[dict[str, Any]], name: str) -> float:
    """Bytes that a run adds to a file of one table."""
    import pyarrow as pa

    # A file of one run is mostly the names of its columns.
    first, whole = ([tables[name] for tables in tried[:n]] for n in (1, len(tried)))
    sizes = [len(parquet(pa.concat_tables(tables))) for tables in (first, whole)]
    return (sizes[1] - sizes[0]) / (len(tried) - 1) if len(tried) > 1 else sizes[0]


def sized(plan: Plan, found: Trial) -> Plan:
    """The plan with the size of its blocks."""
    cost = RUN_S + found.events * (ANALYSED_S if plan.tables else EVENT_S)
    whole = plan.points * plan.runs
    runs = min(BLOCK_S / cost, BLOCK_ROWS / max(found.rows, 1), whole / LEAST_BLOCKS)
    return plan.with_block(max(1, int(runs)))
