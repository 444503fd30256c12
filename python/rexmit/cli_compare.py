"""`rexmit compare RUN RUN`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
from typing import Any

from rexmit.cli_run import pair, seed

COMPARE = """\
Lays two runs side by side: where the time went, bursts of losses and episodes matched, sequence graphs over
each other. A run is a scenario file (simulated), a folder that rexmit run --out wrote (simulated or live),
or a capture.
"""
COMPARE_EXAMPLES = """\
examples:
  rexmit compare runs/sim runs/live                               simulated against live
  rexmit compare x.toml x.toml --second-set flow.up.stack=rfc-sack   stack against stack
  rexmit compare x.toml upload.pcap --out differences             a simulation against a capture, drawn

exit codes: 0 an answer, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    c = commands.add_parser(
        "compare",
        help="two runs side by side: episodes matched, sequence graphs over each other",
        description=COMPARE,
        epilog=COMPARE_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    c.add_argument("first", metavar="RUN", help="a scenario file, a folder of a run, or a capture")
    c.add_argument("second", metavar="RUN", help="the other")
    for which in ("first", "second"):
        c.add_argument(
            f"--{which}-set",
            type=pair,
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help=f"override one key of the {which}'s scenario; repeatable",
        )
        c.add_argument(f"--{which}-seed", type=seed, metavar="N", help=f"the {which}'s seed")
    c.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/json.md)")
    c.add_argument("--out", metavar="DIR", help="write comparison.json and the figure into this folder")
    c.add_argument("--figures", choices=("png", "svg", "pdf"), default="png", help="format of the figure")


def compare(o: argparse.Namespace) -> list[str]:
    """`rexmit compare`: the lines to print."""
    import json

    from rexmit import beside

    runs = [
        beside.opened(getattr(o, which), dict(getattr(o, f"{which}_set")), getattr(o, f"{which}_seed"))
        for which in ("first", "second")
    ]
    found = beside.compare(*runs)
    text = json.dumps(found.as_json(), indent=1)
    lines = text.splitlines() if o.json else found.page().splitlines()
    if o.out:
        os.makedirs(o.out, exist_ok=True)
        with open(os.path.join(o.out, "comparison.json"), "w", encoding="utf-8") as file:
            file.write(text + "\n")
        drawn = found.figure().save(os.path.join(o.out, f"side-by-side.{o.figures}"))
        if not o.json:
            lines += ["", f"wrote {drawn} and {os.path.join(o.out, 'comparison.json')}"]
    return lines
