"""`rexmit study list` and `rexmit study run`. What a command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from rexmit import extras
from rexmit.cli.ending import ended, refuse
from rexmit.cli.options import overwriting, reporting
from rexmit.cli.shown import show
from rexmit.files.destination import opened
from rexmit.screen.say import as_json, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit.files.destination import Destination
    from rexmit.studies.own import Own
    from rexmit.studies.run import Outcome
    from rexmit.studies.study import Study

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
    extras.need("studies", "rexmit study run")
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
    return ended(_study(o))


def _study(o: argparse.Namespace) -> str | None:
    """Shows lines as they come; returns why it failed, if it did."""
    if o.action != "run":
        show(_list(getattr(o, "json", False)))
        return None
    from rexmit.studies.asked import chosen, of_capture, of_ones_own

    studies = chosen(o.names)
    if o.stacks is not None:
        from rexmit.cli.study_vary import run_stacks

        return run_stacks(o, studies)
    own = of_ones_own(studies, o.set, o.outages, o.capture)
    if o.vary:
        from rexmit.cli.study_vary import run_varied

        return run_varied(o, studies, own)
    if o.capture:
        studies = [of_capture(studies[0], o.capture)]
    return _run(o, studies, own)


def _list(json: bool) -> list[str]:
    from rexmit.studies import names, paper, terminal

    if not json:
        return terminal.listed(names())
    from dataclasses import asdict

    entries = [
        {"study": name, **asdict(paper.about(name))}
        | {"figures": len(paper.figures(name)), "claims": len(paper.claims(name))}
        for name in names()
    ]
    return [as_json(entries, 1)]


def _run(o: argparse.Namespace, studies: list[Study], own: Own) -> str | None:
    from rexmit.studies.output import planned, planned_docs

    names = [study.name for study in studies]
    # Before the runs, which take long: the folders are ours, and nothing in them is in the way.
    with (
        opened(o.out, planned(names), o.overwrite) as into,
        opened(o.docs, planned_docs(names), o.overwrite) as docs,
    ):
        return _into(o, studies, own, into, docs)


def _into(
    o: argparse.Namespace,
    studies: list[Study],
    own: Own,
    into: Destination | None,
    docs: Destination | None,
) -> str | None:
    from rexmit.studies import terminal
    from rexmit.studies.progress import Watch
    from rexmit.studies.run import run

    def write(outcome: Outcome) -> None:
        from rexmit.studies import output

        if into:
            output.write(outcome, into, None if o.figures == "none" else o.figures or "png", stopped)
        if docs:
            output.write_docs(outcome, docs, stopped)
        written.append(outcome)

    def stopped() -> bool:
        return watch.stopped

    kept = into.runs() if into else None
    if kept and kept.is_dir():
        tell(f"rexmit: goes on with the runs that are kept in {kept}")
    several = len(studies) > 1 or "all" in o.names
    outcomes: list[Outcome] = []
    written: list[Outcome] = []
    with Watch() as watch:
        found = run(
            studies,
            quick=o.quick,
            factor=o.replications or 1.0,
            watch=watch,
            then=write,
            own=own,
            into=kept,
        )
        for outcome in found:
            outcomes.append(outcome)
            if not o.json:
                watch.hide()
                show(([""] if len(outcomes) > 1 else []) + terminal.page(outcome))
    if o.json:
        from rexmit.studies.answer import answer

        show([as_json(answer(outcomes, several), 1)])
    if into:
        from rexmit.studies import output

        if o.report:
            for outcome in written:
                output.write_report(outcome, into)
        told = output.finish(outcomes, into, several, [outcome.study.name for outcome in written])
        into.finish()
        if not into.failure() and not watch.stopped:
            into.forget_runs()
        if not into.failure():
            tell(told, None if o.json else sys.stdout)
    if docs:
        docs.finish()
    lacking = [failure for place in (into, docs) if place and (failure := place.failure())]
    return "; ".join(lacking + _ended(outcomes, watch.stopped)) or None


def _ended(outcomes: list[Outcome], stopped: bool) -> list[str]:
    """Says what was not done; returns the failures."""
    if stopped:
        left = sum(len(outcome.left_out) for outcome in outcomes)
        tell(f"rexmit: stopped; what was done is shown, {left} parts are left out")
        if not any(outcome.rows or outcome.claims for outcome in outcomes):
            return ["stopped before there was an answer"]
    return failed(outcomes)


def failed(outcomes: Sequence[Outcome]) -> list[str]:
    """The failures of outcomes; where they came from is shown to whoever asks for it (REXMIT_TRACE)."""
    failures = [f"{outcome.study.name}: {failure}" for outcome in outcomes for failure in outcome.failures]
    traces = [trace for outcome in outcomes for trace in outcome.traces]
    if traces and os.environ.get("REXMIT_TRACE"):
        for line in "\n".join(traces).split("\n"):
            tell(line)
    elif traces:
        failures[-1] += "; REXMIT_TRACE=1 shows where"
    return failures
