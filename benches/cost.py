"""Does the cost of each command grow linearly with the capture? Measured on hard captures (shapes.py).

Of the Rust core: the instructions that callgrind counts at 2,000, 8,000 and 32,000 packets, those of
starting up taken off; the slope is fitted on logarithms, 1 is linear. Of commands in Python: the user CPU
time over a 16-fold size, the best of three runs within one process, which has started up; and the peak of
memory at the larger size, of a process of its own.

    python benches/cost.py                     make cost: everything, about an hour
    python benches/cost.py --only core replay  --shape many_flows
    python benches/cost.py --worst             make cost-worst: the five worst shapes, under a minute

Prints a table and writes target/cost.json. Exit code: 0 if all bars are met, 1 if not, 2 if something to
run is missing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import shapes
from measure import CALLGRIND, ROOT, TARGET, counted_instructions

CORE_SIZES, CORE_BAR = (2_000, 8_000, 32_000), 1.15
PYTHON_SIZES, PYTHON_BAR = (5_000, 80_000), 1.3
#: Sizes of the few that every change is held against.
WORST_SIZES = (1_000, 4_000, 16_000)
WORST = (
    ("analyze", "every_other_repaired"),
    ("analyze", "sack_at_random"),
    ("analyze", "many_flows_of_one_host"),
    ("pair", "ports_reused"),
    ("replay", "first_of_many_again"),
)
#: Less CPU time than this is not told from none, s: of a run that takes no more the slope says nothing.
LEAST_S = 0.03
RUNS = 3
#: Peak memory: so many times the capture, and so many bytes besides.
TIMES_INPUT, BESIDES = 2, 200 << 20
#: No run may use more CPU time, s: how busy the machine is does not matter.
PATIENCE_S = 180

NOTHING = "nothing of it for this command"

#: The core's work, by name: its arguments after the program's, given the capture's file.
CORE: dict[str, Callable[[str], list[str]]] = {
    "analyze": lambda file: ["cost", "analyze", file],
    "pair": lambda file: ["cost", "pair", file, file],
    "replay": lambda file: ["cost", "replay", file],
}
#: Commands, by name: their arguments, given the capture's file and a folder for what they write.
COMMANDS: dict[str, Callable[[str, str], list[str]]] = {
    "analyze": lambda file, out: ["analyze", file],
    "analyze --json": lambda file, out: ["analyze", file, "--json"],
    "analyze --out": lambda file, out: ["analyze", file, "--out", f"{out}/{{run}}", "--figures", "none"],
    "analyze --against": lambda file, out: ["analyze", file, "--against", file],
    "analyze pair": lambda file, out: ["analyze", "--sender", file, "--receiver", file],
    "report": lambda file, out: ["report", file, "--out", f"{out}/report.html", "--overwrite"],
    "traffic": lambda file, out: ["traffic", file],
    "replay": lambda file, out: ["replay", file],
    "compare": lambda file, out: ["compare", file, file],
    "drill": lambda file, out: ["drill", file],
}
#: A process that runs a command several times. It prints the user CPU seconds of each run, and the peak after
#: the first in bytes. Where the input is refused (exit code 2) the command has nothing to do.
CHILD = """
import contextlib, json, os, re, resource, sys
from pathlib import Path
from rexmit.cli import main
runs, words = int(sys.argv[1]), sys.argv[2:]
took, code, peak, out = [], 0, 0, sys.stdout
for k in range(runs):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        kept = os.dup(1)
        os.dup2(nothing.fileno(), 1)
        code = main([word.replace("{run}", str(k)) for word in words])
        os.dup2(kept, 1)
        os.close(kept)
    use = resource.getrusage(resource.RUSAGE_SELF)
    took.append(use.ru_utime - before)
    # Not ru_maxrss, which begins with that of the process that started this one.
    peak = peak or int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024
print(json.dumps([code, took, peak]), file=out)
"""


class Missing(Exception):
    """Something to run is not there; the message says what."""


class Nothing(Exception):
    """A program refused its input: there is nothing in it for this work."""


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The exponent with which a cost grows with the size, fitted on logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(max(cost, 1e-9)) for cost in costs]
    return statistics.linear_regression(x, y).slope


def limited(line: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a program. Raises TimeoutError if it uses too much CPU time."""
    words = ["sh", "-c", f'ulimit -t {PATIENCE_S} && exec "$@"', "sh", *line]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise TimeoutError
    return done


# The core


def built() -> Path:
    """The folder of the core's programs. Raises Missing."""
    for package, example in (("rexmit-results", "cost"), ("rexmit-drill", "drill")):
        line = ["cargo", "build", "--quiet", "--profile", "local", "-p", package, "--example", example]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Missing(f"{example} does not build: {' '.join(done.stderr.split())[-300:]}")
    return ROOT / TARGET / "local" / "examples"


def instructions(words: Sequence[str]) -> int | None:
    """The instructions of a program; None if it takes too long or fails. Raises Nothing if its input holds
    nothing to do.
    """
    try:
        done = limited([*CALLGRIND, *words])
    except TimeoutError:
        return None
    if done.returncode == 2:
        raise Nothing
    return counted_instructions(done.stderr) if done.returncode in (0, 1) else None


def core(name: str, shape: str, sizes: Sequence[int], programs: Path, folder: Path) -> dict:
    """The row of one work of the core on one shape."""
    counts: list[int] = []
    program, *start = ["drill", "linux-6-cubic"] if name == "drill" else ["cost", "nothing"]
    nothing = instructions([str(programs / program), *start]) or 0
    for size in sizes:
        if name == "drill":
            words = ["drill", "linux-6-cubic", str(written(shape, size, folder))]
        else:
            words = CORE[name](str(written(shape, size, folder)))
        try:
            counted = instructions([str(programs / words[0]), *words[1:]])
        except Nothing:
            told = {"part": "core", "what": name, "shape": shape, "sizes": list(sizes), "bar": CORE_BAR}
            return told | {"slope": None, "met": True, "why": NOTHING}
        if counted is None:
            break
        counts.append(counted - nothing)
    told = {"part": "core", "what": name, "shape": shape, "sizes": list(sizes), "costs": counts}
    if len(counts) < len(sizes):
        return told | {"slope": None, "bar": CORE_BAR, "met": False, "why": "too long, or it failed"}
    found = slope(sizes, counts)
    return told | {"slope": round(found, 3), "bar": CORE_BAR, "met": found <= CORE_BAR}


# Commands


def ran(words: Sequence[str], runs: int) -> tuple[int, float, int] | None:
    """Exit code, the least CPU time of a run, and the peak; None for what takes too long or dies."""
    line = [sys.executable, "-c", CHILD, str(runs), *words]
    try:
        code, took, peak = json.loads(limited(line).stdout.splitlines()[-1])
    except (TimeoutError, IndexError, ValueError):
        return None
    return code, min(took), peak


def command(name: str, shape: str, sizes: Sequence[int], folder: Path) -> dict:
    """The row of one command on one shape."""
    told: dict = {"part": "python", "what": name, "shape": shape, "sizes": list(sizes), "bar": PYTHON_BAR}
    costs: list[float] = []
    peak = room = 0
    for size in sizes:
        file = written(shape, size, folder)
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        found = ran(COMMANDS[name](str(file), str(out)), RUNS)
        if found is not None and found[0] == 2:
            return told | {"slope": None, "met": True, "why": NOTHING}
        if found is None or found[0] not in (0, 1):
            return told | {"slope": None, "met": False, "why": f"too long, or it failed, at {size:,}"}
        costs.append(found[1])
        peak, room = found[2], TIMES_INPUT * file.stat().st_size + BESIDES
    grown = math.log(max(costs[1], LEAST_S) / max(costs[0], LEAST_S)) / math.log(sizes[1] / sizes[0])
    told |= {"costs": [round(cost, 3) for cost in costs], "slope": round(grown, 3)}
    told |= {"peak_mib": peak >> 20, "peak_bar_mib": room >> 20}
    return told | {"met": grown <= PYTHON_BAR and peak <= room}


def written(shape: str, size: int, folder: Path) -> Path:
    """The capture, or script, of a shape; made once."""
    path = folder / f"{shape}.{size}.{'pkt' if shape == 'script' else 'pcap'}"
    if not path.exists():
        if shape == "script":
            path.write_text(shapes.script(size))
        else:
            shapes.write(shape, size, path)
    return path


def said(row: dict) -> str:
    """A row as a line of the table."""
    found = "   –  " if row["slope"] is None else f"{row['slope']:6.2f}"
    line = f"{row['part']:6} {row['what']:17} {row['shape']:25} slope {found}"
    if "peak_mib" in row:
        line += f"  {row['costs'][-1]:7.2f} s  {row['peak_mib']:5d} of {row['peak_bar_mib']} MiB"
    elif row.get("costs"):
        line += (
            f"  {row['costs'][-1] / row['sizes'][len(row['costs']) - 1] / 1000:8.1f} k instructions a packet"
        )
    return line + ("" if row["met"] else "  MISSED") + (f"  ({row['why']})" if "why" in row else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worst", action="store_true", help="only the five worst shapes, in the core")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="parts and commands whose name begins so")
    parser.add_argument("--shape", nargs="+", metavar="NAME", help="these shapes")
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "cost.json")
    args = parser.parse_args()
    chosen = args.shape or list(shapes.SHAPES)
    if unknown := [name for name in chosen if name not in (*shapes.SHAPES, "script")]:
        print(f"benches/cost.py: {unknown[0]} is no shape: {', '.join(shapes.SHAPES)}", file=sys.stderr)
        return 2

    def wanted(part: str, name: str) -> bool:
        return not args.only or any(f"{part} {name}".startswith(o) or name.startswith(o) for o in args.only)

    captures = [shape for shape in chosen if shape != "script"]
    works = [("core", name, shape) for name in CORE for shape in captures]
    works += [("python", name, shape) for name in COMMANDS if name != "drill" for shape in captures]
    if not args.shape or "script" in args.shape:
        works += [("core", "drill", "script"), ("python", "drill", "script")]
    works = [work for work in works if wanted(*work[:2])]
    if args.worst:
        works = [("core", *work) for work in WORST]
    programs = None
    if any(part == "core" for part, _, _ in works):
        if shutil.which("valgrind") is None:
            print("skipped: the cost of the core, which needs valgrind (apt-get install valgrind)")
            works = [work for work in works if work[0] != "core"]
        else:
            try:
                programs = built()
            except Missing as missing:
                print(f"benches/cost.py: {missing}", file=sys.stderr)
                return 2
    sizes = WORST_SIZES if args.worst else CORE_SIZES
    rows = []
    with tempfile.TemporaryDirectory(prefix="rexmit-cost-") as scratch:
        folder = Path(scratch)
        for part, name, shape in works:
            if part == "core" and programs is not None:
                row = core(name, shape, sizes, programs, folder)
            else:
                row = command(name, shape, PYTHON_SIZES, folder)
            rows.append(row)
            print(said(row), flush=True)
    missed = [row for row in rows if not row["met"]]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{len(rows) - len(missed)} of {len(rows)} meet their bars; written to {os.path.relpath(args.out)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
