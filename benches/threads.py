"""What a second thread gains by the clock, beside two processes of one thread each.

Two processes side by side on the same capture are what two processors can do at most: they share memory and
caches as two threads do, and hand nothing over. In each turn one process runs alone, two run beside each
other, and one runs with two threads, so that a machine whose speed drifts treats all alike; figures are of
the best turn of each. On a machine with other work to do they say little.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from measure import DATA, mark, row

NAME = "threads"


@dataclass(frozen=True)
class Case:
    name: str
    kind: str  # what make_captures calls it
    packets: int
    beside_two: float | None  # of two processes' packets per second
    beside_one: float | None  # times one process's


CASES = [
    Case("one flow, nothing lost", "one-flow", 10_000_000, None, 1.3),
    Case("one flow, 10% resent", "one-flow-10", 10_000_000, None, None),
    Case("240 flows, 10% resent", "flows-240-10", 10_000_000, 0.85, None),
    Case("1 M flows, 20,000 open", "short", 10_000_000, 0.85, None),
    Case("1 M flows, all open", "short-open", 10_000_000, 0.85, None),
]


@dataclass
class Side:
    """So many processes at once, with so many threads each: what every turn took, s."""

    processes: int
    threads: int
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, command: list[str]) -> None:
        words = [*command, "--threads", str(self.threads)]
        used, began = _used(), time.monotonic()
        children = [
            subprocess.Popen(words, stdout=subprocess.DEVNULL, cwd=DATA) for _ in range(self.processes)
        ]
        codes = [child.wait() for child in children]
        self.wall.append(time.monotonic() - began)
        self.cpu.append((_used() - used) / self.processes)
        if any(codes):
            raise subprocess.CalledProcessError(max(codes), words)

    def rate(self, packets: int) -> float:
        """Packets per second by the clock, in the best turn."""
        return packets * self.processes / min(self.wall)


def _used() -> float:
    """CPU seconds of all children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bench(
    only: str | None, scale: float, runs: int, rexmit: Path, made: Callable[[str, int], Path]
) -> list[dict]:
    """Prints the part's lines and gives its rows. `made`: the capture of a kind with so many packets."""
    cases = [c for c in CASES if not only or only in NAME or only in c.kind or only in c.name]
    if cases and (os.cpu_count() or 1) < 2:
        print(f"\n{NAME}: one processor, on which a second thread gains nothing")
        return []
    rows = []
    for case in cases:
        packets = int(case.packets * scale)
        rows += _measured(
            case, [str(rexmit), "analyze", str(made(case.kind, packets)), "--json"], packets, runs
        )
    return rows


def _measured(case: Case, command: list[str], packets: int, runs: int) -> list[dict]:
    one, beside, two = sides = [Side(1, 1), Side(2, 1), Side(1, 2)]
    for _ in range(runs):
        for side in sides:
            side.run(command)
    name = f"{case.name}, two threads"
    print(f"\n{name}: {packets:,} packets")
    for words, side in (("one thread", one), ("two processes", beside), ("two threads", two)):
        rate, cpu = side.rate(packets) / 1e6, min(side.cpu)
        print(f"  {words:22} {rate:8.3f} M packets/s by the clock  ({cpu:.2f} CPU s a capture)")
    rows, said = [], []
    for words, other, bar in (
        ("two processes", beside, case.beside_two),
        ("one thread", one, case.beside_one),
    ):
        ratio = two.rate(packets) / other.rate(packets)
        share = other.processes / two.processes
        middle = statistics.median(o / t / share for o, t in zip(other.wall, two.wall, strict=True))
        verdict = f" (bar {bar:g}: {mark(ratio >= bar)})" if bar else ""
        said.append(f"{ratio:.2f} times {words}, in the median turn {middle:.2f}{verdict}")
        rows.append(row(name, two.rate(packets), "packets/s", words, other.rate(packets), ratio))
    more = min(two.cpu) / min(one.cpu) - 1
    print("  " + "; ".join(said) + f"; {more:+.0%} CPU time")
    return rows
