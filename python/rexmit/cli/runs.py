"""`rexmit run SCENARIO --runs N`: many runs, and each figure with its interval."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rexmit.cli.values import MOST_RUNS
from rexmit.screen.say import as_json, one_line
from rexmit.screen.text_table import indented

if TYPE_CHECKING:
    from rexmit.running.many_runs import Runs

#: What is told of each flow: key, words, as it is printed.
FIGURES: tuple[tuple[str, str, str], ...] = (
    ("goodput_bps", "goodput", "rate"),
    ("duration_s", "took", "seconds"),
    ("data_packets", "data packets", "number"),
    ("resent_packets", "resent", "number"),
    ("timeouts", "timeouts", "number"),
)
#: How a run ends that could not go on.
FAILED = ("stuck", "standstill", "broken", "failed")
#: What is told of each direction of a link that lost anything.
SHARE = "lost_share"


def chosen(o: argparse.Namespace) -> list[int] | None:
    """The seeds of the runs that are asked for; None: a single run."""
    if o.seeds is not None:
        return list(o.seeds)
    if o.runs is None:
        return None
    first = 1 if o.seed is None else int(o.seed)
    return list(range(first, first + int(o.runs)))


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together with many runs."""
    if o.runs is None and o.seeds is None:
        return None
    if o.runs is not None and o.seeds is not None:
        return "--runs and --seeds both say which runs; ask for one of them"
    if o.seeds is not None and o.seed is not None:
        return "--seeds says which; leave --seed out"
    if o.runs is not None and o.runs > MOST_RUNS:
        return f"--runs {o.runs}: {MOST_RUNS:,} at most"
    for name in ("out", "ladder"):
        if getattr(o, name) is not None:
            if o.bench == "live":
                # The same seed is another run there.
                return f"--{name} is of one run, and a live run cannot be had again: leave --runs out"
            many = "; rexmit sweep --out keeps many" if name == "out" else ""
            return f"--{name} is of one run; leave --runs out, or choose a run with --seed{many}"
    return None


def made(o: argparse.Namespace) -> tuple[list[str], str | None]:
    """The lines to print, and why runs failed, if some did."""
    from rexmit.cli import run as single
    from rexmit.running.many_runs import runs
    from rexmit.screen.progress import Stepping

    with Stepping(os.path.basename(o.scenario), "runs") as progress:
        done = runs(single.scenario(o), chosen(o), bench=o.bench, progress=progress, max_memory=o.max_memory)
    from rexmit.running.late import failure_of

    found = summary(done, accept_late=o.accept_late)
    left_out = sum(not late["accepted"] for late in found["late"])
    failure = done.failure or (failure_of(left_out, len(done)) if left_out else None)
    if o.json:
        return [as_json(found)], failure
    return page(found), failure


def summary(runs: Runs, accept_late: bool = False) -> dict[str, Any]:
    """Each figure over all runs: its mean with the 95% interval, and where 95% of single runs lie.

    Live runs that were not in time are told, and left out of every figure unless `accept_late`.
    """
    from rexmit.running.many_runs import is_unfinished

    late = runs.late
    out = set() if accept_late else set(late)
    # Not as tables, which would load Arrow: of stopped runs somebody waits for the answer.
    every = runs._flow_rows()
    seed_of = {row["run"]: row["seed"] for row in every}
    flows = [row for row in every if row["run"] not in out]
    links = [row for row in runs._link_rows() if row["run"] not in out]
    seeds = sorted(set(seed_of.values()))
    ways = _groups(links, lambda row: (row["link"], row["direction"]))
    return {
        "scenario": runs.name,
        "bench": runs.bench,
        "runs": len(runs),
        "planned": runs.planned,
        "seeds": seeds,
        "failed": sum(row["end"] in FAILED for row in every[:: _flows(every)]),
        "late": [
            {"run": run, "seed": seed_of[run], "missed": bars, "accepted": accept_late}
            for run, bars in late.items()
            if run in seed_of
        ],
        "flows": [
            {"flow": name, "stack": rows[0]["stack"], "unfinished": sum(map(is_unfinished, rows))}
            | {key: _told(rows, key) for key, _, _ in FIGURES}
            for name, rows in _groups(flows, lambda row: row["flow"]).items()
        ],
        "links": [
            {"link": link, "direction": direction} | {SHARE: _told([_share(row) for row in rows], SHARE)}
            for (link, direction), rows in ways.items()
        ],
    }


def _flows(rows: list[dict[str, Any]]) -> int:
    """Flows of each run."""
    return max(1, sum(row["run"] == rows[0]["run"] for row in rows) if rows else 1)


def _share(row: dict[str, Any]) -> dict[str, Any]:
    return {SHARE: row["lost"] / row["offered"] if row["offered"] else None}


def _groups(rows: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any]) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _told(rows: Iterable[dict[str, Any]], key: str) -> dict[str, Any]:
    from rexmit import stats

    values = [math.nan if row[key] is None else float(row[key]) for row in rows]
    mean = stats.mean(values)
    # None of the figures can be below 0, whatever Student's t says of a few runs.
    low = _number(mean.low)
    return {
        "mean": _number(mean.value),
        "interval": [None if low is None else max(0.0, low), _number(mean.high)],
        "central": [_number(x) for x in stats.central(values)],
        "n": mean.n,
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def page(found: dict[str, Any]) -> list[str]:
    """The answer for a person."""
    from rexmit.screen.units import count

    said = "live: " if found["bench"] == "live" else ""
    said += f"{one_line(found['scenario'])}: {count(found['runs'], 'run')}"
    if found["runs"] < found["planned"]:
        said += f" of {found['planned']:,}, stopped early"
    if not found["runs"]:
        return [said + ": none was done, so there is nothing to tell"]
    said += f", seeds {found['seeds'][0]} to {found['seeds'][-1]}"
    lines = [said, *(_late(late) for late in found["late"])]
    in_time = found["runs"] - sum(not late["accepted"] for late in found["late"])
    if not in_time:
        return [*lines, "no run was in time, so there is no figure to tell"]
    rows = []
    for flow in found["flows"]:
        name = flow["flow"] if flow["stack"] is None else f"{flow['flow']} ({flow['stack']})"
        for key, words, kind in FIGURES:
            if flow[key]["n"]:
                rows.append((name, words, *_cells(flow[key], kind)))
                name = ""
        if flow["unfinished"]:
            of = f"{flow['unfinished']:,} of {count(in_time, 'run')}"
            rows.append((name, "not ended", of, "", ""))
    for link in found["links"]:
        if link[SHARE]["mean"]:
            way = f"{link['link']} {link['direction']}"
            rows.append((way, "lost", *_cells(link[SHARE], "percent")))
    head = ("", "", "mean", "95% interval of the mean", "95% of the runs")
    return [*lines, "", *indented([head, *rows], left=(0, 1))]


def _late(late: dict[str, Any]) -> str:
    fate = "taken in all the same, as --accept-late asks" if late["accepted"] else "left out of the figures"
    return f"  NOT IN TIME: seed {late['seed']}: {'; '.join(late['missed'])}; {fate}"


def _cells(told: dict[str, Any], kind: str) -> tuple[str, str, str]:
    from rexmit.screen import units

    forms: dict[str, Callable[[float], str]] = {
        "rate": units.rate,
        "seconds": units.seconds,
        "percent": units.percent,
        "number": lambda value: units.three(value) if value else "0",
    }
    form = forms[kind]

    def span(ends: list[float | None]) -> str:
        low, high = ends
        return "" if low is None or high is None else f"{form(low)} to {form(high)}"

    return form(told["mean"]), span(told["interval"]), span(told["central"])
