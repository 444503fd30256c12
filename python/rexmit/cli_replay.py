"""`rexmit replay`. What the command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
from typing import Any

REPLAY = """\
Would this stack have sent what that sender sent? The ACKs of a recorded transfer are fed, at their recorded
times, to a sender of a stack, and each of its sends is compared with the recorded one: the same segment,
released by the same ACK, or by a timer within 5 ms. After a difference the stack is set to what the capture
shows, and keeps its own cwnd and ssthresh (docs/replay.md).
"""
EXAMPLES = """\
examples:
  rexmit replay upload.snd.pcap --stack linux-6-cubic
  rexmit replay upload.snd.pcap --stack mine.toml --list 50     fifty differences, not eight
  rexmit replay day.pcap --flow 10.0.0.1:40000-10.0.0.2:80 --json

exit codes: 0 an answer, 2 bad input
"""


def add(commands: Any, positive: Any) -> None:
    """Adds the command to the parser."""
    r = commands.add_parser(
        "replay",
        help="would a stack have sent what a capture's sender sent",
        description=REPLAY,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    r.add_argument("captures", nargs="+", metavar="CAPTURE", help="a capture at the sender, from its SYN on")
    r.add_argument(
        "--stack",
        metavar="NAME",
        default="linux-6-cubic",
        help="a stack or a stack file (default linux-6-cubic)",
    )
    r.add_argument("--flow", metavar="A-B", help="this connection (default: the one with the most data)")
    r.add_argument(
        "--at", choices=("sender",), help="the capture was taken at the sender, if it does not tell"
    )
    r.add_argument("--list", type=positive, metavar="N", help="list so many differences (default 8)")
    r.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/replay.md)")


def run(o: argparse.Namespace) -> list[str]:
    """The lines to print."""
    from rexmit.progress import Progress
    from rexmit.replaying import LISTED, replay
    from rexmit.say import as_json

    with Progress(os.path.basename(o.captures[0])) as progress:
        found = replay(o.captures, o.stack, flow=o.flow, at=o.at, listed=o.list or LISTED, progress=progress)
    return [as_json(found.to_dict())] if o.json else found.page().splitlines()
