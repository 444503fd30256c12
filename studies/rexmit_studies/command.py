"""`rexmit study run`: runs studies, shows them, and writes what was asked for."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from rexmit.cli.shown import show
from rexmit.files.destination import opened
from rexmit.screen.say import as_json, tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit.files.destination import Destination
    from rexmit_studies.own import Own
    from rexmit_studies.run import Outcome
    from rexmit_studies.study import Study


def run(o: argparse.Namespace) -> str | None:
    """Shows lines as they come; returns why it failed, if it did."""
    from rexmit_studies.asked import chosen, of_capture, of_ones_own

    studies = chosen(o.names)
    if o.stacks is not None:
        from rexmit_studies.vary_command import run_stacks

        return run_stacks(o, studies)
    own = of_ones_own(studies, o.set, o.outages, o.capture)
    if o.vary:
        from rexmit_studies.vary_command import run_varied

        return run_varied(o, studies, own)
    if o.capture:
        studies = [of_capture(studies[0], o.capture)]
    return _run(o, studies, own)


def _run(o: argparse.Namespace, studies: list[Study], own: Own) -> str | None:
    from rexmit_studies.output import planned, planned_docs

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
    from rexmit_studies import terminal
    from rexmit_studies.progress import Watch
    from rexmit_studies.run import run as run_them

    def write(outcome: Outcome) -> None:
        from rexmit_studies import output

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
        found = run_them(
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
        from rexmit_studies.answer import answer

        show([as_json(answer(outcomes, several), 1)])
    if into:
        from rexmit_studies import output

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
