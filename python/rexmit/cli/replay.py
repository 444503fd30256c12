"""`rexmit replay`. What the command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from rexmit.cli.ending import ANSWER
from rexmit.cli.shown import show
from rexmit.cli.values import positive

if TYPE_CHECKING:
    from rexmit.compared.replaying import Replay
    from rexmit.compared.stack_ranking import Ranking

REPLAY = """\
Would this stack have sent what that sender sent? The ACKs of a recorded transfer are fed, at their recorded
times, to a sender of a stack, and each of its sends is compared with the recorded one: the same segment,
released by the same ACK, or by a timer within 5 ms. After a difference the stack is set to what the capture
shows, and keeps its own cwnd and ssthresh (docs/replay.md). `--stack all` ranks the stacks by how well they
explain that sender, and says which one it is like.
"""
EXAMPLES = """\
examples:
  rexmit replay upload.snd.pcap --stack linux-6-cubic
  rexmit replay upload.snd.pcap --stack all               which stack is it like?
  rexmit replay upload.snd.pcap --stack mine.toml --list 50     fifty differences, not eight
  rexmit replay day.pcap --flow 10.0.0.1:40000-10.0.0.2:80 --json

exit codes: 0 an answer, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    r = commands.add_parser(
        "replay",
        help="would a stack have sent what a capture's sender sent",
        description=REPLAY,
        epilog=EXAMPLES,
    )
    r.add_argument("captures", nargs="+", metavar="CAPTURE", help="a capture at the sender")
    r.add_argument(
        "--stack",
        metavar="NAME",
        default="linux-6-cubic",
        help="a stack, a stack file, or all: every built-in stack, ranked (default linux-6-cubic)",
    )
    r.add_argument("--flow", metavar="A-B", help="this connection (default: the one with the most data)")
    r.add_argument(
        "--at", choices=("sender",), help="the capture was taken at the sender, if it does not tell"
    )
    r.add_argument("--list", type=positive, metavar="N", help="list so many differences (default 8)")
    r.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/replay.md)")


def run(o: argparse.Namespace) -> int:
    """Shows how well the stack, or each, explains what was sent."""
    from rexmit.screen.say import as_json

    found = _ranked(o) if o.stack == "all" else _replayed(o)
    show([as_json(found.to_dict())] if o.json else found.page().splitlines())
    return ANSWER


def _replayed(o: argparse.Namespace) -> Replay:
    from rexmit.compared.replaying import LISTED, replay
    from rexmit.screen.progress import Progress

    with Progress(os.path.basename(o.captures[0])) as progress:
        return replay(o.captures, o.stack, flow=o.flow, at=o.at, listed=o.list or LISTED, progress=progress)


def _ranked(o: argparse.Namespace) -> Ranking:
    from rexmit.compared.stack_ranking import rank_stacks
    from rexmit.screen.progress import Stepping

    with Stepping(os.path.basename(o.captures[0]), "replays") as progress:
        return rank_stacks(o.captures, flow=o.flow, at=o.at, listed=o.list or 0, progress=progress)
