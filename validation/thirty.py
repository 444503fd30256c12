#!/usr/bin/env python3
"""Thirty public captures and reports that rexmit had not seen when their truth was written down.

    .venv/bin/python validation/thirty.py FOLDER                what lacks in FOLDER, and where it is had
    .venv/bin/python validation/thirty.py FOLDER --rebuild      writes those that are rebuilt from a text
    .venv/bin/python validation/thirty.py FOLDER --score        rexmit's answers beside the truth
    .venv/bin/python validation/thirty.py FOLDER --score --answers FOLDER2
    .venv/bin/python validation/thirty.py FOLDER --list thirty_more --score
    .venv/bin/python validation/thirty.py FOLDER --list thirty_third --score

thirty.csv says of each where it comes from, which connection is meant, where it was taken, what held it up,
which other causes a careful engineer may name, for how many seconds, and what must not be said. A page for
each, thirty/NAME.md, argues it from the packets. Captures are not ours to pass on: they stay in a folder of
yours, and the list has their digests (of the file as it is kept, behind what `unpack` says).
With --list thirty_more the list is thirty_more.csv and its pages are thirty_more/NAME.md. thirty_third.csv
has captures only, no reports, and its column `why` stands in place of the pages.
With --answers no command runs: FOLDER2 holds NAME.json (`rexmit analyze --json`) and NAME.txt (the page).
An answer is right if its cause is the truth or among the accepted. Exit code 1 if fewer than 24 are right, if
one that is known is wrong, if a page says what it must not, or if anything lacks.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import reports
from reports.packets import Report, write

HERE = Path(__file__).parent
LIST = HERE / "thirty.csv"
#: The reports that each list rebuilds captures from.
REPORTS: dict[str, list[Report]] = {"thirty": reports.ALL, "thirty_more": reports.MORE, "thirty_third": []}
WANTED = 24
LARGE = 0.1
COUNTED = r"\b[1-9][\d,]*(?: of [\d,]+)? (?:data )?(?:segments?|packets?|copies|copy)(?: \w+){0,2}"
#: What `must_not_match` of several captures asks for, by name in braces.
PATTERNS = {
    "lost": rf"{COUNTED} lost\b|\bloss(?:es)? (?:held|cost|kept)",
    "resent": rf"{COUNTED} (?:resent|sent again|retransmitted)\b",
    "outage": r"(?<!no )\boutages?\b|\beverything vanish|\blink came back|\bwent dark",
    "closed": r"(?<!never )(?<!not )\bclosed (?:its|the) window|\b(?:does|did) not read\b|\breads? too slow",
    "nothing": r"shows no lost time|look at nothing|nothing to look at|nothing in particular",
}


@dataclass(frozen=True)
class Case:
    """One line of the list."""

    name: str
    #: One, or the sender's and the receiver's.
    files: list[str]
    digests: list[str]
    source: str
    commit: str
    paths: list[str]
    unpack: str
    connection: frozenset[str]
    cause: str
    accepted: frozenset[str]
    seconds: tuple[float, float] | None
    must_not_match: str

    @property
    def is_rebuilt(self) -> bool:
        return self.unpack == "rebuilt"

    def command(self, folder: Path) -> list[str]:
        names = [str(folder / name) for name in self.files]
        return names if len(names) == 1 else ["--sender", names[0], "--receiver", names[1]]


@dataclass(frozen=True)
class Verdict:
    """How an answer compares with the truth."""

    said: str | None
    certainty: str | None
    right: bool
    seconds: float | None
    seconds_right: bool | None
    #: Causes of at least a tenth that are known and not accepted: for a person to look at.
    also_known: list[str]
    forbidden: list[str]

    @property
    def known_and_false(self) -> bool:
        return not self.right and self.certainty == "known"


def parts(cell: str, by: str) -> list[str]:
    return [part.strip() for part in cell.split(by) if part.strip()]


def cases(path: Path = LIST) -> list[Case]:
    made = []
    with path.open(newline="") as lines:
        for row in csv.DictReader(lines):
            limits = row["seconds_from"], row["seconds_to"]
            made.append(
                Case(
                    row["name"],
                    parts(row["file"], " | "),
                    parts(row["sha256"], " | "),
                    row["source"],
                    row["commit"],
                    parts(row["path"], " | "),
                    "rebuilt" if row["path"] == "rebuilt" else row["unpack"],
                    frozenset(row["connection"].split()),
                    row["cause"],
                    frozenset({row["cause"], *parts(row["also_accepted"], ";")}),
                    (float(limits[0]), float(limits[1])) if limits[0] else None,
                    re.sub(r"\{([a-z]+)\}", lambda m: f"(?:{PATTERNS[m[1]]})", row["must_not_match"]),
                )
            )
    return made


def lacking(case: Case, folder: Path) -> list[str]:
    """What is not there, or is another file, and how it is had."""
    told = []
    for number, (name, digest) in enumerate(zip(case.files, case.digests, strict=True)):
        path = folder / name
        if path.exists():
            if hashlib.sha256(path.read_bytes()).hexdigest() == digest:
                continue
            told.append(f"{name} is another file: its SHA-256 is not {digest}")
        elif case.is_rebuilt:
            told.append(f"{name}: --rebuild writes it, of {case.source}")
        else:
            then = f", then {case.unpack}" if case.unpack else ""
            told.append(f"{name}: {case.source}, commit {case.commit}, {case.paths[number]}{then}")
    return told


def answer_of(case: Case, told: dict[str, Any]) -> dict[str, Any] | None:
    """The connection's answer: it stands on both of its flows, and the first is taken."""
    for flow in told.get("flows", []):
        if frozenset((flow.get("sender"), flow.get("receiver"))) == case.connection:
            answer = flow.get("answer")
            if isinstance(answer, dict):
                return answer
    return None


def judged(case: Case, told: dict[str, Any], page: str) -> Verdict:
    answer = answer_of(case, told) or {}
    said = answer.get("cause")
    rows = [row for row in answer.get("causes", []) if row.get("cause") == said]
    certainty = answer.get("certainty")
    taken = sum(float(row.get("seconds") or 0.0) for row in rows) if rows else None
    also_known = [
        str(row.get("cause"))
        for row in answer.get("causes", [])
        if row.get("certainty") == "known"
        and float(row.get("share") or 0.0) >= LARGE
        and row.get("cause") not in {said, *case.accepted}
    ]
    within = None
    if said == case.cause and case.seconds is not None and taken is not None:
        within = case.seconds[0] <= taken <= case.seconds[1]
    forbidden = []
    if case.must_not_match:
        # A sentence may be broken over lines of the terminal.
        text = re.sub(r"\s+", " ", page)
        forbidden = [found[0] for found in re.finditer(case.must_not_match, text, re.IGNORECASE)]
    return Verdict(said, certainty, said in case.accepted, taken, within, also_known, forbidden)


def ran(arguments: list[str]) -> str:
    command = [sys.executable, "-m", "rexmit", "analyze", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    if done.returncode:
        print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
    return done.stdout


def answers(case: Case, folder: Path, kept: Path | None) -> tuple[dict[str, Any], str]:
    """The JSON, empty if there is none, and the page."""
    if kept is None:
        at = case.command(folder)
        answer, page = ran([*at, "--json", "--flows", "all"]), ran(at)
    else:
        files = kept / f"{case.name}.json", kept / f"{case.name}.txt"
        answer, page = (path.read_text() if path.exists() else "" for path in files)
    try:
        told = json.loads(answer)
    except ValueError:
        return {}, page
    return told if isinstance(told, dict) else {}, page


def scored(every: list[Case], folder: Path, kept: Path | None) -> bool:
    """Prints a line for each, and the sums; whether they reach what is wanted."""
    verdicts = []
    for case in every:
        verdict = judged(case, *answers(case, folder, kept))
        verdicts.append(verdict)
        mark = "right" if verdict.right else "KNOWN AND WRONG" if verdict.known_and_false else "wrong"
        certainty = verdict.certainty or "no certainty"
        took = "" if verdict.seconds is None else f", {verdict.seconds:.3g} s"
        line = f"{mark:16}{case.name:24}{verdict.said or 'no answer'} ({certainty}{took})"
        if verdict.said != case.cause:
            line += f"; truth: {case.cause}"
        if verdict.seconds_right is False and case.seconds is not None:
            line += f"; not {case.seconds[0]:g} to {case.seconds[1]:g} s"
        if verdict.also_known:
            line += f"; known as well: {', '.join(verdict.also_known)}"
        print(line)
        for found in verdict.forbidden:
            print(f"{'':16}  says: {found}")
    right = sum(verdict.right for verdict in verdicts)
    false = sum(verdict.known_and_false for verdict in verdicts)
    said = sum(bool(verdict.forbidden) for verdict in verdicts)
    print(f"{right} of {len(verdicts)} right, {false} known and wrong, {said} pages say what they must not")
    return right >= WANTED and not false and not said


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the captures are")
    parser.add_argument("--rebuild", action="store_true", help="write what is rebuilt from reports")
    parser.add_argument("--list", choices=REPORTS, default=LIST.stem, help="the list to use")
    parser.add_argument("--score", action="store_true", help="compare rexmit's answers with the truth")
    parser.add_argument("--answers", type=Path, help="answers that were kept, instead of running rexmit")
    options = parser.parse_args(arguments)
    if options.rebuild:
        options.folder.mkdir(parents=True, exist_ok=True)
        for report in REPORTS[options.list]:
            write(report, options.folder)
    every = cases(HERE / f"{options.list}.csv")
    missing = [line for case in every for line in lacking(case, options.folder)]
    if options.answers is None or not options.score:
        for line in missing:
            print(f"lacks: {line}")
        if missing:
            return 1
    if not options.score:
        print(f"{len(every)} captures are there, and none is another file")
        return 0
    return 0 if scored(every, options.folder, options.answers) else 1


if __name__ == "__main__":
    sys.exit(main())
