"""packetdrill's own scripts on rexmit's stacks: how many pass, and that none passes wrongly.

    .venv/bin/python validation/drill.py FOLDER [FOLDER …] [--stack linux-6-cubic] [--mutate] [--all]
        [--kernel PACKETDRILL]

FOLDER: a checkout of google/packetdrill (its gtests/net/tcp), the kernel's
tools/testing/selftests/net/packetdrill, or any folder of scripts. Those of drill.toml count: equal ones once,
comments and the path of defaults.sh aside, and at least so many are to pass. All others are run and reported
with `--all`. `--mutate`: each expected packet and assertion of a script that passes is altered in turn, and
every alteration is to fail. `--kernel`: the same scripts on this machine's kernel, by packetdrill's own
program (root; each in a network namespace of its own, with 14 ms of tolerance). Exits 0 if the bar is
reached.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path

import drill_kernel
from rexmit import _core

LISTED = tomllib.loads((Path(__file__).parent / "drill.toml").read_text(encoding="utf-8"))


def digest(text: str) -> str:
    """Of what a script does: without comments, space and the path of what it begins with."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"[\w./]*/(\w+\.(?:sh|py))", r"\1", text)
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def scripts(folders: list[str]) -> dict[str, tuple[Path, str]]:
    """By digest; of equal ones the first."""
    found: dict[str, tuple[Path, str]] = {}
    for folder in folders:
        for path in sorted(Path(folder).rglob("*.pkt")):
            text = path.read_text(encoding="utf-8", errors="replace")
            found.setdefault(digest(text), (path, text))
    return found


def altered(text: str, stack: str) -> tuple[int, list[str]]:
    """How many alterations there are, and those that pass."""
    all_of_them = _core.drill_altered(text, stack)
    passed = [f"line {line}, {what}" for line, what, result in all_of_them if result != "fail"]
    return len(all_of_them), passed


def main() -> int:
    """Runs them."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folders", nargs="+", metavar="FOLDER")
    p.add_argument("--stack", default="linux-6-cubic")
    p.add_argument("--mutate", action="store_true")
    p.add_argument("--all", action="store_true")
    p.add_argument("--kernel", type=Path, metavar="PACKETDRILL")
    o = p.parse_args()
    found = scripts(o.folders)
    wanted = {entry["hash"]: entry["name"] for entry in LISTED["script"]}
    missing = [name for key, name in wanted.items() if key not in found]
    counts: Counter[str] = Counter()
    tried, wrongly = 0, []
    alike: list[bool] = []
    for key, name in wanted.items():
        if key not in found:
            continue
        path, text = found[key]
        result, why, line, _ = _core.drill(text, o.stack)
        counts[result] += 1
        if o.kernel:
            well, told = drill_kernel.passes(o.kernel, path, text)
            alike += [well == (result == "pass")] if result != "unsupported" else []
            print(f"{'kernel pass' if well else 'kernel fail':<12} {name}{'' if well else f': {told}'}")
        if why:
            print(f"{result:<12} {name}:{line}: {why}")
        if result == "pass" and o.mutate:
            n, passed = altered(text, o.stack)
            tried += n
            wrongly += [f"{name}: {what}" for what in passed]
    total = sum(counts.values())
    share = counts["pass"] / max(total, 1)
    print(f"{counts['pass']} of {total} pass ({share:.0%}, the bar is {LISTED['bar']:.0%}); {dict(counts)}")
    if missing:
        print(f"{len(missing)} are in none of these folders: {', '.join(missing)}")
    if o.kernel:
        print(f"this kernel and {o.stack} agree on {sum(alike)} of {len(alike)}")
    if o.mutate:
        print(f"{tried} alterations of those that pass, {len(wrongly)} of which pass")
        print(*(f"  {what}" for what in wrongly), sep="\n", end="")
    if o.all:
        rest(found, set(wanted), o.stack)
    return 0 if total and share >= LISTED["bar"] and not wrongly else 1


def rest(found: dict[str, tuple[Path, str]], but: set[str], stack: str) -> None:
    """All others, without a bar."""
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for key, (path, text) in found.items():
        if key in but:
            continue
        result, why, line, _ = _core.drill(text, stack)
        counts[result] += 1
        if result == "unsupported":
            reasons[why or ""] += 1
        elif result != "pass":
            print(f"{result:<12} {path.parent.name}/{path.name}:{line}: {why}")
    print(f"all others: {dict(counts)}; unsupported for:")
    print(*(f"{n:>5}  {why}" for why, n in reasons.most_common()), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
