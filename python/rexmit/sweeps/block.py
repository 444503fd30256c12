"""One block of runs, from the plan's text to the files of its rows: what an engine does wherever it is."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from rexmit.running.many_runs import SUMMARY, flow_rows
from rexmit.sweeps.plan import Plan

#: Hears how many runs of the block are done; whether to go on.
Watch = Callable[[int], bool]
#: Table by table, a Parquet file.
Files = dict[str, bytes]
#: The table that every block has.
RUNS = "runs"
#: Columns of `rx.runs(…).summary` that say which run it is, which a sweep says in its own way.
_WHICH = ("run", "variant", "set", "seed", "end")
COUNTED = {column: kind for column, kind in SUMMARY.items() if column not in _WHICH}


class StoppedError(Exception):
    """The block was stopped before all its runs were done."""


def run_block(
    plan_json: str, number: int, watch: Watch | None = None, max_memory: int | None = None
) -> Files:
    """The rows of a block, on the thread that calls this. The same plan and number give the same rows in any
    process on any machine.

    A run that fails is a row with its seed and `failure`. max_memory: bytes that one run may take. Raises
    StoppedError once `watch` said no, ScenarioError for a run that takes more memory.
    """
    plan = read(plan_json)
    return {
        name: parquet(table)
        for name, table in tables_of(plan, plan.of_block(number), watch, max_memory).items()
    }


@lru_cache(maxsize=4)
def read(plan_json: str) -> Plan:
    """The plan of a text, read once."""
    return Plan.of_json(plan_json)


def tables_of(
    plan: Plan, numbers: Sequence[int], watch: Watch | None = None, max_memory: int | None = None
) -> dict[str, Any]:
    """Arrow tables of these runs: those that the plan keeps, and `runs`, a row for each run and flow."""
    from rexmit import _core

    told = [plan.run(number) for number in numbers]
    points = list(dict.fromkeys(point for point, _ in told))
    variant = {point: k for k, point in enumerate(points)}
    seeds = plan.seeds(numbers)
    batch = _core.simulate_many(
        [plan.scenario(point)._variant(None) for point in points],
        [(variant[point], seed) for (point, _), seed in zip(told, seeds, strict=True)],
        at=plan.at,  # type: ignore[arg-type]
        idle=plan.idle,
        interval=plan.interval,
        tables=list(plan.tables),  # type: ignore[arg-type]
        max_memory=max_memory,
        progress=None if watch is None else lambda done, total, packets: watch(done),
    )
    counted = [json.loads(text) for text in batch.runs if text is not None]
    if len(counted) < len(numbers):
        raise StoppedError
    lost = batch.warnings()
    if lost:
        raise OSError(lost[0])
    kept = {name: _numbered(plan, numbers, batch.table(name)) for name in plan.tables}  # type: ignore[arg-type]
    return kept | {RUNS: _runs(plan, numbers, seeds, counted)}


def runs_schema() -> Any:
    """The columns of `runs` that every plan has."""
    import pyarrow as pa

    which = {"run": "int64", "point": "int64", "replication": "int64", "seed": "uint64"}
    kinds = which | {"end": "string", "failure": "string"} | COUNTED
    return pa.schema([(name, getattr(pa, kind)()) for name, kind in kinds.items()])


def _runs(plan: Plan, numbers: Sequence[int], seeds: Sequence[int], counted: Sequence[Any]) -> Any:
    import pyarrow as pa

    owners, rows = [], []
    for k, one in enumerate(counted):
        for row in flow_rows(one) or [{"events": one["events"], "run_s": one["time_s"]}]:
            owners.append(k)
            rows.append(row)
    schema = pa.schema([(column, getattr(pa, kind)()) for column, kind in COUNTED.items()])
    of_flows = pa.Table.from_pylist(rows, schema=schema)
    of_runs = {
        "seed": pa.array(seeds, pa.uint64()),
        "end": pa.array([one["end"] for one in counted], pa.string()),
        "failure": pa.array([one["failure"] for one in counted], pa.string()),
    }
    which = pa.array(owners, pa.int64())
    columns = _which(plan, numbers, which) | {name: one.take(which) for name, one in of_runs.items()}
    for name in COUNTED:
        columns[name] = of_flows.column(name)
    return pa.table(columns)


def _numbered(plan: Plan, numbers: Sequence[int], table: Any) -> Any:
    """The rows of one table with the run's place in the plan instead of that in the batch."""
    import pyarrow as pa

    rows = pa.table(table)
    columns = _which(plan, numbers, rows.column("run").combine_chunks())
    columns["seed"] = rows.column("seed")
    for name in rows.column_names:
        if name not in ("run", "variant", "seed"):
            columns[name] = rows.column(name)
    return pa.table(columns)


def _which(plan: Plan, numbers: Sequence[int], owners: Any) -> dict[str, Any]:
    """The columns that say which run each row is of: owners are places in `numbers`."""
    import pyarrow as pa

    told = [plan.run(number) for number in numbers]
    of_run = {
        "run": pa.array(numbers, pa.int64()),
        "point": pa.array([point for point, _ in told], pa.int64()),
        "replication": pa.array([replication for _, replication in told], pa.int64()),
    }
    values = [plan.told(point) for point, _ in told]
    for name in (name for pair in plan.columns.values() for name in pair if name):
        of_run[name] = pa.array([row[name] for row in values])
    return {name: one.take(owners) for name, one in of_run.items()}


def parquet(table: Any) -> bytes:
    """A table as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Numbers seldom repeat: a dictionary of each such column doubles the time, and takes more room.
    texts = [field.name for field in table.schema if pa.types.is_string(field.type)]
    into = io.BytesIO()
    pq.write_table(table, into, compression="zstd", use_dictionary=texts)
    return into.getvalue()
