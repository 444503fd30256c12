"""Captures of real kernels against the stacks that model them: is each send what the stack would have sent?

    .venv/bin/python validation/replay.py CAPTURES... [--bar 98] [--rank]

CAPTURES are files taken at senders, or folders of them (`*.snd.pcap*`). The congestion control stands in
the name (cubic, reno, bbr) or is told by `--as NAME=CONTROL`. Prints a table: of each capture and of all,
the share of sends that are right in Open, Recovery and Loss, and over retransmissions, beside the share of a
sender that always sends the next new segment. Exit code 1 if a share of all is below the bar, or more than
2% are of no use.

--rank: each capture through every stack instead. Prints which comes first, which one its sender is said to be
like, and which are not told from it. Exit code 1 if one is said to be like another than it is.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import rexmit as rx
from rexmit.screen.text_table import aligned

STACKS = {"cubic": "linux-6-cubic", "reno": "linux-6-reno", "bbr": "linux-6-bbr"}
COLUMNS = ("open", "recovery", "loss", "retransmissions")
#: At most so many of a hundred sends may be of no use.
MOST_UNUSABLE = 2.0


def captures(named: list[str]) -> list[Path]:
    """The files, and those of the folders."""
    found: list[Path] = []
    for path in map(Path, named):
        found += sorted(path.glob("*.snd.pcap*")) if path.is_dir() else [path]
    return found


def control(path: Path, told: dict[str, str]) -> str | None:
    """The congestion control of a capture's sender."""
    for name, which in told.items():
        if path.name.startswith(name):
            return which
    return next((which for which in STACKS if which in path.name.lower()), None)


def row(name: str, counted: dict[str, Counter[str]], unusable: int) -> list[str]:
    """A line of the table."""
    cells = [name]
    for column in COLUMNS:
        n = counted[column]
        cells += [f"{n['sends']:,}", share(n, "right"), share(n, "null_right")]
    return [*cells, str(unusable)]


def share(n: Counter[str], key: str) -> str:
    return f"{100 * n[key] / n['sends']:.2f}" if n["sends"] else "-"


def replayed(path: Path, stack: str) -> dict[str, Any]:
    found: dict[str, Any] = rx.replay(path, stack, listed=0).to_dict()
    return found


def ranked(chosen: list[tuple[Path, str]]) -> int:
    """Which stack each capture's sender is like; how many are said to be like another than they are."""
    rows = [["", "is", "first", "right %", "like", "confidence", "not told from it"]]
    wrong = named = first = 0
    for path, stack in chosen:
        ranking = rx.rank_stacks(path)
        like = ranking.to_dict()["inference"]["stack"]
        best = ranking.to_dict()["ranking"][0]
        told, sure = (like["value"], f"{like['confidence']:.3f}") if like else ("-", "-")
        cells = [stack, best["stack"], share(Counter(best), "right"), told, sure]
        rows.append([path.name.split(".snd.pcap")[0], *cells, ", ".join(ranking.equals)])
        first += best["stack"] == stack
        named += like is not None
        wrong += like is not None and like["value"] != stack
    print("\n".join(aligned(rows, left={0, 1, 2, 4, 6})))
    print(f"first in {first} of {len(chosen)}; said to be like a stack: {named}, {wrong} of them wrong")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("captures", nargs="+")
    parser.add_argument("--bar", type=float, default=98.0, help="percent of each column (default 98)")
    parser.add_argument("--as", dest="told", action="append", default=[], metavar="NAME=CONTROL")
    parser.add_argument("--rank", action="store_true", help="which stack is each like?")
    options = parser.parse_args()
    told = dict(pair.split("=", 1) for pair in options.told)
    known = {name.stem for name in (Path(__file__).parents[1] / "stacks").glob("*.toml")}
    total = {column: Counter[str]() for column in COLUMNS}
    chosen: list[tuple[Path, str]] = []
    rows = [["", *(cell for column in COLUMNS for cell in (column, "right %", "new %")), "no use"]]
    unusable = 0
    for path in captures(options.captures):
        which = control(path, told)
        if which is None or STACKS[which] not in known:
            why = "no congestion control in its name" if which is None else f"{STACKS[which]} is not there"
            print(f"left out: {path.name}: {why}")
            continue
        chosen.append((path, STACKS[which]))
    if options.rank:
        return 1 if ranked(chosen) else 0
    for path, stack in chosen:
        found = replayed(path, stack)
        counted = {column: Counter(found["by_state"][column]) for column in COLUMNS}
        rows.append(row(path.name.split(".snd.pcap")[0], counted, found["unusable"]["sends"]))
        unusable += found["unusable"]["sends"]
        for column in COLUMNS:
            total[column].update(counted[column])
    rows.append(row("all", total, unusable))
    print("\n".join(aligned(rows)))
    sends = sum(total[column]["sends"] for column in COLUMNS[:3])
    below = [
        f"{column} {share(n, 'right')}%"
        for column, n in total.items()
        if n["sends"] and 100 * n["right"] / n["sends"] < options.bar
    ]
    if 100 * unusable > MOST_UNUSABLE * sends:
        below.append(f"{unusable} of {sends} of no use")
    print(
        f"below the bar of {options.bar:g}%: {', '.join(below)}" if below else f"all above {options.bar:g}%"
    )
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
