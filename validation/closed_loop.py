"""The same scenario simulated and real: outages of fresh transfers, this kernel beside the simulator (root).

    .venv/bin/python validation/closed_loop.py [--runs 60] [--seed 1] [--only NAME] [--keep DIR] [--json FILE]

Scenarios are drawn from the seed: reno, cubic and bbr over 4 to 40 Mbps and 10 to 120 ms, shallow and deep
queues, outages of 50 ms to 5 s one way or both, single losses by number (the same packets on both benches),
reordering. Each runs live twice and is simulated once (linux-6-*). Compared are the outages' episodes and the
transfers: simulator against live, and live against live, which is as much as there is to agree on. A live run
that missed the bars of docs/live.md is made again, counted and named. --keep DIR keeps what the live runs
were, and reads what is there already in place of running it: only the simulator runs again. Exit code 1: a
bar is missed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

import rexmit as rx
from kernel import Case, drops_of, side
from kernel_table import Event, Side, grid
from rexmit.running.late import missed

#: At most one live run in so many may be made again.
REPLACED = 3
#: So many times a run is made until it is in time; then another scenario is drawn.
TRIES = 3
#: Packets before which nothing is lost by number: slow start is the queue's.
FIRST_LOSS = 400


@dataclass
class Drawn(Case):
    """A fresh scenario."""

    way: str = "both"
    losses: tuple[int, ...] = ()
    reordered: bool = False
    seconds: float = 8.0

    def fresh(self) -> dict[str, Any]:
        """As rexmit reads it."""
        found = self.scenario(int(self.rate_mbps * 1e6 / 8 * self.seconds))
        found["duration"] = f"{4 * self.seconds + 12 * self.length_s:.0f}s"
        (link,) = found["link"]
        link["channel"][0]["direction"] = self.way
        # What is lost by number is decided before the outage: as many packets come there on both benches.
        if self.losses:
            lost = {"name": "losses", "kind": "list", "at": "ingress", "direction": "forward", "only": "data"}
            link["channel"].append(lost | {"packets": list(self.losses)})
        if self.reordered:
            late = {"name": "late", "kind": "reorder", "at": "egress", "direction": "forward"}
            link["channel"].append(late | {"probability": 0.01, "by": "3ms"})
        return found


def draw(seed: int, number: int) -> Drawn:
    """Scenario `number` of a seed."""
    d = random.Random(f"closed loop {seed} {number}")

    def scale(low: float, high: float) -> float:
        return float(low * (high / low) ** d.random())

    cc = ("cubic", "reno", "bbr")[number % 3]
    rate, delay = round(scale(4, 40), 1), round(scale(5, 60), 1)
    bdp = rate * 1e6 / 8 * 2 * delay / 1e3
    queue = max(12 * 1514, int(bdp * scale(0.3, 3)) // 1514 * 1514)
    length = round(scale(0.05, 5), 3)
    kind = d.choice(("plain", "plain", "losses", "reordered"))
    losses = tuple(sorted(d.sample(range(FIRST_LOSS, 6000), 12))) if kind == "losses" else ()
    way = d.choice(("both", "both", "forward", "back"))
    return Drawn(
        name=f"{number}_{cc}_{rate:g}M_{2 * delay:g}ms_{kind}_{way}_{1e3 * length:.0f}ms",
        folder=Path(),
        file="",
        cc=cc,
        rate_mbps=rate,
        delay_ms=delay,
        queue_bytes=queue,
        first_s=round(d.uniform(1.5, 3), 3),
        every_s=round(length + d.uniform(2.5, 3.5), 3),
        length_s=length,
        way=way,
        losses=losses,
        reordered=kind == "reordered",
    )


@dataclass
class Compared:
    """One scenario: simulated, and live twice."""

    case: Drawn
    sim: Side
    live: tuple[Side, Side]


class LateError(Exception):
    """A live run was not in time."""


def run(case: Drawn, keep: Path | None, late: list[str]) -> Compared:
    """All three runs; those not in time, which were made again, are added to `late`.

    Raises LateError where none was in time, and RuntimeError where the bench could not run it.
    """
    simulated = rx.run(case.fresh())
    ours = side(case, simulated, drops_of(case, simulated))
    folders = [keep and keep / case.name / str(number) for number in (1, 2)]
    first, second = (live(case, folder, late) for folder in folders)
    return Compared(case, ours, (first, second))


def live(case: Drawn, folder: Path | None, late: list[str]) -> Side:
    """One run on the live bench, or what was kept of it."""
    kept = folder and folder / "side.json"
    before = folder and folder / "late.txt"
    told = before.read_text().splitlines() if before and before.exists() else []
    late += told
    if kept and kept.exists():
        return read(json.loads(kept.read_text()))
    for _ in range(len(told), TRIES):
        try:
            found = on_bench(case, folder)
        except LateError as why:
            told.append(f"{case.name}: {why}")
            late.append(told[-1])
            if before:
                before.write_text("\n".join(told))
            continue
        if kept:
            kept.write_text(json.dumps(asdict(found)))
        return found
    raise LateError


def on_bench(case: Drawn, folder: Path | None) -> Side:
    """folder: for both captures and the table of states."""
    scenario = case.fresh()
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
        scenario["record"] |= {"state": True, "capture": ["sender", "receiver"]}
    bench = rx.run(scenario, bench="live", captures=folder)
    if bench.failure:
        raise RuntimeError(f"{case.name}: {bench.failure}")
    if late := missed(bench.summary["bridge"]):
        raise LateError("; ".join(late))
    if folder:
        pq.write_table(bench.state.to_arrow(unit="ns"), folder / "state.parquet")
    return side(case, bench, drops_of(case, bench))


def read(kept: dict[str, Any]) -> Side:
    return Side(**kept | {"events": [Event(**event) for event in kept["events"]]})


# ---- the bars ----


@dataclass(frozen=True)
class Bar:
    """A share of pairs that have to agree."""

    of: str
    least: float
    agree: Callable[[Any, Any], bool]


def within(share: float, least: float = 0.0) -> Callable[[float | None, float | None], bool]:
    def agree(a: float | None, b: float | None) -> bool:
        return a == b if a is None or b is None else abs(a - b) <= max(least, share * abs(b))

    return agree


def same(a: object, b: object) -> bool:
    return a == b


OUTAGES = (
    Bar("trigger", 0.95, same),
    Bar("timeouts", 0.90, same),
    Bar("probes", 0.90, same),
    Bar("repair_after_return_s", 0.90, within(0.05, 0.005)),
    Bar("duration_s", 0.50, within(0.10)),
    Bar("duration_s", 0.90, within(0.25)),
)
TRANSFERS = (Bar("throughput_mbps", 0.50, within(0.10)), Bar("throughput_mbps", 0.90, within(0.25)))
#: What live reaches against live, less this, is enough.
SPARE = 0.02


def paired(a: Side, b: Side) -> Iterable[tuple[Event, Event]]:
    """Outages that took data on both sides."""
    there = {event.what: event for event in b.events if event.what.startswith("outage")}
    return [(event, there[event.what]) for event in a.events if event.what in there]


def share(bar: Bar, pairs: Iterable[tuple[Any, Any]]) -> tuple[int, int]:
    known = [(getattr(a, bar.of), getattr(b, bar.of)) for a, b in pairs]
    return sum(bar.agree(a, b) for a, b in known), len(known)


def judge(done: list[Compared]) -> tuple[list[list[str]], bool]:
    """A row for each bar, and whether all are met."""
    rows, met = [], True
    for bars, of in ((OUTAGES, paired), (TRANSFERS, lambda a, b: [(a, b)])):
        for bar in bars:
            ours = share(bar, (p for c in done for live in c.live for p in of(c.sim, live)))
            theirs = share(bar, (p for c in done for p in of(*c.live)))
            got, live = (hits / n if n else np.nan for hits, n in (ours, theirs))
            wanted = min(bar.least, live - SPARE) if theirs[1] else bar.least
            reached = bool(got >= wanted)
            met &= reached
            rows.append([
                bar.of, f"{bar.least:.0%}", f"{ours[0]} of {ours[1]} ({got:.1%})",
                f"{theirs[0]} of {theirs[1]} ({live:.1%})", "met" if reached else "**missed**",
            ])  # fmt: skip
    return rows, met


def different(done: list[Compared]) -> Iterable[list[str]]:
    """Outages in which the simulator has another trigger, or other counts, than both live runs."""
    for c in done:
        for first, second in zip(*(paired(c.sim, live) for live in c.live), strict=False):
            ours, theirs = first[0], (first[1], second[1])
            told = [
                f"{name} {getattr(ours, name)} / {', '.join(str(getattr(e, name)) for e in theirs)}"
                for name in ("trigger", "timeouts", "probes")
                if getattr(ours, name) not in {getattr(e, name) for e in theirs}
            ]
            if told:
                yield [c.case.name, ours.what, "; ".join(told)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="NAME", help="the scenarios whose name begins so")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="live runs are kept here, or read from here")
    parser.add_argument("--json", metavar="FILE", help="every figure, too")
    args = parser.parse_args(arguments)
    done: list[Compared] = []
    late: list[str] = []
    replaced: list[str] = []
    failed: list[str] = []
    number = 0
    while len(done) < args.runs and number < 2 * args.runs:
        case = draw(args.seed, number)
        number += 1
        if args.only and not case.name.startswith(args.only):
            continue
        try:
            done.append(run(case, args.keep, late))
        except LateError:
            replaced.append(case.name)
        except (RuntimeError, ValueError) as why:
            failed.append(f"{case.name}: {why}")
        except KeyboardInterrupt:
            print("interrupted: what is done is judged", file=sys.stderr)
            break
        print(f"{len(done)} of {args.runs}, {len(late)} late: {case.name}", file=sys.stderr, flush=True)
    rows, met = judge(done)
    if len(late) * REPLACED > 2 * len(done) + len(late):
        rows.append(["live runs made again", f"{1 / REPLACED:.0%}", "", str(len(late)), "**missed**"])
        met = False
    counts = f"{len(done)} scenarios, each live twice; {len(late)} live runs late, {len(failed)} failed"
    print(f"seed {args.seed}: {counts}\n")
    print("\n".join(grid(["figure", "bar", "simulator / live", "live / live", ""], rows)))
    if apart := list(different(done)):
        print("\n" + "\n".join(grid(["scenario", "outage", "simulator / live, live"], apart)))
    for head, names in (("late", late), ("never in time", replaced), ("failed", failed)):
        print("".join(f"\n{head}: {name}" for name in names))
    if args.json:
        Path(args.json).write_text(json.dumps([asdict(c) for c in done], default=str))
    return 0 if met and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
