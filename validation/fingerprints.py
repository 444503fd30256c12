"""What rexmit answers, one hash a capture, scenario and study: builds that answer alike print the same lines.

    python validation/fingerprints.py > before.txt      # and after a change: diff before.txt after.txt

Captures: those of tests/data and of each folder named. Scenarios: all of scenarios/. Studies, in their
quick form, only with --studies (a minute).
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
CAPTURE = (".pcap", ".pcapng", ".cap", ".snoop", ".gz", ".xz", ".zst")
STUDIES = ("interruption", "ns3", "rto", "selfsimilar", "wireless")


def answer(*words: str) -> bytes:
    """What the command prints and how it ends."""
    command = [sys.executable, "-m", "rexmit", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    return b"%d\n%b%b" % (done.returncode, done.stdout, done.stderr)


def captures(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(p for p in folder.rglob("*") if p.is_file() and p.name.endswith(CAPTURE))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, help="captures besides those of tests/data")
    parser.add_argument("--studies", action="store_true", help="the studies, too")
    wanted = parser.parse_args()
    asked = [("analyze", str(p.relative_to(ROOT))) for p in captures([ROOT / "tests" / "data"])]
    asked += [("analyze", str(p.resolve())) for p in captures(wanted.folders)]
    asked += [("run", str(p.relative_to(ROOT))) for p in sorted((ROOT / "scenarios").glob("*.toml"))]
    for command, name in asked:
        for form in ("--json",), ():
            print(
                hashlib.sha256(answer(command, name, *form)).hexdigest()[:16],
                command,
                name,
                *form,
                flush=True,
            )
    if wanted.studies:
        for name in STUDIES:
            words = ("study", "run", name, "--quick", "--json")
            print(hashlib.sha256(answer(*words)).hexdigest()[:16], *words, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
