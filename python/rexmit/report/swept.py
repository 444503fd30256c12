"""The folder that `rexmit sweep --out` wrote, as a page tells it: plan, summary by point, pairs, failures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.screen.units import count

if TYPE_CHECKING:
    from rexmit.sweeps.plan import Plan
    from rexmit.sweeps.store import Store
    from rexmit.sweeps.summaries import Values

Row = dict[str, Any]

#: Points and flows together, pairs, failed runs, and values of an axis that a page tells.
MOST_TOLD, MOST_PAIRS, MOST_FAILURES, MOST_VALUES = 4_000, 2_000, 200, 200
#: Single runs of one measure that a page has, and how many of each point and flow, at most and at least; of
#: more it has some at even distances.
MOST_RUNS, OF_A_POINT, LEAST = 40_000, 200, 9
#: Of a summary: what `docs/sweep.md` calls so.
NUMBERS = ("n", "mean", "t_low", "t_high", "q05", "q25", "q50", "q75", "q95")


@dataclass(frozen=True)
class Found:
    """What a page shows of a sweep."""

    #: `sweep` of META (explorer/FORMAT.md).
    told: Row
    #: Sentences about what it leaves out.
    notes: list[str]
    #: The scenario as TOML.
    scenario: str
    #: By its name, what makes a blob: where the single runs of a measure lie.
    blobs: dict[str, Callable[[], bytes]]


def is_sweep(folder: str | Path) -> bool:
    """Whether this is such a folder, or address; the plan of many captures is another kind. Raises ValueError
    for an address that cannot be reached.
    """
    from rexmit.sweeps.store import plan_there

    told = plan_there(folder)
    return isinstance(told, dict) and "axes" in told


def name(folder: str | Path) -> str:
    """What the sweep in it is called. Raises ValueError, with the file, for a plan that is none."""
    from rexmit.sweeps.results import load

    return load(folder).plan.name


def read(folder: str | Path) -> Found:
    """What a page shows of the sweep in it.

    Raises ValueError for a folder without a run that is done, and for a file that cannot be read.
    """
    from rexmit.sweeps import differences, summaries
    from rexmit.sweeps.measures import EVERY
    from rexmit.sweeps.results import load

    swept = load(folder)
    plan, store = swept.plan, swept.store
    values = summaries.read(store)
    done, failed, failures = _ends(store)
    if not done:
        raise ValueError(f"{folder}: no run is done yet; rexmit sweep with the same words goes on")
    told = dict(islice(sorted(values.items()), MOST_TOLD))
    rows = summaries.rows(plan, told)
    pairs = differences.rows(plan, values)
    notes = []
    if len(told) < len(values):
        notes.append(
            f"{len(told):,} of {len(values):,} means are told; rexmit sql DIR 'from summary' has every one"
        )
    if len(pairs) > MOST_PAIRS:
        notes.append(
            f"{MOST_PAIRS:,} of {len(pairs):,} paired differences are told; "
            "rexmit sql DIR 'from differences' has every one"
        )
    if failed > len(failures):
        notes.append(f"{len(failures):,} of {failed:,} failed runs are named; the table runs has every one")
    places = {point: k for k, point in enumerate(dict.fromkeys(point for point, _ in told))}
    flows = list(dict.fromkeys(flow for _, flow in told))
    numbers = [measure.column for measure in EVERY]
    return Found(
        {
            "plan": _plan(plan) | {"done": done, "failed": failed},
            "measures": [{"column": m.column, "noun": m.noun, "kind": m.kind} for m in EVERY],
            "flows": flows,
            "points": [_point(plan, point) for point in places],
            "summary": {
                "point": [places[row["point"]] for row in rows],
                "flow": [flows.index(row["flow"]) for row in rows],
                "measure": [numbers.index(row["measure"]) for row in rows],
                **{number: [row[number] for row in rows] for number in NUMBERS},
            },
            "differences": [
                {key: row[key] for key in ("flow", "against", "n", "difference", "t_low", "t_high", "p_holm")}
                | {"measure": numbers.index(row["measure"]), **_point(plan, row["point"])}
                for row in pairs[:MOST_PAIRS]
            ],
            "failures": [row | _point(plan, row["point"]) for row in failures],
        },
        notes,
        plan.text,
        {f"runs/{column}": partial(_spread, told, places, flows, column) for column in numbers},
    )


def _spread(told: Values, places: dict[int, int], flows: list[str], column: str) -> bytes:
    """Where single runs lie: values of each point and flow in order, and the share of runs up to each."""
    import numpy as np
    import pyarrow as pa

    each = min(OF_A_POINT, max(LEAST, MOST_RUNS // max(1, len(told))))
    point, flow, value, share = [], [], [], []
    for (number, name), figures in told.items():
        whole = figures[column]
        finite = np.sort(whole[np.isfinite(whole)])
        ranks = np.unique(np.linspace(0, len(finite) - 1, min(each, len(finite))).round().astype(int))
        point.append(np.full(len(ranks), places[number], np.uint32))
        flow.append(np.full(len(ranks), flows.index(name), np.uint32))
        value.append(finite[ranks].astype(np.float64))
        # A run without a value is none of those at or below.
        share.append((ranks + 1) / max(1, len(whole)))
    columns = {"point": point, "flow": flow, "value": value}
    made = {name: np.concatenate(parts) for name, parts in columns.items()}
    made["share"] = np.concatenate(share).astype(np.float32)
    return _core.report_table(pa.table(made))


def _plan(plan: Plan) -> Row:
    axes = [
        {
            "keys": list(axis.keys),
            "values": [list(row) for row in axis.values[:MOST_VALUES]],
            "count": len(axis.values),
        }
        for axis in plan.axes
    ]
    numeric = [plan.columns[key][1] for key in plan.keys]
    # A column of numbers ends in its unit: `link.air.delay_s`.
    units = [None if one is None else one.rpartition("_")[2] for one in numeric]
    return {
        "name": plan.name,
        "keys": list(plan.keys),
        "units": [
            None if one is None else {"number": "", "s": "s", "bytes": "B"}.get(one, one) for one in units
        ],
        "axes": axes,
        "pair": list(plan.pair),
        "seed": str(plan.seed),
        "points": plan.points,
        "replications": plan.runs,
        "until": list(plan.until),
        "most": plan.most,
        "planned": plan.most_runs,
        "set": [f"{key}={value}" for key, value in plan.set],
        "rexmit": plan.rexmit,
        "scenario": plan.text,
    }


def _point(plan: Plan, point: int) -> Row:
    """Its number in the plan, and what it sets, key by key: as written, and as a number."""
    written, told = plan.values(point), plan.told(point)
    numeric = [plan.columns[key][1] for key in plan.keys]
    return {
        "point": point,
        "values": [written[key] for key in plan.keys],
        "numbers": [None if one is None else told[one] for one in numeric],
    }


def _ends(store: Store) -> tuple[int, int, list[Row]]:
    """How many runs are done, how many of them failed, and the first that did."""
    import numpy as np
    import pyarrow.compute as pc

    from rexmit.sweeps.block import RUNS

    runs: list[Any] = []
    failed: dict[int, Row] = {}
    columns = ["run", "point", "replication", "seed", "failure", "flow", "connections", "failed"]
    for batch in store.rows(RUNS, columns=columns):
        runs.append(np.unique(batch.column("run").to_numpy()))
        wrong = pc.or_(
            pc.is_valid(batch.column("failure")), pc.fill_null(pc.greater(batch.column("failed"), 0), False)
        )
        for row in batch.filter(wrong).to_pylist():
            flow, of, gone = (row.pop(name) for name in ("flow", "connections", "failed"))
            row["failure"] = row["failure"] or f"{flow}: {gone:,} of {count(of, 'connection')} failed"
            failed.setdefault(row["run"], row)
    rows = [failed[run] for run in sorted(failed)[:MOST_FAILURES]]
    done = len(np.unique(np.concatenate(runs))) if runs else 0
    return done, len(failed), [row | {"seed": str(row["seed"])} for row in rows]
