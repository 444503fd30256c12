#!/usr/bin/env python3
"""Public cases with a truth beside them: is the cause of each right?

    .venv/bin/python validation/cases.py FOLDER

FOLDER holds captures and TRUTH.csv with the columns `file` (without .pcap), `cause` and `also accepted`
(causes, separated by semicolons). Of each capture the connection in which most time was owed counts. Exit
code 1 if a *known* answer is wrong.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import rexmit as rx


def main(folder: Path) -> int:
    """Prints what is said of each case, and how many are right."""
    right, rows, known_wrong = 0, list(csv.DictReader((folder / "TRUTH.csv").open())), 0
    for row in rows:
        capture = rx.capture(str(folder / f"{row['file']}.pcap"))
        answers = [flow["answer"] for flow in capture.overview(32)["flows"] if flow["answer"]]
        answer = max(answers, key=lambda a: float(a["owed_s"]), default=None)
        cause = answer["cause"] if answer else "cannot-tell"
        accepted = {row["cause"], *(name.strip() for name in row["also accepted"].split(";"))}
        holds = cause in accepted
        right += holds
        sure = answer["certainty"] if answer else "open"
        known_wrong += not holds and sure == "known"
        print(f"{'right' if holds else 'wrong':6} {row['file']:32} {row['cause']:22} said {sure}: {cause}")
    print(f"{right} of {len(rows)} right, {known_wrong} known and wrong")
    return int(known_wrong > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
