"""`rexmit drill`. What the command needs is imported when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rexmit.cli.ending import ANSWER, BAD_INPUT, FAILED
from rexmit.cli.shown import show
from rexmit.screen.say import as_json

DRILL = """\
Runs packetdrill scripts on one of rexmit's own stacks: no kernel, no root, and no time passes but the
script's. What a script needs and rexmit has not is named, and the script counts as unsupported.
"""
EXAMPLES = """\
examples:
  rexmit drill tlp.pkt --stack linux-6-cubic
  rexmit drill gtests/net/tcp/sack/*.pkt --stack linux-6-cubic --json

exit codes: 0 all passed, 1 some did not, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    d = commands.add_parser(
        "drill",
        help="packetdrill scripts, without kernel or root",
        description=DRILL,
        epilog=EXAMPLES,
    )
    d.add_argument("scripts", nargs="+", metavar="SCRIPT", help="a script in packetdrill's language")
    d.add_argument(
        "--stack",
        default="linux-6-cubic",
        metavar="NAME",
        help="a stack of rexmit stacks, or a stack file (default linux-6-cubic)",
    )
    d.add_argument("--json", action="store_true", help="the answer as a JSON list (docs/drill.md)")


def run(o: argparse.Namespace) -> int:
    """Plays the scripts, and shows how each ended."""
    from rexmit import _core

    answers, lines = [], []
    for name in o.scripts:
        result, why, line, ladder = _core.drill(_text(name), o.stack)
        malformed = result == "malformed"
        told = "fail" if malformed else result
        says = f"is no script: {why}" if malformed else why
        answers.append({"script": name, "result": told, "why": says, "line": line})
        place = f"{name}:{line}: {says}" if says else name
        lines.append(f"{told:<12} {place}")
        if result == "fail":
            lines += [*(f"    {row}" for row in ladder), ""]
    counts = {word: sum(a["result"] == word for a in answers) for word in ("pass", "fail", "unsupported")}
    bad = any((a["why"] or "").startswith("is no script") for a in answers)
    if len(answers) > 1:
        lines.append(", ".join(f"{n} {word}" for word, n in counts.items() if n))
    show([as_json(answers, 1)] if o.json else lines)
    if bad:
        return BAD_INPUT
    return ANSWER if counts["pass"] == len(answers) else FAILED


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: byte {error.start:,} is no UTF-8, which a script is written in") from None
