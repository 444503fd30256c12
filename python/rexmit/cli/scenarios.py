"""`rexmit scenarios`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Any

from rexmit.cli.ending import ANSWER
from rexmit.cli.shown import show

ABOUT = """\
The scenarios that ship with rexmit: rexmit run NAME simulates one. With a name, the text of that scenario, as
a start for one of your own: rexmit scenarios interruption > mine.toml
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    s = commands.add_parser(
        "scenarios", help="the scenarios that ship, for rexmit run NAME", description=ABOUT
    )
    s.add_argument("name", nargs="?", help="the text of this one")
    s.add_argument("--json", action="store_true", help="their names and what they are, as JSON")


def run(o: argparse.Namespace) -> int:
    """Shows all scenarios, or the text of one."""
    from rexmit.running import shipped
    from rexmit.screen.run_page import scenarios
    from rexmit.screen.say import as_json

    if o.name:
        text = shipped.scenario(o.name).read_text(encoding="utf-8")
        show([as_json({"name": o.name, "text": text})] if o.json else text.splitlines())
        return ANSWER
    listed = [{"name": name, "about": shipped.about(name)} for name in shipped.names()]
    show([as_json(listed)] if o.json else scenarios(listed))
    return ANSWER
