"""What the fuzzers in Python have in common: rounds from a seed, limits of each execution, a report.

A round is a pure function of the seed and its number: it builds a folder of hostile files and executes some
calls on it. `--round N` repeats one, and says each call as it is made.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import random
import resource
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: An execution that is not over after so long ends the program, s.
HANGS_S = 120.0
#: And a round, whose executions are many.
ROUND_HANGS_S = 3600.0
#: Faults that are shown whole.
SHOWN = 20
MB = 1_000_000


class FaultError(Exception):
    """What an execution did that it must not do: its kind, and the details."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


@dataclass
class Limits:
    """What one execution may take."""

    #: Of the clock, and of processors; both have to be over, as the machine may be busy.
    seconds: float
    cpu_seconds: float
    #: Bytes on top of what the process had when the round began.
    memory: int


@dataclass
class Target:
    """What is fuzzed. `play` executes one round: it takes random numbers, an empty folder and the run."""

    name: str
    play: Callable[[random.Random, Path, Run], None]
    limits: Limits
    #: The package whose line coverage `--coverage` measures.
    package: str


@dataclass
class Run:
    """The executions of a target, and what they did wrong."""

    target: Target
    options: argparse.Namespace
    executions: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0.0
    most_memory: int = 0
    _round: int = 0
    _now: tuple[str, float] | None = None
    _resident: int = 0

    @contextlib.contextmanager
    def execution(self, what: str) -> Iterator[None]:
        """One execution. Whatever it raises, and a limit that it exceeds, is a fault."""
        if self.options.round is not None:
            print(what[:2000], flush=True)
        self.executions += 1
        began, cpu = time.monotonic(), time.process_time()
        self._now = what, began
        try:
            yield
        except FaultError as fault:
            self._tell(fault.kind, what, str(fault))
        except (Exception, SystemExit):
            self._tell("traceback", what, traceback.format_exc())
        finally:
            self._now = None
        seconds, used = time.monotonic() - began, time.process_time() - cpu
        grown = peak() - self._resident
        self.longest_s, self.most_memory = max(self.longest_s, seconds), max(self.most_memory, grown)
        limits = self.target.limits
        if seconds > limits.seconds and used > limits.cpu_seconds:
            self._tell("limit", what, f"{seconds:.1f} s, of processors {used:.1f} s")
        if grown > limits.memory:
            self._tell("limit", what, f"{grown / MB:,.0f} MB more than when the round began")
            self._resident += grown

    def _tell(self, kind: str, what: str, detail: str) -> None:
        self.faults[kind] += 1
        if self.faults.total() <= SHOWN:
            again = f"--seed {self.options.seed} --round {self._round}"
            print(
                f"FAULT ({kind}), again with {again}\n  {what[:2000]}\n{detail}", file=sys.stderr, flush=True
            )

    def go(self) -> int:
        """Rounds until the time or the executions are over; returns the exit code."""
        threading.Thread(target=self._guard, daemon=True).start()
        began = told = time.monotonic()
        ends = began + (self.options.seconds or float("inf"))
        first = self.options.round if self.options.round is not None else 0
        for number in range(first, sys.maxsize):
            self._round = number
            # For what holds the interpreter and never ends.
            faulthandler.dump_traceback_later(ROUND_HANGS_S, exit=True)
            self._resident = forget_peak()
            with scratch() as folder:
                self.target.play(random.Random(f"{self.options.seed}:{number}"), folder, self)
            now = time.monotonic()
            if self.options.round is not None or now >= ends or self.executions >= self.options.runs:
                break
            if now - told > 60:
                told = now
                print(f"{self.summary(now - began)}; next round {number + 1}", flush=True)
        print(self.summary(time.monotonic() - began), flush=True)
        return 1 if self.faults else 0

    def summary(self, seconds: float) -> str:
        """What was executed, and how it came out."""
        ends = ", ".join(f"{n:,} {what}" for what, n in sorted(self.outcomes.items()))
        name, seed, found = self.target.name, self.options.seed, self.faults
        return (
            f"{name}: {self.executions:,} executions in {seconds:.0f} s from seed {seed} ({ends}): "
            f"{found['traceback']} tracebacks, {found['limit']} limits exceeded, "
            f"{found['outside']} times outside, {found['answer']} bad answers; the longest took "
            f"{self.longest_s:.1f} s, the largest {self.most_memory / MB:,.0f} MB"
        )

    def _guard(self) -> None:
        """Ends the program when an execution hangs."""
        while True:
            time.sleep(1)
            now = self._now
            if now is not None and time.monotonic() - now[1] > HANGS_S:
                self._tell("limit", now[0], f"hangs: not over after {HANGS_S:g} s")
                faulthandler.dump_traceback()
                os._exit(1)


def main(target: Target, about: str | None) -> int:
    """The command line of a fuzzer; returns the exit code: 1 after a fault."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long")
    parser.add_argument("--runs", type=int, default=sys.maxsize, metavar="N", help="stop after so many")
    parser.add_argument("--round", type=int, metavar="N", help="only this round, call by call")
    parser.add_argument("--coverage", action="store_true", help=f"show the line coverage of {target.package}")
    options = parser.parse_args()
    if options.seconds is None and options.runs == sys.maxsize and options.round is None:
        parser.error("say how long: --seconds, --runs or --round")
    # Whatever asks for more gets an error, and the machine lives.
    most = 8 << 30
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return Run(target, options).go()


@contextlib.contextmanager
def covered(package: str) -> Iterator[None]:
    """Measures lines if the command line says so. Around everything, imports of the package included."""
    if "--coverage" not in sys.argv:
        yield
        return
    import coverage

    measured = coverage.Coverage(source=[package], data_file=None)
    measured.start()
    try:
        yield
    finally:
        measured.stop()
        measured.report(show_missing=True)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder, which goes afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="rexmit-fuzz-")).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def forget_peak() -> int:
    """Has Linux count the peak anew; returns the bytes that the process holds now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """The most bytes since `forget_peak`."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def mutated(rng: random.Random, text: bytes, words: tuple[bytes, ...] = ()) -> bytes:
    """Some bytes changed, cut out, doubled, or words put in."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((1, 1, 2, 4, 16, 200)))
        what = rng.randrange(6)
        if what == 0:
            text = text[:at] + bytes([rng.randrange(256)]) + text[at + 1 :]
        elif what == 1:
            text = text[:at] + text[to:]
        elif what == 2:
            text = text[:to] + text[at:to] * rng.choice((1, 1, 2, 100)) + text[to:]
        elif what == 3 and words:
            text = text[:at] + rng.choice(words) + text[rng.choice((at, to)) :]
        elif what == 4:
            other = rng.randrange(len(text) + 1)
            text = text[:at] + text[other : other + to - at] + text[to:]
        else:
            text = text[:at] + bytes(rng.randrange(256) for _ in range(to - at)) + text[to:]
    return text


def number(rng: random.Random) -> Any:
    """A number from where things go wrong."""
    whole = (
        0,
        1,
        -1,
        2,
        3,
        7,
        10,
        50,
        255,
        2**31 - 1,
        2**31,
        2**32,
        2**53,
        2**63 - 1,
        2**63,
        2**64,
        -(2**63),
        10**30,
    )
    other = (0.0, -0.0, 0.5, 1e-9, 1e-300, 1.7e308, 1e18, 4.2)
    return rng.choice(rng.choice((whole, whole, other)))
