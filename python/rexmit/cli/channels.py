"""`rexmit channels`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Any

from rexmit.cli.ending import ANSWER
from rexmit.cli.shown import show


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    c = commands.add_parser("channels", help="the channels and queues that links can have")
    c.add_argument("--json", action="store_true", help="as JSON")


def run(o: argparse.Namespace) -> int:
    """Shows them."""
    import json

    from rexmit import _core
    from rexmit.screen import run_page

    text = _core.channels()
    show([text] if o.json else run_page.kinds(json.loads(text)))
    return ANSWER
