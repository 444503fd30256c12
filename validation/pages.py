"""Pages for a reader who has never seen rexmit: what was wrong with each transfer?

    .venv/bin/python validation/pages.py --seed 880088 --out pages

Twenty causes of `situations.py`, one kind of transfer for each, at the client or the server. `pages/01.txt`
and so on are what `rexmit analyze` prints; `truth.csv`, which the reader does not get, has the kind and what
the oracle says. The reader tells in own words what each transfer waited for, and names what contradicts
itself. The bar is 18 of 20.
"""

from __future__ import annotations

import argparse
import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import rexmit as rx
from situation import trial
from situation.kinds import KINDS

PAGES = 20
PLACES = ("client", "server")


def drawn(seed: int) -> list[tuple[str, str]]:
    """So many kinds, no two of the same cause where there are enough causes; each with its place."""
    draw = random.Random(seed)
    by_answer: dict[str, list[str]] = {}
    for kind in KINDS.values():
        by_answer.setdefault(kind.answer, []).append(kind.name)
    answers = draw.sample(sorted(by_answer), k=min(PAGES, len(by_answer)))
    return [(draw.choice(by_answer[answer]), draw.choice(PLACES)) for answer in answers]


def page(name: str, seed: int, place: str) -> str:
    """What `rexmit analyze` prints."""
    scenario = KINDS[name].drawn(seed).scenario(name, seed, {"capture": list(PLACES), "snap": "120B"})
    with tempfile.TemporaryDirectory() as folder:
        rx.run(scenario, captures=Path(folder))
        command = [sys.executable, "-m", "rexmit", "analyze", f"{place}.pcapng"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "truth.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["page", "kind", "seed", "place", "truth"])
        for number, (name, place) in enumerate(drawn(options.seed), 1):
            seed = options.seed + number
            (options.out / f"{number:02}.txt").write_text(page(name, seed, place))
            rows.writerow([number, name, seed, place, str(trial.truth(KINDS[name], seed))])
    print(f"{options.out}: {PAGES} pages and truth.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
