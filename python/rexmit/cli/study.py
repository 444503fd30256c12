"""`rexmit study list` and `rexmit study run`, which the package rexmit-studies carries out."""

from __future__ import annotations

import argparse
from typing import Any

from rexmit import studies
from rexmit.cli.ending import ended, refuse
from rexmit.cli.options import overwriting, reporting
from rexmit.cli.shown import show

#: Times as many runs as usual.
MOST = 1000
STUDY = """\
Does what five papers on TCP's recovery did, prints each of their figures beside what comes out here, and
judges their claims: each holds, fails, or is not decided, with effect, interval and number of runs.
"""
STUDY_EXAMPLES = """\
examples:
  rexmit study list                          the papers
  rexmit study run wireless                  one of them: figures, reasons, claims
  rexmit study run all --out studies/        all, with a page, figures and tables for each
  rexmit study run rto --replications 5      five times as many runs: narrower intervals
  rexmit study run interruption --set link.air.rate=20Mbps --outages seen.csv
                                             the same experiment with your own air and outages
  rexmit study run ns3 --vary delay=5,20,50ms
                                             the paper's table with a column for each of these delays
  rexmit study run all --stacks linux-6-cubic,linux-6-bbr
                                             the papers' claims had their senders run these stacks
  rexmit study run ns3 --capture download.pcap
                                             what section 2 says of your capture

exit codes: 0 an answer, 1 a failed run, 2 bad input
"""


def _factor(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= MOST:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no number above 0 and up to {MOST:,}; 2 means twice as many runs as usual"
        )
    return value


def add(commands: Any) -> None:
    """Adds the commands to the parser."""
    s = commands.add_parser(
        "study",
        help="repeat a paper's experiments, and judge its claims",
        description=STUDY,
        epilog=STUDY_EXAMPLES,
    )
    actions = s.add_subparsers(dest="action", metavar="list|run")
    listing = actions.add_parser("list", help="the studies there are")
    listing.add_argument("--json", action="store_true", help="as JSON")
    r = actions.add_parser(
        "run",
        help="run one, several or all",
        description=STUDY,
        epilog=STUDY_EXAMPLES,
    )
    r.add_argument(
        "names",
        nargs="+",
        metavar="NAME",
        help="studies (rexmit study list), Python files of your own, or all",
    )
    r.add_argument("--quick", action="store_true", help="the fewest runs that still exercise everything")
    r.add_argument(
        "--replications", type=_factor, metavar="F", help="F times as many runs as usual (default 1)"
    )
    r.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="AXIS=VALUE",
        help="one study with a value of your own: of one of its axes (docs/studies.md), or of a key of its "
        "scenarios (link.air.rate=20Mbps); several times",
    )
    r.add_argument(
        "--vary",
        action="append",
        default=[],
        metavar="AXIS=A,B,C",
        help="one study at several values of one of its axes, side by side (docs/studies.md)",
    )
    r.add_argument(
        "--stacks",
        metavar="A,B",
        help="the papers' claims had their senders run these stacks (rexmit stacks), in one table",
    )
    r.add_argument(
        "--outages",
        metavar="FILE",
        help="one study with your outages: the first line of the file names its columns, begin_s,end_s or "
        "begin_s,length_s",
    )
    r.add_argument(
        "--capture",
        action="append",
        default=[],
        metavar="FILE",
        help="what one study says of your capture in place of the paper's; a second one: the receiver's",
    )
    r.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/studies.md)")
    r.add_argument("--out", metavar="DIR", help="write pages, figures, tables and results.json here")
    r.add_argument(
        "--figures", choices=("png", "svg", "pdf", "none"), help="format of the figures (default png)"
    )
    overwriting(r)
    reporting(r)
    r.add_argument("--docs", metavar="DIR", help="write NAME.md and small figures, as docs/studies has them")


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together."""
    if o.action != "run":
        return None
    studies.need("rexmit study")
    if o.figures and o.figures != "none" and not o.out:
        return "--figures needs --out DIR to write into"
    if o.report and not o.out:
        return "--report needs --out DIR to write into"
    several = "--vary" if o.vary else "--stacks" if o.stacks is not None else None
    if several and (o.report or o.docs):
        option = "--report" if o.report else "--docs"
        return f"{option} is for one value; {several} with --out DIR writes a page of its own"
    if o.stacks is not None and (o.vary or o.set or o.outages or o.capture):
        return "--stacks takes the papers' values; --vary stack=A,B goes with values of your own"
    if o.quick and o.replications is not None:
        return "--quick and --replications both say how many runs; give one of them"
    return None


def run(o: argparse.Namespace) -> int:
    """Shows what studies there are, or runs them."""
    refuse(check(o))
    found = studies.need("rexmit study")
    if o.action == "run":
        return ended(found.command(o))
    show(found.listed(getattr(o, "json", False)))
    return 0
