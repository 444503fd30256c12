"""Instructions that a packet costs: `rexmit analyze --json --threads 1` beside `tcptrace -l`, by callgrind.

    python benches/instructions.py [--out FILE] [--rexmit PATH]

The instructions for a capture of 200,000 packets less those for its kind with 20,000, divided by 180,000:
starting up is subtracted. A count does not depend on what else the machine does, so that a change of one in a
hundred is seen. It needs valgrind; a tool that is not installed is left out with a line.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench import capture
from measure import CALLGRIND, DATA, ROOT, TARGET, add_rexmit, build_of, counted_instructions, is_there

FEW, MANY = 20_000, 200_000
#: Kinds of `make_captures`, and what they are.
KINDS = {"one-flow": "one clean flow", "flows-240-10": "240 flows, a tenth lost"}
#: No more than these, of a build with the profile `local`: what was measured, and one to two per cent more.
BARS = {"one-flow": 1_300, "flows-240-10": 3_100}

MAKE_CAPTURES = [
    *("cargo", "build", "--quiet", "--profile", "local"),
    *("-p", "rexmit-benches", "--bin", "make_captures"),
]


def instructions(command: list[str]) -> int:
    """The instructions of one run. Raises RuntimeError if it fails."""
    done = subprocess.run(
        [*CALLGRIND, *command], check=False, capture_output=True, text=True, cwd=DATA, errors="replace"
    )
    count = counted_instructions(done.stderr)
    if done.returncode != 0 or count is None:
        last = done.stderr.strip().splitlines()[-1:]
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {last}")
    return count


def tools(rexmit: Path) -> dict[str, list[str]]:
    """Each tool's command, but for the capture's name at its end."""
    asked = {"rexmit": [str(rexmit.parent / "python"), "-m", "rexmit", "analyze", "--json", "--threads", "1"]}
    if shutil.which("tcptrace"):
        asked["tcptrace -l"] = ["tcptrace", "-n", "-l"]
    else:
        print("tcptrace is not installed: skipped")
    return asked


def per_packet(maker: Path, kind: str, command: list[str]) -> float:
    few, many = (instructions([*command, str(capture(maker, kind, n))]) for n in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    add_rexmit(parser)
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "instructions.json")
    args = parser.parse_args()
    args.rexmit = args.rexmit.absolute()
    if not is_there(args.rexmit, "instructions.py"):
        return 2
    if not shutil.which("valgrind"):
        print("valgrind is not installed: skipped")
        return 0
    DATA.mkdir(parents=True, exist_ok=True)
    subprocess.run(MAKE_CAPTURES, check=True, cwd=ROOT)
    maker = ROOT / TARGET / "local" / "make_captures"
    built = build_of(args.rexmit)
    asked = tools(args.rexmit)
    for kind in KINDS:
        for packets in (FEW, MANY):
            capture(maker, kind, packets)
    with ThreadPoolExecutor(2) as pool:
        pairs = [(kind, tool) for kind in KINDS for tool in asked]
        counts = dict(
            zip(pairs, pool.map(lambda p: per_packet(maker, p[0], asked[p[1]]), pairs), strict=True)
        )
    over = []
    print(f"instructions a packet, of a build of profile {built}")
    for kind, name in KINDS.items():
        own = counts[kind, "rexmit"]
        peers = "".join(
            f", {tool} {n:,.0f}" for (k, tool), n in counts.items() if k == kind and tool != "rexmit"
        )
        print(f"{name:24} rexmit {own:,.0f} (bar {BARS[kind]:,}){peers}")
        if own > BARS[kind]:
            over.append(name)
    args.out.write_text(
        json.dumps({f"{kind}, {tool}": round(n) for (kind, tool), n in counts.items()}) + "\n"
    )
    if over and built == "local":
        print(f"more than the bar: {', '.join(over)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
