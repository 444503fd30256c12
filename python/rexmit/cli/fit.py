"""`rexmit fit`. What a command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from rexmit.cli.ending import ANSWER, refuse
from rexmit.cli.shown import show
from rexmit.cli.values import positive

if TYPE_CHECKING:
    from rexmit.fitted.fitting import Fit

FIT = """\
What is the path of a capture like? Rate and base delay, queue or policer, loss process, outages, packets
held,
what the applications wrote and the hosts' windows, each with an interval and where it comes from; and a
scenario of it, which is run to see whether it gives the capture back (docs/fit.md). What a capture cannot
tell
is said.
"""
EXAMPLES = """\
examples:
  rexmit fit upload.snd.pcap                                the table, and 20 draws of the scenario
  rexmit fit upload.snd.pcap --scenario path.toml           and the scenario, for rexmit run path.toml
  rexmit fit upload.snd.pcap --like linux-6-bbr             the sender's stack, if it is another
  rexmit fit upload.snd.pcap --receiver upload.rcv.pcap --json

exit codes: 0 an answer, 2 bad input
"""
#: How often the scenario is run.
DRAWS = 20


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    f = commands.add_parser(
        "fit",
        help="what the path of a capture is like, as values and as a scenario",
        description=FIT,
        epilog=EXAMPLES,
    )
    f.add_argument("capture", metavar="CAPTURE", help="a capture at either end; the sender's tells more")
    f.add_argument("--receiver", metavar="CAPTURE", help="a capture of the same transfer at the receiver")
    f.add_argument("--flow", metavar="A-B", help="this connection (default: the one with the most data)")
    f.add_argument(
        "--at", choices=("sender", "receiver", "middle"), help="where it was taken, if it does not tell"
    )
    f.add_argument(
        "--like", metavar="STACK", default="linux-6-cubic", help="the sender's stack (default linux-6-cubic)"
    )
    f.add_argument("--scenario", metavar="FILE", help="write the scenario, which must not be there yet")
    f.add_argument(
        "--draws", type=positive, default=DRAWS, metavar="N", help=f"run it so often (default {DRAWS})"
    )
    f.add_argument("--no-check", action="store_true", help="do not run it")
    f.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/fit.md)")


def run(o: argparse.Namespace) -> int:
    """Shows the fitted path."""
    from rexmit.fitted.page import page
    from rexmit.screen.progress import Stepping
    from rexmit.screen.say import as_json

    there = bool(o.scenario) and os.path.lexists(o.scenario)
    refuse(f"{o.scenario} is there already; name another file for the scenario" if there else None)
    found = _fitted(o)
    text = found.scenario_text
    checked = None
    if not o.no_check:
        with Stepping(os.path.basename(o.capture), "draws") as progress:
            checked = found.check(o.draws, progress)
    if o.scenario:
        with open(o.scenario, "x", encoding="utf-8") as file:
            file.write(text)
    if o.json:
        show([as_json(found.to_dict() | {"check": checked and checked.to_dict()})])
    else:
        lines = page(found, checked)
        follow = f"rexmit run {o.scenario}" if o.scenario else f"rexmit fit {o.capture} --scenario path.toml"
        show([*lines, "", f"  next      {follow}"])
    return ANSWER


def _fitted(o: argparse.Namespace) -> Fit:
    from rexmit.fitted.fitting import fit
    from rexmit.screen.progress import Progress

    with Progress(os.path.basename(o.capture)) as progress:
        return fit(o.capture, receiver=o.receiver, flow=o.flow, at=o.at, like=o.like, progress=progress)
