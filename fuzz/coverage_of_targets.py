#!/usr/bin/env python3
"""The line coverage that each fuzz target reaches in the crates of the workspace.

Builds the fuzzer with counters (-Cinstrument-coverage), executes inputs of each target, and prints for each
target the share of lines that were executed, crate by crate. Needs rustup's llvm-tools. Exit code: 1 if an
input stopped the fuzzer, 2 if something to run is missing.

  .venv/bin/python fuzz/coverage_of_targets.py --executions 3000
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve() / "fuzz-coverage"
FUZZER = TARGET / "fuzz" / "fuzz"
#: The crates that the inputs of each target go through.
CRATES = {
    "analyze": ("capture", "analysis", "results"),
    "pair": ("capture", "analysis", "results"),
    "replay": ("replay", "tcp"),
    "drill": ("drill", "tcp"),
    "scenario": ("scenario", "links", "net", "sim"),
    "stack": ("scenario", "tcp"),
}


def tool(name: str) -> Path:
    """A tool of the compiler's own version of LLVM."""
    asked = ["rustc", "--print", "target-libdir"]
    libdir = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    path = Path(libdir).parent / "bin" / name
    if not path.exists():
        print(f"{name} is not installed: rustup component add llvm-tools", file=sys.stderr)
        sys.exit(2)
    return path


def build() -> None:
    """Builds the fuzzer with counters; build scripts write their counts where nobody reads them."""
    environment = os.environ | {
        "RUSTFLAGS": "-Cinstrument-coverage",
        "CARGO_TARGET_DIR": str(TARGET),
        "LLVM_PROFILE_FILE": str(TARGET / "strays" / "%p.profraw"),
    }
    command = ["cargo", "build", "--quiet", "--package", "rexmit-fuzz", "--profile", "fuzz"]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)


def lines(target: str, seed: int, executions: int) -> dict[str, tuple[int, int]] | None:
    """Of each crate, the lines that the target executes, and all lines; None if an input stops the fuzzer,
    which says why.
    """
    raw, merged = TARGET / f"{target}.profraw", TARGET / f"{target}.profdata"
    environment = os.environ | {"LLVM_PROFILE_FILE": str(raw), "CARGO_TARGET_DIR": str(TARGET)}
    command = [str(FUZZER), target, "--seed", str(seed), "--executions", str(executions)]
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    if done.returncode:
        return None
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", raw, "-o", merged], check=True)
    export = [str(tool("llvm-cov")), "export", "-summary-only", f"-instr-profile={merged}", str(FUZZER)]
    told = json.loads(subprocess.run(export, check=True, capture_output=True).stdout)
    found: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for file in told["data"][0]["files"]:
        name = Path(file["filename"])
        if name.is_relative_to(ROOT / "crates"):
            crate, count = name.relative_to(ROOT / "crates").parts[0], file["summary"]["lines"]
            covered, all_of_it = found[crate]
            found[crate] = (covered + count["covered"], all_of_it + count["count"])
    return dict(found)


def main() -> int:
    """Prints a line for each target; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--executions", type=int, default=3000, metavar="N", help="of each target")
    options = parser.parse_args()
    tool("llvm-profdata")
    build()
    stopped = False
    for target, crates in CRATES.items():
        found = lines(target, options.seed, options.executions)
        if found is None:
            print(f"{target}: an input stopped the fuzzer, so its lines were not counted", flush=True)
            stopped = True
            continue
        shares = [f"{c} {100 * found[c][0] / found[c][1]:.1f}% of {found[c][1]:,}" for c in crates]
        print(f"{target}: lines after {options.executions:,} executions: {', '.join(shares)}", flush=True)
    return 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
