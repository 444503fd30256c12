"""A program, run several times: CPU time, memory, what it printed; and how a figure stands in bench.json."""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
DATA = ROOT / "target" / "bench-data"
#: What `make release` learnt (profile.py), and where it builds with it.
PROFILE = (ROOT / TARGET) / "profile" / "rexmit.profdata"
FAST = PROFILE.parent / "fast"
#: Put before a command: callgrind counts its instructions.
CALLGRIND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
#: Built with counters, from the counts, and plain: always by this command.
SIMULATE = ["cargo", "build", "--quiet", "--release", "-p", "rexmit-benches", "--bin", "simulate"]


@dataclass(frozen=True)
class Run:
    cpu_s: float  # user plus system of the whole process, its start included
    wall_s: float
    peak_mib: float


@dataclass
class Program:
    """One command on one case, and how its runs went."""

    name: str
    command: list[str]
    packets: int  # what it works through; of a simulator that is known when it has run
    runs: list[Run] = field(default_factory=list)
    failed: str | None = None
    keeps_output: bool = False
    printed: str = ""

    def run(self) -> None:
        if self.failed:
            return
        began = time.monotonic()
        with tempfile.TemporaryFile("w+") as kept:
            out = kept if self.keeps_output else subprocess.DEVNULL
            with subprocess.Popen(
                self.command, stdout=out, stderr=subprocess.PIPE, cwd=DATA, text=True
            ) as child:
                assert child.stderr is not None
                said = child.stderr.read()
                # wait4 gives this child's own use, its own children included.
                _, status, use = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            kept.seek(0)
            self.printed = kept.read()
        if child.returncode != 0:
            last = said.strip().splitlines()[-1:] or ["nothing said"]
            self.failed = f"exit code {child.returncode}: {last[0]}"
            return
        peak = use.ru_maxrss / 1024
        self.runs.append(Run(use.ru_utime + use.ru_stime, time.monotonic() - began, peak))

    @property
    def ran(self) -> bool:
        return bool(self.runs) and not self.failed

    @property
    def best_rate(self) -> float:
        return self.packets / min(r.cpu_s for r in self.runs)

    @property
    def median_rate(self) -> float:
        return self.packets / statistics.median(r.cpu_s for r in self.runs)

    @property
    def peak_mib(self) -> float:
        return max(r.peak_mib for r in self.runs)


def counted_instructions(stderr: str) -> int | None:
    """The number of instructions in callgrind's standard error; None if callgrind printed no number."""
    found = re.search(r"Collected : (\d+)", stderr)
    return int(found[1]) if found else None


def add_rexmit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rexmit", type=Path, default=ROOT / ".venv" / "bin" / "rexmit", help="what to measure"
    )


def is_there(rexmit: Path, script: str) -> bool:
    """Whether there is something to measure; a line says how to make it if not."""
    if not rexmit.exists():
        print(f"benches/{script}: {rexmit} is not there; make build makes it", file=sys.stderr)
    return rexmit.exists()


def in_turns(programs: list[Program], runs: int) -> None:
    for turn in range(runs):
        for p in programs:
            # A peer that takes long is run twice: its spread is far below its distance.
            if turn < 2 or (p.runs and p.runs[0].cpu_s < 5):
                p.run()


def build(package: str, what: list[str], binary: str) -> Path | None:
    """Builds one binary in release mode; None if it does not exist (yet) or does not build."""
    command = ["cargo", "build", "--quiet", "--release", "-p", package, *what]
    return build_by(command, ROOT / TARGET, binary)


def build_by(command: list[str], target: Path, binary: str, flags: str | None = None) -> Path | None:
    env = os.environ | {"CARGO_TARGET_DIR": str(target)} | ({"RUSTFLAGS": flags} if flags else {})
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        print(f"note: {binary} was not built: {done.stderr.strip().splitlines()[:1]}", file=sys.stderr)
        return None
    return target / "release" / binary


def build_with_profile(command: list[str], binary: str) -> Path | None:
    """The same as `make release` builds it; None, and a note, if that was never run."""
    if not PROFILE.exists():
        print(f"note: {binary} is measured as wheels are built; after `make release` as that builds, too")
        return None
    return build_by(command, FAST, binary, f"-Cprofile-use={PROFILE}")


def build_of(rexmit: Path) -> str:
    """How the extension of this `rexmit` was built: "release", "release, profiled", "local" or "dev"."""
    ask = "from rexmit import _core; print(_core.__build__)"
    command = [str(rexmit.parent / "python"), "-c", ask]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def row(
    name: str, value: float, unit: str, peer: str | None, peer_value: float | None, ratio: float | None
) -> dict:
    rounded = None if ratio is None else round(ratio, 3)
    return {
        "name": name,
        "value": round(value, 1),
        "unit": unit,
        "peer": peer,
        "peer_value": None if peer_value is None else round(peer_value, 1),
        "ratio": rounded,
    }


def or_skipped(name: str, bench: Callable[[], list[dict]]) -> list[dict]:
    """The rows of a benchmark; none, and a line, if a package that it needs is not installed."""
    try:
        return bench()
    except ModuleNotFoundError as error:
        print(f"\n{name}: skipped, because {error.name} is not installed")
        return []


def mark(met: bool) -> str:
    return "met" if met else "MISSED"
