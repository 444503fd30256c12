#!/usr/bin/env python3
"""Captures of other projects: does rexmit read them, and does it see the repairs that tshark sees?

    .venv/bin/python validation/strangers.py FOLDER [--all]

Reads every capture below the folder, such as the tests of tcpdump (tests/*.pcap) and of Zeek
(testing/btest/Traces). A fault, an answer that takes longer than 10 s, or JSON that is none counts as wrong.
Then come the captures in which rexmit counts another number of segments that were sent again than tshark,
whose count holds those that it takes for reordered. Packets that were captured twice are no repairs to
rexmit, and may be to tshark.
`--all` lists the captures that agree, too. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from peers import run

ENDS = (".pcap", ".pcapng", ".cap", ".trace", ".snoop")
#: An answer about so small a capture takes no longer.
LONGEST_S = 10.0
LABELS = ("tcp.analysis.retransmission", "tcp.analysis.out_of_order")


def captures(folder: Path) -> list[Path]:
    """Every capture below a folder, compressed or not."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [path for path in files if path.name.removesuffix(".gz").endswith(ENDS)]


def analysed(path: Path) -> tuple[dict[str, Any] | None, str | None]:
    """The answer, if there is TCP in it; and what is wrong."""
    command = [sys.executable, "-m", "rexmit", "analyze", str(path), "--json", "--flows", "all"]
    begun = time.monotonic()
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    took = time.monotonic() - begun
    said = done.stderr.strip()
    if took > LONGEST_S:
        return None, f"took {took:.0f} s"
    if done.returncode not in (0, 2) or "a fault of rexmit" in said:
        return None, f"exit code {done.returncode}: {said}"
    if done.returncode == 2:
        return None, None if said.startswith("rexmit: ") else f"no sentence: {said}"
    try:
        return json.loads(done.stdout), None
    except ValueError as error:
        return None, f"no JSON: {error}"


def labelled(path: Path) -> int:
    """Packets that tshark calls a retransmission, or out of order."""
    wanted = " || ".join(LABELS)
    return len(
        run(["tshark", "-n", "-r", str(path), "-Y", wanted, "-T", "fields", "-e", "frame.number"]).split()
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="list those that agree, too")
    options = parser.parse_args()
    every = captures(options.folder)
    wrong, agree, with_tcp = 0, 0, 0
    for path in every:
        answer, why = analysed(path)
        if why:
            wrong += 1
            print(f"WRONG  {path.relative_to(options.folder)}: {why}")
        if answer is None:
            continue
        with_tcp += 1
        ours, theirs = answer["totals"]["retransmissions"]["packets"], labelled(path)
        twice = sum(flow["limits"].get("captured_twice", 0) for flow in answer["flows"])
        same = ours <= theirs <= ours + twice
        agree += same
        if not same or options.all:
            seen = f", {twice} captured twice" if twice else ""
            print(f"{ours:6} (tshark {theirs}{seen})  {path.relative_to(options.folder)}")
    print(f"{len(every)} captures, {wrong} wrong; {with_tcp} with TCP, repairs as tshark in {agree}")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
