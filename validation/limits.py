#!/usr/bin/env python3
"""Scores the answers about transfers whose cause is known by how they were made.

    validation/limits.py --seed 1 --transfers 200        simulated, seen at the sender, the receiver and both
    sudo validation/limits.py --seed 1 --live 40         the same on this machine's kernels, seven minutes

Each transfer belongs to a class: it is set up so that one thing takes most of its time, and by a margin (a
path three times faster than the application, a receive window a third of what the path holds). The draws of
a transfer come from its seed alone, which every line names. A transfer is right if its answer is a cause of
its class. Printed: the share right by class and vantage point, the transfers that are not, the share of all
time of which no cause can be told, and how often what was *known* and *likely* was wrong. Exits 0 if every
bar is met.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rexmit as rx

POINTS = ("sender", "receiver", "both")
SCENARIO = dict[str, Any]

#: Bars: right, by far of the time open, and how often a *likely* one may be wrong.
RIGHT_SIMULATED, RIGHT_LIVE = 0.95, 0.90
OPEN = {"sender": 0.10, "both": 0.10, "receiver": 0.30}
LIKELY_WRONG = 0.10


@dataclass
class Made:
    """A transfer and what must come out of it."""

    kind: str
    #: Any of these is right.
    causes: tuple[str, ...]
    seed: int
    scenario: SCENARIO


#: Stacks whose HyStart may end slow start long before the path is full: then the sender limits, whatever else
#: was made to. Their slow start is the plain one here.
EARLY = ("linux-2.6-cubic", "linux-2.6")


def stacks(draw: random.Random) -> str:
    return draw.choice(
        ["linux-2.6-cubic", "linux-2.6-reno", "linux-2.6", "rfc-sack", "rfc-newreno", "osx-10.9"]
    )


def path(draw: random.Random, rate: float, one_way: float, queue: int, **channel: Any) -> SCENARIO:
    """Two hosts and a link; `rate` in Mbps, `one_way` in ms, `queue` in packets."""
    link: SCENARIO = {
        "nodes": ["server", "client"],
        "rate": f"{rate:.3f}Mbps",
        "delay": f"{one_way:.2f}ms",
        "queue": {"kind": "droptail", "packets": max(5, queue)},
    }
    if channel:
        link["channel"] = [{"name": "air", **channel}]
    return link


def transfer(link: SCENARIO, duration: float | None, stack: str, workload: SCENARIO, **more: Any) -> SCENARIO:
    flow = {"name": "it", "from": "server", "to": "client", "stack": stack, "workload": workload}
    made = {"name": "limits", "chain": link, "flow": [flow], **more}
    if duration:
        made["duration"] = f"{duration:.1f}s"
    return made


def bdp(rate: float, one_way: float) -> float:
    """Bytes that a path holds."""
    return rate * 1e6 / 8 * one_way * 2e-3


def application(draw: random.Random, stack: str) -> SCENARIO:
    """It writes at a tenth to a third of the path's rate."""
    rate, one_way = draw.uniform(10, 100), draw.uniform(5, 60)
    message = draw.choice([1000, 4000, 16_000, 64_000])
    kind = draw.choice(["constant-rate", "on-off"])
    workload: SCENARIO = {
        "kind": kind,
        "rate": f"{rate * draw.uniform(0.05, 0.3):.3f}Mbps",
        "message": f"{message}B",
    }
    if kind == "on-off":
        # Long enough that slow start after each silence is the lesser part.
        on = max(0.3, draw.uniform(25, 50) * 2e-3 * one_way)
        workload |= {"on": f"{on:.2f}s", "off": f"{on * draw.uniform(1.5, 3):.2f}s"}
        workload["distribution"] = "constant"
    return transfer(path(draw, rate, one_way, 400), draw.uniform(10, 20), stack, workload)


def start(draw: random.Random, stack: str) -> SCENARIO:
    """So short on so long a path that it is over in slow start."""
    rate, one_way = draw.uniform(50, 200), draw.uniform(30, 120)
    size = min(bdp(rate, one_way) * 0.5, draw.uniform(60e3, 600e3))
    return transfer(path(draw, rate, one_way, 2000), None, stack, {"kind": "file", "size": f"{int(size)}B"})


def loss(draw: random.Random, stack: str) -> SCENARIO:
    """Random losses keep the window at a fraction of what the path holds."""
    one_way, share = draw.uniform(10, 60), draw.uniform(0.003, 0.015)
    allowed = 1460 * 8 / (2 * one_way * 1e-3) * 1.5 / share**0.5 / 1e6
    rate = min(500.0, max(20.0, allowed * draw.uniform(4, 10)))
    queue = int(bdp(rate, one_way) / 1500) + 20
    link = path(draw, rate, one_way, queue, kind="random", loss=f"{share * 100:.3f}%", direction="forward")
    return transfer(link, draw.uniform(8, 20), stack, {"kind": "endless"})


def window(draw: random.Random, stack: str) -> SCENARIO:
    """The receiver's buffer holds a tenth to a third of what the path does."""
    rate, one_way = draw.uniform(20, 200), draw.uniform(15, 80)
    buffer = max(6000, int(bdp(rate, one_way) * draw.uniform(0.1, 0.33)))
    made = transfer(path(draw, rate, one_way, 400), draw.uniform(5, 12), stack, {"kind": "endless"})
    held = {"window": {"kind": "fixed", "buffer": f"{buffer}B"}}
    made["stack"] = [
        {"name": "small-reader", "based_on": stack, "receive": held},
        {"name": "large-writer", "based_on": stack, "send": {"buffer": "unlimited"}},
    ]
    made["flow"][0]["stack"] = "large-writer"
    made["flow"][0]["receiver"] = "small-reader"
    return made


def sender(draw: random.Random, stack: str) -> SCENARIO:
    """The sender's buffer holds a tenth to a third of what the path does."""
    rate, one_way = draw.uniform(20, 200), draw.uniform(15, 80)
    buffer = max(15_000, int(bdp(rate, one_way) * draw.uniform(0.1, 0.33)))
    made = transfer(path(draw, rate, one_way, 400), draw.uniform(5, 12), stack, {"kind": "endless"})
    made["stack"] = [{"name": "small-writer", "based_on": stack, "send": {"buffer": f"{buffer}B"}}]
    made["flow"][0]["stack"] = "small-writer"
    made["flow"][0]["receiver"] = wide(made, stack)
    return made


def wide(made: SCENARIO, stack: str) -> str:
    """A receiver whose window never is what holds a transfer back."""
    window = {"kind": "fixed", "buffer": "16MB"}
    made.setdefault("stack", []).append({"name": "wide", "based_on": stack, "receive": {"window": window}})
    return "wide"


def network(draw: random.Random, stack: str) -> SCENARIO:
    """A bulk transfer fills a bottleneck whose queue holds what the path does, or more."""
    if stack == "rfc-newreno":  # without SACK its repairs of what slow start overran take most of the time
        stack = "rfc-sack"
    rate, one_way = draw.uniform(2, 30), draw.uniform(5, 40)
    queue = int(bdp(rate, one_way) / 1500 * draw.uniform(1.2, 4)) + 10
    made = transfer(path(draw, rate, one_way, queue), draw.uniform(10, 25), stack, {"kind": "endless"})
    made["flow"][0]["receiver"] = wide(made, stack)
    return made


def outage(draw: random.Random, stack: str) -> SCENARIO:
    """The link is away for half of the time, and full for most of the rest."""
    if stack == "osx-10.9":  # its timer goes on waiting for longer than the link was away
        stack = "linux-2.6"
    rate, one_way = draw.uniform(5, 30), draw.uniform(5, 30)
    queue = int(bdp(rate, one_way) / 1500 * 1.5) + 20
    every = draw.uniform(6, 10)
    away = every * draw.uniform(0.4, 0.55)
    schedule = {"every": f"{every:.2f}s", "for": f"{away:.2f}s", "phase": f"{draw.uniform(1, 2):.2f}s"}
    link = path(draw, rate, one_way, queue, kind="outage", schedule=schedule)
    made = transfer(link, 3 * every, stack, {"kind": "endless"})
    made["flow"][0]["receiver"] = wide(made, stack)
    return made


CLASSES: dict[str, tuple[tuple[str, ...], Callable[[random.Random, str], SCENARIO]]] = {
    "slow application": (("sender-idle",), application),
    "short transfer": (("slow-start",), start),
    "random loss": (("loss-random",), loss),
    "small receive window": (("receive-window",), window),
    "small send buffer": (("send-window",), sender),
    "full bottleneck": (("bottleneck",), network),
    # Of the time the link is away for half, and full for most of the rest.
    "outages": (("outage", "bottleneck"), outage),
}


def made(seed: int) -> Made:
    """The transfer of a seed: its class in turn, all else drawn."""
    draw = random.Random(seed)
    kind = list(CLASSES)[seed % len(CLASSES)]
    causes, make = CLASSES[kind]
    stack = stacks(draw)
    if stack not in EARLY:
        return Made(kind, causes, seed, make(draw, stack) | {"seed": seed})
    scenario = make(draw, "plain-cubic") | {"seed": seed}
    plain = {"name": "plain-cubic", "based_on": stack, "congestion": {"hystart": False}}
    scenario["stack"] = [plain, *scenario.get("stack", [])]
    return Made(kind, causes, seed, scenario)


@dataclass
class Said:
    """What was said of a transfer from one vantage point."""

    made: Made
    at: str
    answer: dict[str, Any]

    @classmethod
    def of(cls, made: Made, at: str, flow: dict[str, Any]) -> Said:
        exact(flow["answer"])
        return cls(made, at, flow["answer"])

    @property
    def cause(self) -> str:
        return str(self.answer["cause"])

    @property
    def certainty(self) -> str:
        return str(self.answer["certainty"])

    @property
    def open(self) -> float:
        """The share of the time of which no cause can be told."""
        return sum(c["share"] for c in self.answer["causes"] if c["cause"] == "cannot-tell")

    @property
    def right(self) -> bool:
        return self.cause in self.made.causes


def main_flow(overview: dict[str, Any]) -> dict[str, Any]:
    return max(overview["flows"], key=lambda f: f["bytes"])


def simulated(seeds: range, points: tuple[str, ...] = POINTS) -> Iterator[Said]:
    for seed in seeds:
        it = made(seed)
        for at in points:
            yield Said.of(it, at, main_flow(rx.run(it.scenario, at=at).overview()))  # type: ignore[arg-type]


def exact(answer: dict[str, Any]) -> None:
    """The times add up to what was owed, to the nanosecond."""
    parts = sum(round(cause["seconds"] * 1e9) for cause in answer["causes"])
    assert parts == round(answer["owed_s"] * 1e9), (parts, answer["owed_s"])


def tell(said: list[Said], verbose: bool, floor: float) -> list[str]:
    """Prints the tables; the bars that are missed."""
    kinds = list(dict.fromkeys(s.made.kind for s in said))
    points = [at for at in POINTS if any(s.at == at for s in said)]
    for s in said:
        if not s.right:
            print(
                f"  seed {s.made.seed:<6} {s.at:<9} {s.made.kind}: {s.certainty} {s.cause} "
                f"{s.answer['share']:.0%}, cannot tell {s.open:.0%}"
            )
            for cause in s.answer["causes"] if verbose else ():
                print(f"      {cause['cause']:<20} {cause['seconds']:8.3f} s {cause['certainty']}")
    print(f"\n{'':22}" + "".join(f"{at:>24}" for at in points))
    missed = []
    for kind in [*kinds, "all"]:
        cells = []
        for at in points:
            here = [s for s in said if s.at == at and kind in (s.made.kind, "all")]
            n, right = len(here), sum(s.right for s in here)
            unknown = sum(s.open for s in here) / max(1, n)
            cells.append(f"{right}/{n} {right / max(1, n):.0%}, {unknown:.0%} open")
            if kind == "all" and right < floor * n:
                missed.append(f"{at}: {right} of {n} right, {floor:.0%} wanted")
            if kind == "all" and unknown > OPEN[at]:
                missed.append(f"{at}: of {unknown:.0%} of the time no cause is told, {OPEN[at]:.0%} allowed")
        print(f"{kind:<22}" + "".join(f"{cell:>24}" for cell in cells))
    for sure in ("known", "likely"):
        cells = []
        for at in points:
            here = [s for s in said if s.at == at and s.certainty == sure]
            wrong = sum(not s.right for s in here)
            cells.append(f"{wrong} of {len(here)} wrong")
            if sure == "known" and wrong:
                missed.append(f"{at}: {wrong} known and wrong")
        print(f"{sure:<22}" + "".join(f"{cell:>24}" for cell in cells))
    likely = [s for s in said if s.certainty == "likely"]
    if sum(not s.right for s in likely) > LIKELY_WRONG * len(likely):
        missed.append(f"more than {LIKELY_WRONG:.0%} of what is likely is wrong")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="of the first transfer; the others follow")
    parser.add_argument("--transfers", type=int, default=200)
    parser.add_argument(
        "--live", type=int, default=0, metavar="N", help="N transfers of this machine's kernels instead"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where live captures stay")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="score such captures again")
    parser.add_argument("-v", "--verbose", action="store_true", help="what was said instead")
    args = parser.parse_args()
    if args.live or args.kept:
        import limits_live

        seeds = range(args.seed, args.seed + args.live)
        found = limits_live.kept(args.kept) if args.kept else limits_live.measured(seeds, args.keep)
        said, floor = list(found), RIGHT_LIVE
    else:
        said = list(simulated(range(args.seed, args.seed + args.transfers)))
        floor = RIGHT_SIMULATED
    missed = tell(said, args.verbose, floor)
    for line in missed:
        print(f"MISSED {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
