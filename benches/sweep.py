"""How well a sweep uses two cores, whether its memory grows with its runs, and what 100,000 transfers of
10 MB take (`rexmit sweep`, tables flows and episodes).

The measure of the cores is two processes, each pinned to one, that make half of the blocks each on one thread
and know nothing of each other. Whole and halves take turns; the best of each counts. Both make blocks of the
whole plan, as large as they are there, some of them only.

    .venv/bin/python benches/sweep.py [--runs N]        in benches/bench.py: --only sweep
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from measure import ROOT, mark, row

NAME = "sweep"
SCENARIO = ROOT / "scenarios" / "wifi-bursts.toml"
SIZE = {"flow.download.workload.size": "10MB"}
TABLES = ("flows", "episodes")
#: Transfers of the plan, of which the bar is, and about what part of its blocks is made.
WHOLE, ONE_IN = 100_000, 50
CORES_BAR, MINUTES_BAR = 0.95, 8.0
#: What ten times as many runs may add to the peak of memory.
GROWTH_BAR = 1.1


@dataclass(frozen=True)
class Made:
    """What a process that made a plan, or a part of one, says of itself."""

    runs: int
    seconds: float
    peak_mib: float
    cpu_s: float

    @property
    def rate(self) -> float:
        return self.runs / self.seconds


def child(part: str, cores: list[int]) -> None:
    """In a process of its own: makes it, and prints what it took from the first run to the last file."""
    os.sched_setaffinity(0, cores)
    import resource
    import time

    import pyarrow.parquet

    from rexmit.sweeps import sizing
    from rexmit.sweeps.carry_out import carry_out
    from rexmit.sweeps.engine import Threads
    from rexmit.sweeps.making import make
    from rexmit.sweeps.plan import shard
    from rexmit.sweeps.store import Store

    assert pyarrow.parquet
    plan = make(SCENARIO, {}, set=SIZE, runs=WHOLE, tables=TABLES)
    plan = sizing.sized(plan, sizing.trial(plan))
    # An even number of blocks for each part: two threads end together, as they do to within a block of 1,136.
    which, of = shard(part)
    while (blocks := len(range(which - 1, plan.blocks, of))) > 1 and blocks % 2:
        of += 2
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        store.begin(plan)
        # Both halves begin at once.
        print("ready", flush=True)
        sys.stdin.readline()
        began, cpu = time.perf_counter(), time.process_time()
        done = carry_out(plan, store, Threads(len(cores)), (which, of))
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([done.made, seconds, peak, cpu]), flush=True)


def made(python: Path, parts: list[tuple[str, list[int]]]) -> list[Made]:
    """Processes that begin together: a part of the plan and the cores of each."""
    children = [
        subprocess.Popen(
            [str(python), __file__, "--child", json.dumps([part, cores])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for part, cores in parts
    ]
    for one in children:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in children:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    told = [json.loads(one.communicate()[0]) for one in children]
    return [Made(*one) for one in told]


def bench(python: Path, quick: bool, turns: int) -> list[dict]:
    """Prints the lines, and gives the rows for bench.json."""
    of = ONE_IN * (5 if quick else 1)
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        print(f"\n{NAME}: needs two cores")
        return []
    whole: list[Made] = []
    apart: list[list[Made]] = []
    for _ in range(turns):
        whole += made(python, [(f"1/{of}", cores)])
        halves = [(f"{1 + k * of}/{2 * of}", [core]) for k, core in enumerate(cores)]
        apart.append(made(python, halves))
    (small,) = made(python, [(f"1/{10 * of}", cores)])
    rate, twice = max(one.rate for one in whole), max(sum(half.rate for half in two) for two in apart)
    cpu = min(one.cpu_s / one.runs for one in whole)
    cpu_apart = min(sum(half.cpu_s for half in two) / sum(half.runs for half in two) for two in apart)
    peak = min(one.peak_mib for one in whole)
    minutes, growth = WHOLE / rate / 60, peak / small.peak_mib
    print(f"\n{NAME}: {whole[0].runs:,} of {WHOLE:,} transfers of 10 MB, tables {' and '.join(TABLES)}")
    print(f"  two threads of one process {rate:8.1f} runs/s   {cpu * 1e3:6.2f} CPU ms a run")
    print(f"  two processes apart        {twice:8.1f} runs/s   {cpu_apart * 1e3:6.2f} CPU ms a run")
    print(f"  {rate / twice:.1%} of them (bar {CORES_BAR:.0%}: {mark(rate / twice >= CORES_BAR)})")
    print(
        f"  {WHOLE:,} take {minutes:.1f} min (bar {MINUTES_BAR:g}: {mark(minutes <= MINUTES_BAR)})", end="; "
    )
    print(f"{WHOLE * cpu / 2 / 60:.1f} min by CPU time on two cores, load {os.getloadavg()[0]:.1f}")
    print(
        f"  memory {small.peak_mib:.0f} MiB for {small.runs:,} runs, {peak:.0f} for {whole[0].runs:,} "
        f"(bar {GROWTH_BAR:g} times: {mark(growth <= GROWTH_BAR)})"
    )
    return [
        row(f"{NAME}, two threads", rate, "runs/s", "two processes", twice, rate / twice),
        row(f"{NAME}, {WHOLE:,} transfers", minutes, "min", "bar", MINUTES_BAR, minutes / MINUTES_BAR),
        row(f"{NAME}, peak", peak, "MiB", "a tenth of the runs", small.peak_mib, growth),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="turns (default 3)")
    parser.add_argument("--quick", action="store_true", help="a fifth of the transfers")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child(*json.loads(args.child))
        return 0
    bench(Path(sys.executable), args.quick, args.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
