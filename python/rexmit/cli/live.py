"""`rexmit live`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
from typing import Any

from rexmit.cli.ending import ANSWER, FAILED
from rexmit.cli.shown import show


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    c = commands.add_parser(
        "live",
        help="the live bench: what this machine can do, and what killed runs left",
        description="check: what this machine can do for runs with --bench live, what is missing, and the "
        "fix. clean: removes network namespaces that runs which were killed have left.",
        formatter_class=argparse.HelpFormatter,
    )
    c.add_argument("what", choices=("check", "clean"), help="which")
    c.add_argument("--json", action="store_true", help="as JSON")


def run(o: argparse.Namespace) -> int:
    """Shows what was found; the exit code says whether all is well."""
    import json

    from rexmit.running import bench

    if o.what == "check":
        found = bench.check()
        well = all(f["fix"] is None or not f["needed"] for f in found)
        show([json.dumps(found, indent=1)] if o.json else bench.check_page(found))
    else:
        removed = bench.clean()
        well = not removed["left"]
        show([json.dumps(removed, indent=1)] if o.json else bench.clean_page(removed))
    return ANSWER if well else FAILED
