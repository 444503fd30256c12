"""How late packets leave the live bench's bridge here, by rate, with and without real-time priority.

Beside it, how long packets take through a plain bridge of the kernel's, with the same hosts and transfer.
That has no rate and no delay of its own, so nothing can be late in it: its figures are times from the capture
at one host to the capture at the other, with the sender held to what the rate lets through (the kernel's
pacing), and once as fast as it goes. And how late a thread with the bridge's priority is that does nothing
but look at the clock, which no bridge can better on this machine at this time. Each case runs several times,
in turns; medians and ranges are of those.

python benches/live.py [RUNS [SECONDS]]

Exit code: 0 if it ran, whatever the bars say; 2 if something to run is missing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
SCENARIO = """
name = "lateness"
duration = "{seconds}s"
[chain]
nodes = ["sender", "receiver"]
rate = "{rate}bps"
delay = "10ms"
framing = "ethernet"
queue = {{ kind = "droptail", packets = {queue} }}
[[flow]]
name = "bulk"
from = "sender"
to = "receiver"
stack = "linux-2.6-cubic"
workload = {{ kind = "endless" }}
count = {count}
[live]
real_time = {real_time}
"""
# Payload of a full segment with timestamps, by what it takes of an Ethernet link.
PAYLOAD_SHARE = 1448 / 1538
QUANTILES = ("p50", "p99", "p999")


@dataclass(frozen=True)
class Rate:
    name: str
    bps: int
    queue: int
    # One CUBIC flow can leave slow start early and then takes longer than a run to fill a fast link.
    flows: int
    # Microseconds that a bridge with real-time priority may be late; throughput in Mbps.
    late_bars: dict[str, float]
    through_bar: float | None = None


RATES = [
    Rate("22 Mbps", 22_000_000, 100, 1, {"p50": 40, "p99": 100, "p999": 1000}),
    Rate("100 Mbps", 100_000_000, 100, 1, {"p50": 40, "p99": 100, "p999": 1000}),
    Rate("1 Gbps", 1_000_000_000, 1000, 4, {"p99": 250}, 900),
]


@dataclass
class Case:
    rate: Rate | None  # None: nothing that holds the sender; or nothing sent
    bridge: str
    runs: list[dict[str, float]] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)

    def values(self, key: str) -> list[float]:
        """One figure of each run: Mbps, µs or packets."""
        scale = {"through_bps": 1e-6, "over_1ms": 1}.get(key, 1e-3)
        return [run[key] * scale for run in self.runs]


def cases() -> list[Case]:
    """Every rate with every bridge, and the kernel's unheld."""
    bridges = ("rexmit", "rexmit, no priority", "kernel")
    with_rates = [Case(rate, bridge) for rate in RATES for bridge in bridges]
    return [*with_rates, Case(None, "kernel"), Case(None, "none")]


def built() -> Path:
    """The program that does one run, as cargo says where it is."""
    line = ["cargo", "build", "--release", "-p", "rexmit-live", "--example", "bench"]
    line.append("--message-format=json-render-diagnostics")
    done = subprocess.run(line, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    told = [json.loads(message) for message in done.stdout.splitlines()]
    return Path(next(m["executable"] for m in told if m.get("executable")))


def once(program: Path, case: Case, seconds: int, folder: Path) -> None:
    """Runs a case once more."""
    rate = case.rate or RATES[-1]
    real_time = "true" if case.bridge in ("rexmit", "none") else "false"
    text = SCENARIO.format(
        seconds=seconds, rate=rate.bps, queue=rate.queue, count=rate.flows, real_time=real_time
    )
    (folder / "scenario.toml").write_text(text)
    line: list[str | Path] = [program, folder / "scenario.toml", folder / "captures", "--json"]
    if case.bridge == "kernel":
        line.append("--plain")
        line.extend([f"--pace={rate.bps * PAYLOAD_SHARE / rate.flows:.0f}"] if case.rate else [])
    if case.bridge == "none":
        line.append("--floor")
    case.loads.append(os.getloadavg()[0])
    done = subprocess.run(line, check=True, stdout=subprocess.PIPE, text=True)
    case.runs.append(json.loads(done.stdout))


def shown(values: Sequence[float]) -> str:
    """Median, and the range in brackets."""
    return f"{median(values):,.0f} [{min(values):,.0f}..{max(values):,.0f}]"


def table(rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as what stands in them."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def report(all_cases: Sequence[Case]) -> None:
    """Every case, then the bars."""
    print(
        "rexmit: how late packets left, in us. kernel: a plain bridge, which has no rate and no delay of its"
    )
    print(
        "own: how long packets took from host to host, in us, the sender held to the rate. none: how late a"
    )
    print("thread is that only looks at the clock. median [range]")
    rows = [["rate", "bridge", "through Mbps", *("p50", "p99", "p99.9"), "> 1 ms", "runs", "load"]]
    for case in all_cases:
        figures = [shown(case.values(key)) for key in ("through_bps", *QUANTILES, "over_1ms")]
        name = case.rate.name if case.rate else "unheld" if case.bridge == "kernel" else "nothing sent"
        rows.append([name, case.bridge, *figures, str(len(case.runs)), shown(case.loads)])
    table(rows)
    print()
    rows = [["figure", "bar", "median [range]", "", "runs that met it", "the clock alone"]]
    floor = next(case for case in all_cases if case.bridge == "none")
    for case in all_cases:
        if case.rate and case.bridge == "rexmit":
            rows.extend(bars(case, case.rate, floor))
    table(rows)


def bars(case: Case, rate: Rate, floor: Case) -> list[list[str]]:
    """A row for each bar of a rate."""
    rows = []

    def row(what: str, bar: str, values: list[float], met: list[bool], good: bool, alone: str) -> None:
        verdict = "met" if good else "NOT MET"
        rows.append([f"{rate.name} {what}", bar, shown(values), verdict, f"{sum(met)} of {len(met)}", alone])

    for key, bar in rate.late_bars.items():
        values = case.values(key)
        name = key.replace("p999", "p99.9")
        good = median(values) <= bar
        row(name, f"<= {bar:,.0f} us", values, [v <= bar for v in values], good, shown(floor.values(key)))
    if through := rate.through_bar:
        values = case.values("through_bps")
        row(
            "through",
            f">= {through:,.0f} Mbps",
            values,
            [v >= through for v in values],
            median(values) >= through,
            "",
        )
    return rows


def main() -> int:
    """All cases in turns, then two tables."""
    runs, seconds = (int(word) for word in (sys.argv[1:] + ["3", "5"][len(sys.argv) - 1 :]))
    all_cases = cases()
    try:
        program = built()
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(runs):
                for case in all_cases:
                    once(program, case, seconds, Path(folder))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 2
    report(all_cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
