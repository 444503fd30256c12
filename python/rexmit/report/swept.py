"""The folder that `rexmit sweep --out` wrote, as a page tells it: plan, summary by point, pairs, failures."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.units import count

if TYPE_CHECKING:
    from rexmit.sweeps.plan import Plan
    from rexmit.sweeps.store import Store

Row = dict[str, Any]

#: Points and flows together, pairs, failed runs, and values of an axis that a page tells.
MOST_TOLD, MOST_PAIRS, MOST_FAILURES, MOST_VALUES = 4_000, 2_000, 200, 200
#: Of a summary: what `docs/sweep.md` calls so.
NUMBERS = ("n", "mean", "t_low", "t_high", "q05", "q25", "q50", "q75", "q95")


def is_sweep(folder: Path) -> bool:
    """Whether this is such a folder; the plan of many captures is another kind."""
    try:
        told = json.loads((folder / "plan.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(told, dict) and "axes" in told


def name(folder: Path) -> str:
    """What the sweep in it is called. Raises ValueError, with the file, for a plan that is none."""
    from rexmit.sweeps.results import load

    return load(folder).plan.name


def read(folder: Path) -> tuple[Row, list[str], str]:
    """What a page shows, sentences about what it leaves out, and the scenario as TOML.

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
    return (
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
    )


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
