"""`rexmit run SCENARIO --runs N`: many runs, and each figure with its interval."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.batch import Runs

#: What is told of each flow: key, words, as it is printed.
FIGURES: tuple[tuple[str, str, str], ...] = (
    ("goodput_bps", "goodput", "rate"),
    ("duration_s", "took", "seconds"),
    ("data_packets", "data packets", "number"),
    ("resent_packets", "resent", "number"),
    ("timeouts", "timeouts", "number"),
)
#: What is told of each direction of a link that lost anything.
SHARE = "lost_share"


def seeds(text: str) -> list[int]:
    """`1-100`, `3,7,9`, or both: the seeds of an argument."""
    chosen: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise argparse.ArgumentTypeError(f"{text!r} says no seeds; write 1-100, or 3,7,9")
        ends = int(first), int(last) if dash else int(first)
        if ends[1] < ends[0] or ends[1] >= 2**63:
            raise argparse.ArgumentTypeError(f"{part.strip()!r} is no range of seeds: the first comes first")
        chosen += range(ends[0], ends[1] + 1)
    return chosen


def chosen(o: argparse.Namespace) -> list[int] | None:
    """The seeds of the runs that are asked for; None: a single run."""
    if o.seeds is not None:
        return list(o.seeds)
    if o.runs is None:
        return None
    first = 1 if o.seed is None else int(o.seed)
    return list(range(first, first + int(o.runs)))


def check(o: argparse.Namespace) -> str | None:
    """The mend for options that do not go together with many runs."""
    if o.runs is None and o.seeds is None:
        return None
    if o.runs is not None and o.seeds is not None:
        return "--runs and --seeds both say which runs; ask for one of them"
    if o.seeds is not None and o.seed is not None:
        return "--seeds says which; leave --seed out"
    for name in ("out", "ladder"):
        if getattr(o, name) is not None:
            if o.bench == "live":
                # The same seed is another run there.
                return f"--{name} is of one run, and a live run can not be had again: leave --runs out"
            return f"--{name} is of one run; leave --runs out, or choose a run with --seed"
    return None


def run(o: argparse.Namespace) -> tuple[list[str], str | None]:
    """The lines to print, and why runs failed, if some did."""
    from rexmit import cli_run
    from rexmit.batch import runs
    from rexmit.progress import Stepping

    with Stepping(os.path.basename(o.scenario), "runs") as progress:
        done = runs(cli_run.scenario(o), chosen(o), bench=o.bench, progress=progress)
    found = summary(done)
    if o.json:
        return [json.dumps(found)], done.failure
    return page(found), done.failure


def summary(runs: Runs) -> dict[str, Any]:
    """Each figure over all runs: its mean with the 95% interval, and where 95% of single runs lie."""
    from rexmit.batch import is_unfinished

    flows = runs.summary.to_arrow().to_pylist()
    links = runs.links.to_arrow().to_pylist()
    seeds = sorted({row["seed"] for row in flows})
    ways = _groups(links, lambda row: (row["link"], row["direction"]))
    return {
        "scenario": runs.name,
        "bench": runs.bench,
        "runs": len(runs),
        "planned": runs.planned,
        "seeds": seeds,
        "failed": sum(row["end"] in ("stuck", "standstill", "failed") for row in flows[:: _flows(flows)]),
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
    from rexmit.units import count

    said = "live: " if found["bench"] == "live" else ""
    said += f"{found['scenario']}: {count(found['runs'], 'run')}"
    if found["runs"] < found["planned"]:
        said += f" of {found['planned']:,}, stopped early"
    if not found["runs"]:
        return [said + ": none was done, so there is nothing to tell"]
    said += f", seeds {found['seeds'][0]} to {found['seeds'][-1]}"
    rows = []
    for flow in found["flows"]:
        name = flow["flow"] if flow["stack"] is None else f"{flow['flow']} ({flow['stack']})"
        for key, words, kind in FIGURES:
            if flow[key]["n"]:
                rows.append((name, words, *_cells(flow[key], kind)))
                name = ""
        if flow["unfinished"]:
            of = f"{flow['unfinished']:,} of {count(found['runs'], 'run')}"
            rows.append((name, "not ended", of, "", ""))
    for link in found["links"]:
        if link[SHARE]["mean"]:
            way = f"{link['link']} {link['direction']}"
            rows.append((way, "lost", *_cells(link[SHARE], "percent")))
    head = ("", "", "mean", "95% interval of the mean", "95% of the runs")
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = [said, ""]
    for row in [head, *rows]:
        left = f"  {row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}"
        lines.append(
            "  ".join([left, *(f"{c:>{w}}" for c, w in zip(row[2:], widths[2:], strict=True))]).rstrip()
        )
    return lines


def _cells(told: dict[str, Any], kind: str) -> tuple[str, str, str]:
    from rexmit import units

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
