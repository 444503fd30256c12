"""Learns which ways through the code are hot, for `make release`.

Builds rexmit with counters, analyses captures and runs scenarios with it, and writes what was counted to
target/profile/rexmit.profdata. The compiler then lays the hot ways out straight (-Cprofile-use): the same
answers, sooner (docs/benchmarks.md). What is counted and what is built from the counts are made by the same
commands: a package of another feature has other names inside, and its counts would find nobody.

Needs rustup's llvm-tools. Exit code 2 says what is missing, or what was built and counted nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from measure import DATA, FAST, PROFILE, ROOT, SIMULATE

WORK = PROFILE.parent
RAW = WORK / "raw"
COUNTING = WORK / "counting"
PYTHON = Path(sys.executable)

#: Captures to learn from, and how many packets of each, beside the real ones that ship with the project.
CAPTURES = {"one-flow": 300_000, "one-flow-10": 500_000, "flows-240-10": 500_000, "short": 500_000}
CAPTURES |= {"short-open": 500_000}
#: Shares of the benchmark's scenarios.
SCENARIOS = {"one-flow": 0.03, "bursts-and-outages": 0.05, "flows-100": 0.05, "flows-10000": 0.05}


class Missing(Exception):
    """What is missing, in a sentence."""


def say(what: str) -> None:
    print(f"make release: {what}", file=sys.stderr)


def profdata() -> Path:
    """The tool that joins counts, of the compiler's own version; another one's may not read them."""
    asked = ["rustc", "--print", "target-libdir"]
    libdir = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    tool = Path(libdir).parent / "bin" / "llvm-profdata"
    if not tool.exists():
        raise Missing("llvm-profdata is not installed: rustup component add llvm-tools")
    return tool


def counting(what: str) -> dict[str, str]:
    """The environment in which something is built with counters, or runs and counts: a file for each process.

    What a build's own programs count (build scripts, macros) goes elsewhere.
    """
    flags = f"-Cprofile-generate={WORK / 'strays'}"
    return os.environ | {
        "RUSTFLAGS": flags,
        "CARGO_TARGET_DIR": str(COUNTING),
        "LLVM_PROFILE_FILE": str(RAW / f"{what}.%p.profraw"),
    }


def build(*command: str) -> None:
    env = counting("build") | {"LLVM_PROFILE_FILE": str(WORK / "strays" / "%p.profraw")}
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        raise Missing(f"{' '.join(command)} failed: {done.stderr.strip().splitlines()[-1:]}")


def run(what: str, *command: str | Path, package: Path | None = None) -> None:
    """One run that counts. What is refused (exit code 1 or 2) has counted what refusing takes."""
    env = counting(what) | ({"PYTHONPATH": str(package)} if package else {})
    done = subprocess.run(command, check=False, cwd=WORK, env=env, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 1, 2):
        raise Missing(f"{' '.join(map(str, command))} ended with {done.returncode}")


def learn_from_simulate() -> None:
    build(*SIMULATE)
    for name, share in SCENARIOS.items():
        scenario = ROOT / "benches" / "simulators" / f"{name}.toml"
        for more in ([], ["--record"]):
            run("simulate", COUNTING / "release" / "simulate", scenario, "--share", str(share), *more)


def learn_from_package() -> None:
    """The Python package with a counting extension, beside the one that is installed."""
    package = WORK / "package"
    for old in (package, WORK / "wheel"):
        shutil.rmtree(old, ignore_errors=True)
    maturin = str(PYTHON.parent / "maturin")
    build(maturin, "build", "--release", "--quiet", "--out", str(WORK / "wheel"))
    with zipfile.ZipFile(next((WORK / "wheel").glob("*.whl"))) as wheel:
        wheel.extractall(package)
    build("cargo", "build", "--quiet", "--release", "-p", "rexmit-benches", "--bin", "make_captures")
    captures = sorted((ROOT / "tests" / "data").rglob("*.pcap*"))
    for kind, packets in CAPTURES.items():
        path = DATA / f"{kind}.{packets}.learn.pcap"
        run("make", COUNTING / "release" / "make_captures", kind, str(packets), path)
        captures.append(path)
    rexmit = [PYTHON, "-m", "rexmit"]
    for path in captures:
        run("rexmit", *rexmit, "analyze", path, "--json", package=package)
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        if not path.name.startswith("live-"):
            run("rexmit", *rexmit, "run", path, "--json", package=package)


def join(tool: Path) -> None:
    for what in ("simulate", "rexmit"):
        if not any(RAW.glob(f"{what}.*.profraw")):
            raise Missing(f"{what} was built with counters and has written none")
    # Cargo does not see that what it built is of older counts.
    shutil.rmtree(FAST, ignore_errors=True)
    counts = [str(path) for path in sorted(RAW.glob("*.profraw"))]
    subprocess.run([tool, "merge", "-o", PROFILE, *counts], check=True)


def main() -> int:
    try:
        tool = profdata()
        shutil.rmtree(RAW, ignore_errors=True)
        for folder in (RAW, DATA, WORK / "strays"):
            folder.mkdir(parents=True, exist_ok=True)
        say("building and simulating with counters")
        learn_from_simulate()
        say("building and analysing with counters")
        learn_from_package()
        join(tool)
    except Missing as missing:
        say(str(missing))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
