"""`rexmit stacks`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Any

from rexmit.cli.ending import ANSWER
from rexmit.cli.shown import show


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    s = commands.add_parser("stacks", help="the stacks there are, and what one is made of")
    s.add_argument("name", nargs="?", metavar="NAME", help="a stack, or a stack file")
    s.add_argument("--json", action="store_true", help="as JSON")


def run(o: argparse.Namespace) -> int:
    """Shows all stacks, or one."""
    import json

    from rexmit import _core
    from rexmit.screen import run_page

    text = _core.stack(o.name) if o.name else _core.stacks()
    if o.json:
        show([text])
    else:
        found = json.loads(text)
        show(run_page.stack(found) if o.name else run_page.stacks(found))
    return ANSWER
