"""Learns which ways through the code are hot, for `make fast`.

Builds rexmit with counters, analyses captures and runs scenarios with it, and writes what was counted to
target/profile/rexmit.profdata. The compiler then lays the hot ways out straight (-Cprofile-use): the same
answers, sooner (docs/benchmarks.md). Needs rustup's llvm-tools, which it installs if it may. Prints the path
of the profile; exit code 2 says what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from measure import DATA, PROFILE, ROOT

WORK = PROFILE.parent
RAW = WORK / "raw"
COUNTING = WORK / "counting"

#: Captures to learn from, and how many packets of each, beside the real ones that ship with the project.
CAPTURES = {"one-flow": 300_000, "one-flow-10": 500_000, "flows-240-10": 500_000, "short": 500_000}
CAPTURES |= {"short-open": 500_000}
#: Shares of the benchmark's scenarios.
SCENARIOS = {"one-flow": 0.03, "bursts-and-outages": 0.05, "flows-100": 0.05, "flows-10000": 0.05}


def say(what: str) -> None:
    print(f"make fast: {what}", file=sys.stderr)


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def profdata() -> Path | None:
    """The tool that joins counts, of the compiler's own version; another one's may not read them."""
    tool = Path(output("rustc", "--print", "target-libdir")).parent / "bin" / "llvm-profdata"
    if not tool.exists() and shutil.which("rustup"):
        subprocess.run(["rustup", "component", "add", "llvm-tools"], check=False, capture_output=True)
    return tool if tool.exists() else None


def build() -> Path:
    """The extension and the benchmark's programs, with counters."""
    env = os.environ | {"RUSTFLAGS": f"-Cprofile-generate={RAW}", "CARGO_TARGET_DIR": str(COUNTING)}
    base = ["cargo", "build", "--quiet", "--release"]
    subprocess.run(
        [*base, "-p", "rexmit-py", "--features", "python", "-p", "rexmit-benches"],
        check=True,
        cwd=ROOT,
        env=env,
    )
    return COUNTING / "release"


def package(built: Path) -> Path:
    """The Python package with the counting extension, beside the one that is installed."""
    whole = WORK / "package"
    shutil.rmtree(whole, ignore_errors=True)
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "python" / "rexmit", whole / "rexmit", ignore=ignored)
    shutil.copy(built / "lib_core.so", whole / "rexmit" / "_core.abi3.so")
    return whole


def learn(built: Path) -> None:
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": ROOT}
    env = os.environ | {"PYTHONPATH": str(package(built))}
    python = [str(ROOT / ".venv" / "bin" / "python"), "-m", "rexmit"]
    captures = sorted((ROOT / "tests" / "data").rglob("*.pcap*"))
    for kind, packets in CAPTURES.items():
        path = DATA / f"{kind}.{packets}.learn.pcap"
        if not path.exists():
            subprocess.run([built / "make_captures", kind, str(packets), path], **quiet)
        captures.append(path)
    for path in captures:
        subprocess.run([*python, "analyze", str(path), "--json"], env=env, **(quiet | {"check": False}))
    for name, share in SCENARIOS.items():
        scenario = ROOT / "benches" / "simulators" / f"{name}.toml"
        for more in ([], ["--record"]):
            subprocess.run([built / "simulate", scenario, "--share", str(share), *more], **quiet)
    for path in sorted((ROOT / "scenarios").glob("*.toml")):
        subprocess.run([*python, "run", str(path), "--json"], env=env, **(quiet | {"check": False}))


def main() -> int:
    tool = profdata()
    if tool is None:
        say("llvm-profdata is missing, and rustup could not install it: rustup component add llvm-tools")
        return 2
    shutil.rmtree(RAW, ignore_errors=True)
    RAW.mkdir(parents=True)
    DATA.mkdir(parents=True, exist_ok=True)
    say("building with counters")
    built = build()
    for stray in RAW.glob("*"):  # build scripts count too
        stray.unlink()
    say("analysing and simulating with them")
    learn(built)
    subprocess.run([tool, "merge", "-o", PROFILE, *sorted(RAW.glob("*.profraw"))], check=True)
    print(PROFILE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
