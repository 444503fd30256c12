"""How fast `rexmit analyze --json` is, in packets per CPU second, beside peers on the same captures; what
a second thread gains by the clock (threads.py); and how
fast packets become the bins of a report (pyramid.py), the simulator is, beside other simulators
(simulators.py), a sweep of many runs is (sweep.py), also on a cluster (cluster.py), and a report is in a
browser (explorer.py).

The captures are made here (target/bench-data, reused). Every program runs several times, in turns, so that
a machine whose speed drifts treats all alike; CPU time is user plus system of the whole process, its start
included.
Rates compare by the best run of each. A program that is a hundred times slower runs on the first part of the
same capture: what is compared is packets per CPU second, and the table says so.

Prints a table and writes target/bench.json. Exit code: 0 if it ran, 2 if something to run is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import cluster
import explorer
import pyramid
import simulators
import sweep
import threads
from measure import (
    DATA,
    ROOT,
    Program,
    add_rexmit,
    build,
    build_of,
    in_turns,
    is_there,
    mark,
    or_skipped,
    row,
)


@dataclass(frozen=True)
class Case:
    name: str
    kind: str  # what make_captures calls it
    packets: int
    rate_bar: float  # packets per CPU second
    memory_bar: int | None  # MiB of resident memory at most
    peers: bool = True
    peer_packets: int | None = None  # tcptrace gets only so many; None: all


CASES = [
    Case("one flow, nothing lost", "one-flow", 10_000_000, 10e6, None),
    Case("one flow, 10% resent", "one-flow-10", 10_000_000, 10e6, None),
    Case("240 flows, 10% resent", "flows-240-10", 10_000_000, 10e6, None),
    Case("240 flows, 10% resent, memory", "flows-240-10", 5_000_000, 10e6, 64, peers=False),
    # tcptrace takes 8 GB for a million flows: it gets a tenth of them.
    Case("1 M flows, 20,000 open", "short", 10_000_000, 5e6, 400, peer_packets=1_000_000),
    Case("1 M flows, all open", "short-open", 10_000_000, 5e6, 400, peers=False),
]
# At least this many times a peer's rate (tshark cannot take the million flows at all).
RATIO_BARS = {"tcptrace -l": 3.0, "tshark -z conv,tcp": 100.0}
TSHARK_PACKETS = 1_000_000


def capture(maker: Path, kind: str, packets: int) -> Path:
    """The capture of so many packets; made if it is not there, or older than its maker."""
    path = DATA / f"{kind}.{packets}.pcap"
    if path.exists() and path.stat().st_mtime > maker.stat().st_mtime:
        return path
    part = path.with_suffix(".part")
    subprocess.run([maker, kind, str(packets), part], check=True, stdout=subprocess.DEVNULL)
    part.rename(path)
    return path


def programs(case: Case, rexmit: Path, maker: Path, floor: Path | None, scale: float) -> list[Program]:
    packets = int(case.packets * scale)
    whole = capture(maker, case.kind, packets)
    todo = [Program("rexmit", [str(rexmit), "analyze", str(whole), "--json", "--threads", "1"], packets)]
    if floor:
        todo.append(Program("header-only floor", [str(floor), str(whole)], packets))
    if case.peers and shutil.which("tcptrace"):
        n = min(packets, case.peer_packets or packets)
        todo.append(Program("tcptrace -l", ["tcptrace", "-n", "-l", str(capture(maker, case.kind, n))], n))
    if case.peers and case.peer_packets is None and shutil.which("tshark"):
        n = min(packets, TSHARK_PACKETS)
        cut = str(capture(maker, case.kind, n))
        todo.append(Program("tshark -z conv,tcp", ["tshark", "-q", "-z", "conv,tcp", "-r", cut], n))
    if case.peers and shutil.which("tstat"):
        (DATA / "tstat").mkdir(exist_ok=True)
        command = ["tstat", "-s", str(DATA / "tstat"), str(whole)]
        todo.append(Program("tstat", command, packets))
    return todo


def report(case: Case, todo: list[Program]) -> list[dict]:
    """Prints the case's lines and gives its rows for bench.json."""
    rows = []
    ours = todo[0]
    print(f"\n{case.name}: {ours.packets:,} packets")
    for p in todo:
        if p.failed or not p.runs:
            print(f"  {p.name:22} {p.failed or 'did not run'}")
            continue
        line = f"  {p.name:22} {p.best_rate / 1e6:8.3f} M packets/CPU s  (median {p.median_rate / 1e6:.3f})"
        line += f"  {p.peak_mib:8.1f} MiB"
        if p.packets != ours.packets:
            line += f"  on the first {p.packets:,}"
        print(line)
    if ours.failed or not ours.runs:
        return rows
    unit = "packets/CPU s"
    bar = f"bar {case.rate_bar / 1e6:g} M: {mark(ours.best_rate >= case.rate_bar)}"
    rows.append(row(case.name, ours.best_rate, unit, "bar", case.rate_bar, ours.best_rate / case.rate_bar))
    said = [bar]
    for p in todo[1:]:
        if p.failed or not p.runs:
            continue
        ratio = ours.best_rate / p.best_rate
        rows.append(row(case.name, ours.best_rate, unit, p.name, p.best_rate, ratio))
        want = RATIO_BARS.get(p.name)
        if p.name == "header-only floor":
            said.append(f"{ratio:.0%} of its own floor")
        else:
            said.append(
                f"{ratio:.1f} times {p.name}" + (f" (bar {want:g}: {mark(ratio >= want)})" if want else "")
            )
    if case.memory_bar:
        peak = ours.peak_mib
        rows.append(row(f"{case.name}, peak", peak, "MiB", "bar", case.memory_bar, peak / case.memory_bar))
        said.append(f"{peak:.0f} MiB (bar {case.memory_bar}: {mark(peak <= case.memory_bar)})")
        for p in todo[1:]:
            if p.runs and not p.failed and p.packets == ours.packets:
                rows.append(row(f"{case.name}, peak", peak, "MiB", p.name, p.peak_mib, peak / p.peak_mib))
    print("  " + "; ".join(said))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the packets, two runs: minutes to seconds"
    )
    parser.add_argument("--only", metavar="TEXT", help="cases whose name or kind contains TEXT")
    parser.add_argument("--runs", type=int, help="runs of each program (default 5; 2 with --quick)")
    add_rexmit(parser)
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "bench.json")
    args = parser.parse_args()
    args.rexmit = args.rexmit.absolute()
    if not is_there(args.rexmit, "bench.py"):
        return 2
    DATA.mkdir(parents=True, exist_ok=True)
    maker = build("rexmit-benches", ["--bin", "make_captures"], "make_captures")
    if maker is None:
        return 2
    floor = build("rexmit-capture", ["--example", "floor"], "examples/floor")
    runs = args.runs or (2 if args.quick else 5)
    rows: list[dict] = []
    if args.quick:
        print("quick: a tenth of the packets; starting up weighs ten times as much, bars are for full size")
    built = build_of(args.rexmit)
    print(f"analyses are measured of a build of profile {built}; the simulator of profile release")
    if built in ("local", "dev"):
        print("that is not the full profile, and bars are for that: make bench builds it")
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} processors, load {load:.1f}; {runs} runs of each, in turns; the best counts")
    for case in CASES:
        if args.only and args.only not in case.name and args.only not in case.kind:
            continue
        if built != "release":
            case = replace(case, name=f"{case.name} ({built.removeprefix('release, ')})")
        todo = programs(case, args.rexmit, maker, floor, 0.1 if args.quick else 1.0)
        in_turns(todo, runs)
        rows += report(case, todo)
    share, python = 0.1 if args.quick else 1.0, args.rexmit.parent / "python"
    made = partial(capture, maker)
    large = partial(capture, maker, "one-flow-10", 1_000_000 if args.quick else 10_000_000)

    def asked(name: str) -> bool:
        return not args.only or args.only in name

    if_there = {
        threads.NAME: lambda: threads.bench(args.only, share, runs, args.rexmit, made),
        pyramid.NAME: lambda: pyramid.bench(python, large(), runs) if asked(pyramid.NAME) else [],
        "simulators": lambda: simulators.bench(args.only, args.quick, runs),
        sweep.NAME: lambda: sweep.bench(python, args.quick, runs) if asked(sweep.NAME) else [],
        cluster.NAME: lambda: cluster.bench(args.quick, runs) if asked(cluster.NAME) else [],
        explorer.NAME: lambda: explorer.bench(args.only, args.quick, large()) if asked(explorer.NAME) else [],
    }
    for name, bench in if_there.items():
        rows += or_skipped(name, bench)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"\nwritten to {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
