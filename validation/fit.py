"""Simulated paths of all kinds, fitted: how far is each value from the truth, beside two models that know
nothing?

    .venv/bin/python validation/fit.py --seed S [--paths N] [--at sender|receiver] [--draws D] [--each]
        [--cannot-tell] [--live]

Draws N paths (validation/fit_draw.py), fits what a capture at one end shows of each, and prints each bar: how
many of those judged are within it, for rexmit fit, for a model that says the median of all paths, and for the
naive estimate (least RTT, largest rate in a second, lost copies over sent). --draws D also runs each fitted
scenario D times with the sender's stack and prints whether it gives duration and cause back. --each prints a
line for each path. --cannot-tell draws idle applications, full windows and neighbours outside of the
capture, and counts stated values that do not hold.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import rexmit as rx
from fit_draw import CANNOT_TELL, KINDS, UNFILLED, Path, draw
from rexmit.fitted.value import Value, proportion
from rexmit.running.late import missed
from rexmit.screen.text_table import aligned

#: A path is filled if so much of its rate was used, or its queue dropped packets.
FILLED = 0.5
#: A process that took fewer packets than this shows its kind in none.
SHOWN = 3
Json = dict[str, Any]


class Score:
    """Of each bar: who was within it, by model."""

    def __init__(self) -> None:
        self.held: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))

    def count(self, bar: str, **models: bool | None) -> None:
        for model, within in models.items():
            if within is not None:
                self.held[bar][model].append(within)

    def table(self) -> list[list[str]]:
        rows = [["bar", "judged", "fit", "median", "naive"]]
        for bar, models in self.held.items():
            cells = [self._share(models.get(model)) for model in ("fit", "median", "naive")]
            rows.append([bar, str(len(models["fit"])), *cells])
        return rows

    @staticmethod
    def _share(held: list[bool] | None) -> str:
        return f"{100 * sum(held) / len(held):.1f}%" if held else "-"


def near(value: float | None, truth: float, part: float, least: float = 0.0) -> bool:
    return value is not None and abs(value - truth) <= max(part * truth, least)


def told(value: Value | None) -> float | None:
    return None if value is None or value.at_least else value.value


def naive(run: Any) -> Json:
    """The least RTT, the largest rate in a second, and lost copies over sent ones."""
    flow = run.flows.largest()
    rows = flow.frame("intervals").rows()
    most = max((r["acked_bytes"] or r["new_bytes"] for r in rows), default=0) * 8 * 1500 / 1448
    row = flow.row
    rtt = row["rtt_ack_min_s"] or row["handshake_s"]
    lost = (row["lost_copies"] or row["lost_segments"] or 0) / max(row["segments"], 1)
    return {"rate": most, "rtt": rtt, "loss": lost}


def drops(run: Any) -> tuple[int, int]:
    """How many packets the queue dropped, and the channel."""
    causes = [str(row["cause"]) for row in run.drops.to_pylist()]
    queue = sum(c.startswith("queue") for c in causes)
    return queue, len(causes) - queue


def true_kind(path: Path, queue: int, channel: int) -> str | None:
    """None where too little was lost to show it."""
    if path.kind in ("random", "gilbert-elliott", "random-and-queue"):
        process = "gilbert-elliott" if path.kind == "gilbert-elliott" else "random"
        return process if channel >= SHOWN else None
    if path.kind == "policer":
        return "policer" if channel >= SHOWN else None
    return "queue" if queue else "none"


def judge(path: Path, run: Any, found: rx.Fit, score: Score, medians: Json) -> Json:
    truth, values, guess = path.truth, found.values, naive(run)
    queue, channel = drops(run)
    row = found.seen.row
    used = row["bytes"] * 8 * 1500 / 1448 / max(found.seen.seconds, 1e-9) / truth["rate"]
    filled = path.kind not in (*UNFILLED, *CANNOT_TELL) and (queue > 0 or used >= FILLED)
    rate = values["rate"]
    if filled:
        models = {"fit": told(rate), "median": medians["rate"], "naive": guess["rate"]}
        score.count(
            "rate within 5%, path filled", **{m: near(v, truth["rate"], 0.05) for m, v in models.items()}
        )
    elif rate.value is not None:
        holds = rate.value <= 1.02 * truth["rate"] if rate.at_least else near(rate.value, truth["rate"], 0.05)
        score.count(
            "rate holds as a bound, or is right, not filled",
            fit=holds,
            naive=guess["rate"] <= truth["rate"] * 1.02,
        )
    if path.kind == "neighbour":
        return _cannot_tell(path, found, score) | {"queue": queue, "channel": channel, "filled": filled}
    base = {"fit": told(values["base_rtt"]), "median": medians["rtt"], "naive": guess["rtt"]}
    score.count("base RTT within 5%", **{m: near(v, truth["rtt"], 0.05) for m, v in base.items()})
    if queue and path.kind != "policer":
        within = near(told(values["queue"]), truth["queue"], 0.2)
        score.count(
            "queue within 20%, where it dropped",
            fit=within,
            median=near(medians["queue"], truth["queue"], 0.2),
        )
    if path.kind == "policer" and channel >= SHOWN:
        score.count(
            "policer's rate within 5%", fit=near(told(values["policer_rate"]), truth["policer_rate"], 0.05)
        )
        score.count("policer's bucket within 25%", fit=near(told(values["bucket"]), truth["bucket"], 0.25))
    kind = true_kind(path, queue, channel)
    if kind is not None:
        score.count("kind of loss process", fit=found.losses.kind == kind, median=medians["kind"] == kind)
    loss = values["loss"]
    if kind == "random" and loss is not None and loss.low is not None and loss.high is not None:
        inside = found.losses.kind == "random" and loss.low <= truth["loss"] <= loss.high
        score.count("random loss inside its 90% interval", fit=inside)
        low, high = proportion(channel, found.seen.copies)
        score.count(
            "and not 1.5 times as wide as an oracle's", fit=loss.high - loss.low <= 1.5 * (high - low)
        )
        score.count(
            "random loss within 25%",
            fit=near(loss.value, truth["loss"], 0.25),
            naive=near(guess["loss"], truth["loss"], 0.25),
        )
    last = row["last_data"] or found.seen.seconds
    spans = found.interruptions.held if path.kind == "held" else found.interruptions.outages
    for start, length in truth.get("outages", []):
        if start + length < last - truth["rtt"]:
            closest = min(spans, key=lambda s: abs(s.start - start), default=None)
            met = closest is not None and abs(closest.start - start) <= 0.5
            right = met and closest is not None and near(closest.length, length, 0.1, 0.005)
            inside = (
                met and closest is not None and closest.low - 0.005 <= length <= (closest.high or 9e9) + 0.005
            )
            name = "packets held" if path.kind == "held" else "outage"
            score.count(f"{name} within max(5 ms, 10%)", fit=right)
            score.count(f"{name} inside its interval", fit=inside)
    if path.kind not in ("outages", "held"):
        score.count(
            "no outage where there was none",
            fit=not found.interruptions.outages and not found.interruptions.held,
        )
    if path.kind in UNFILLED:
        _cannot_tell(path, found, score)
    return {"kind": kind, "queue": queue, "channel": channel, "filled": filled}


def _cannot_tell(path: Path, found: rx.Fit, score: Score) -> Json:
    """Whether what is stated holds, where a capture cannot tell."""
    values, truth = found.values, path.truth
    for name, key in (("rate", "rate"), ("queue", "queue"), ("base RTT", "rtt")):
        value = values[name.lower().replace(" ", "_")]
        if value is not None and value.value is not None:
            high = value.high if value.high is not None else 9e99
            within = 0.98 * (value.low or 0) <= truth[key] <= 1.02 * high
            score.count(f"cannot tell: a stated {name} holds", fit=within)
            score.count("cannot tell: stated values hold", fit=within)
    if path.kind == "neighbour":
        score.count("cannot tell: no loss is a process's", fit=found.losses.kind in ("queue", "none"))
    return {"kind": None}


def give_back(path: Path, found: rx.Fit, draws: int, score: Score) -> None:
    """Whether the scenario has the capture's duration and cause."""
    checked = found.check(draws)
    duration = next(line for line in checked.lines if line.name == "duration")
    score.count("given back: duration (5%, where losses are random 10%)", fit=duration.given_back)
    score.count("given back: cause", fit=checked.same_cause)
    score.count("given back: duration and cause", fit=duration.given_back and checked.same_cause)


def line(number: int, path: Path, found: rx.Fit, extra: Json) -> str:
    values, truth = found.values, path.truth

    def both(name: str, key: str) -> str:
        v = values[name]
        told = "-" if v is None or v.value is None else f"{'>' if v.at_least else ''}{v.value:.4g}"
        return f"{name} {told}/{truth[key]:.4g}" if key in truth else f"{name} {told}/-"

    parts = [
        both("rate", "rate"),
        both("base_rtt", "rtt"),
        both("queue", "queue"),
        both("policer_rate", "policer_rate"),
    ]
    parts += [both("bucket", "bucket"), both("loss", "loss"), both("mean_burst", "burst")]
    gone = [
        (round(s.start, 2), round(s.length, 3))
        for s in found.interruptions.outages + found.interruptions.held
    ]
    kinds = f"{found.losses.kind}/{extra['kind']} (queue {extra['queue']}, channel {extra['channel']})"
    return f"{number} {path.kind} {truth['stack']}: {', '.join(parts)}; {kinds}; {gone[:4]}"


def carried_out(path: Path, options: argparse.Namespace) -> Any:
    """A run of the path, simulated or live. Raises RuntimeError where the live bench was late."""
    if not options.live:
        return rx.run(path.scenario, at=options.at, tables=("rtt", "intervals"))
    with tempfile.TemporaryDirectory() as folder:
        run = rx.run(path.scenario, bench="live", captures=folder, at=options.at, tables=("rtt", "intervals"))
        if run.failure or (late := missed(run.summary["bridge"])):
            raise RuntimeError(run.failure or "; ".join(late))
        return run


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--paths", type=int, default=200)
    parser.add_argument("--at", choices=("sender", "receiver"), default="sender")
    parser.add_argument("--draws", type=int, default=0)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--live", action="store_true", help="over the live bench (root), as far as it can")
    parser.add_argument("--cannot-tell", action="store_true", help="paths that a capture does not show")
    options = parser.parse_args()
    drawn = CANNOT_TELL if options.cannot_tell else KINDS
    paths = [draw(options.seed, number, drawn) for number in range(options.paths)]
    middle: Callable[[str], float] = lambda key: statistics.median(p.truth[key] for p in paths)  # noqa: E731
    kinds = [p.kind for p in paths]
    medians: Json = {key: middle(key) for key in ("rate", "rtt", "queue")}
    medians["kind"] = max(
        ("queue", "random", "policer", "none"), key=lambda k: sum(k in kind for kind in kinds)
    )
    score = Score()
    for number, path in enumerate(paths):
        try:
            run = carried_out(path, options)
        except (rx.ScenarioError, rx.LiveError, RuntimeError, OSError) as why:
            print(f"{number} {path.kind}: not run: {why}", flush=True)
            continue
        found = rx.fit(run, like=path.truth["stack"])
        extra = judge(path, run, found, score, medians)
        if options.draws:
            give_back(path, found, options.draws, score)
        if options.each:
            print(line(number, path, found, extra), flush=True)
    print(f"{options.paths} paths, seed {options.seed}, capture at the {options.at}")
    print("\n".join(aligned(score.table(), left={0})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
