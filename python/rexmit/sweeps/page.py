"""A plan and a sweep's results for a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rexmit.screen import units
from rexmit.screen.say import one_line
from rexmit.screen.text_table import indented
from rexmit.screen.units import count
from rexmit.sweeps import differences, summaries
from rexmit.sweeps.carry_out import Outcome
from rexmit.sweeps.measures import EVERY, MEASURES, Measure
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.sizing import Trial
from rexmit.sweeps.store import Store

#: Values of an axis, and points, that a page names.
NAMED_VALUES = 6
NAMED_POINTS = 40
_FORMS: dict[str, Callable[[float], str]] = {
    "rate": units.rate,
    "seconds": units.seconds,
    "number": lambda value: units.three(value) if value else "0",
}


def plan_page(plan: Plan) -> list[str]:
    """What will be run."""
    runs = count(plan.points * plan.runs, "run")
    each = count(plan.runs, "replication")
    said = f"{one_line(plan.name)}: {count(plan.points, 'point')} × {each} = {runs}"
    if plan.until:
        said += f", and as many again until {' and '.join(plan.until)}, {plan.most_runs:,} at most"
    rows = []
    for axis in plan.axes:
        for k, key in enumerate(axis.keys):
            values = [row[k] for row in axis.values]
            note = "paired" if key in plan.pair else ""
            rows.append((one_line(key), _listed(values), note))
    return [said, *indented(rows, left=(0, 1, 2))] if rows else [said]


def _listed(values: list[str]) -> str:
    if len(values) <= NAMED_VALUES:
        return one_line(", ".join(values))
    head = ", ".join(values[: NAMED_VALUES - 2])
    return f"{one_line(f'{head}, … {values[-1]}')} ({len(values):,} values)"


def cost(plan: Plan, found: Trial) -> dict[str, Any]:
    """A plan and what it takes, for programs (docs/sweep.md)."""
    return _named(plan) | {
        "runs": plan.points * plan.runs,
        "most_runs": plan.most_runs,
        "blocks": plan.blocks,
        "block_runs": plan.block,
        "tried_runs": found.runs,
        "run_s": found.seconds,
        "run_disk_bytes": found.disk_bytes,
    }


def cost_line(plan: Plan, found: Trial, threads: int, left: int) -> str:
    """What it will take, from the runs that were tried. left: runs that are not there yet."""
    took = units.seconds(found.seconds * left / threads)
    disk = units.size(found.disk_bytes * left)
    # A block is rows, then Arrow columns, then a file of each table; two blocks a thread at the most.
    memory = units.size(_BASE_BYTES + 6 * threads * plan.block * found.memory_bytes)
    tried = f"{units.seconds(found.seconds)} a run, from {count(found.runs, 'run')} tried"
    blocks = f"{count(plan.blocks, 'block')} of {count(plan.block, 'run')}"
    return (
        f"about {took} on {count(threads, 'thread')} ({tried}), {disk} of disk, {memory} of memory; {blocks}"
    )


#: Python with Arrow and scipy.
_BASE_BYTES = 150e6


def page(plan: Plan, store: Store, outcome: Outcome | None, where: str | None) -> list[str]:
    """What came out: a line for each point and flow."""
    values = summaries.read(store)
    rows = summaries.rows(plan, values)
    lines = _merged(plan, store) if outcome is None else _state(plan, outcome, where)
    by_point: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_point.setdefault((row["flow"], row["point"]), {})[row["measure"]] = row
    for flow in dict.fromkeys(flow for flow, _ in by_point):
        points = [(point, told) for (of, point), told in by_point.items() if of == flow]
        lines += ["", *_flow(plan, flow, points[:NAMED_POINTS])]
        if len(points) > NAMED_POINTS:
            lines.append(f"  and {len(points) - NAMED_POINTS:,} more points: --json has all")
    return lines + _differences(plan, differences.rows(plan, values))


def _differences(plan: Plan, rows: list[dict[str, Any]]) -> list[str]:
    """What differs for sure, or not, in the first measure; the others are in `--json`."""
    (measure, *_) = EVERY
    told = [row for row in rows if row["measure"] == measure.column]
    if not told:
        return []
    table = [
        [*map(one_line, plan.keys), "flow", "against", "pairs", measure.words, "95% interval", "p (Holm)"]
    ]
    for row in told[:NAMED_POINTS]:
        low, high = row["t_low"], row["t_high"]
        span = "" if low is None or high is None else f"{_signed(measure, low)} to {_signed(measure, high)}"
        cells = [one_line(str(row[plan.columns[key][0]])) for key in plan.keys]
        cells += [one_line(row["flow"]), one_line(row["against"]), f"{row['n']:,}"]
        table.append([*cells, _signed(measure, row["difference"]), span, f"{row['p_holm']:.2g}"])
    left = range(len(plan.keys) + 2)
    return ["", "paired differences", *indented(table, left=left)]


def _signed(measure: Measure, value: float) -> str:
    return ("+" if value > 0 else "−" if value < 0 else "") + _FORMS[measure.form](abs(value))


def _merged(plan: Plan, store: Store) -> list[str]:
    """Of parts put together: the plan, and whether some are missing."""
    done = sum(len(plan.of_block(number)) for number in store.done())
    whole = plan.points * plan.runs
    if done >= whole:
        return plan_page(plan)
    return [*plan_page(plan), f"NOT ALL PARTS: {done:,} of {count(whole, 'run')} are done"]


def _state(plan: Plan, outcome: Outcome, where: str | None) -> list[str]:
    said = f"{count(outcome.runs, 'run')} done"
    if outcome.stopped:
        said = f"stopped: {outcome.runs:,} of {count(outcome.of, 'run')} are done"
    if where is not None:
        said += f" and kept in {one_line(where)}"
        if outcome.stopped:
            said += "; the same command goes on"
    lines = [said]
    if outcome.wide and not outcome.stopped:
        lines.append(
            f"NOT NARROW ENOUGH after {plan.most:,} replications, which --most allows: "
            f"{count(outcome.wide, 'mean')} of {' and '.join(plan.until)}"
        )
    return lines


def _flow(plan: Plan, flow: str, points: list[tuple[int, dict[str, dict[str, Any]]]]) -> list[str]:
    shown = [m for m in EVERY if any(told[m.column]["mean"] is not None for _, told in points)]
    # Of transfers that had not ended nobody knows how long they take: the mean is of the others.
    ended = [(_runs(told), told["duration_s"]["n"]) for _, told in points]
    not_ended = MEASURES["duration"] in shown and any(n < runs for runs, n in ended)
    head = [*map(one_line, plan.keys), "runs", *(["not ended"] if not_ended else [])]
    keys = len(head) - 1
    for measure in shown:
        head += [measure.words, "95% interval" if measure is shown[0] else ""]
    table = [head]
    for (runs, n), (_, told) in zip(ended, points, strict=True):
        first = told[EVERY[0].column]
        row = [one_line(str(first[plan.columns[key][0]])) for key in plan.keys]
        row += [f"{runs:,}", *([f"{runs - n:,}"] if not_ended else [])]
        for measure in shown:
            row += [_cell(measure, told[measure.column]["mean"]), _interval(measure, told[measure.column])]
        table.append(row)
    # Intervals of the first measure only: the page is for a screen.
    kept = [k for k in range(len(head)) if k <= keys + 2 or (k - keys) % 2 == 1]
    left = range(len(plan.keys))
    return [one_line(flow), *indented([[row[k] for k in kept] for row in table], left=left)]


def _runs(told: dict[str, dict[str, Any]]) -> int:
    return max(int(one["n"]) for one in told.values())


def _cell(measure: Measure, value: float | None) -> str:
    return "" if value is None else _FORMS[measure.form](value)


def _interval(measure: Measure, row: dict[str, Any]) -> str:
    low, high = row["t_low"], row["t_high"]
    if low is None or high is None:
        return ""
    # None of the measures can be below 0, whatever Student's t says of a few runs.
    return f"{_cell(measure, max(0.0, low))} to {_cell(measure, high)}"


def answer(plan: Plan, store: Store, outcome: Outcome | None) -> dict[str, Any]:
    """The same for programs (docs/sweep.md)."""
    values = summaries.read(store)
    told = _named(plan)
    if outcome is not None:
        told |= {"runs": outcome.runs, "of": outcome.of, "stopped": outcome.stopped, "too_wide": outcome.wide}
    return told | {"summary": summaries.rows(plan, values), "differences": differences.rows(plan, values)}


def _named(plan: Plan) -> dict[str, Any]:
    named: dict[str, Any] = {"sweep": plan.name, "digest": plan.digest, "rexmit": plan.rexmit}
    return named | {
        "points": plan.points,
        "keys": list(plan.keys),
        "pair": list(plan.pair),
        "seed": plan.seed,
    }
