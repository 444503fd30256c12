"""`rexmit study run` at several values side by side: `--vary AXIS=a,b,c` and `--stacks A,B`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.cli.shown import show
from rexmit.files.destination import opened
from rexmit.screen.say import as_json, tell
from rexmit_studies.command import failed

if TYPE_CHECKING:
    from rexmit.files.destination import Destination
    from rexmit_studies.own import Own
    from rexmit_studies.progress import Watch
    from rexmit_studies.study import Study
    from rexmit_studies.vary import Variation


def run_varied(o: argparse.Namespace, studies: list[Study], own: Own) -> str | None:
    """Runs a study at several values, shows and writes it; returns why it failed, if it did."""
    from rexmit_studies import vary_output, vary_terminal
    from rexmit_studies.asked import varied
    from rexmit_studies.progress import Watch
    from rexmit_studies.vary import vary

    # Before anything runs: a value out of range, and a folder with something in the way.
    axis, values = varied(studies, o.vary, own)
    (study,) = studies
    with opened(o.out, vary_output.planned(study.name, axis.name), o.overwrite) as into:
        with Watch() as watch:
            found = vary(
                study,
                axis,
                values,
                own,
                quick=o.quick,
                factor=o.replications or 1.0,
                watch=watch,
                into=_kept(into),
            )
        show([as_json(vary_output.told(found), 1)] if o.json else vary_terminal.page(found))
        form = None if o.figures == "none" else o.figures or "png"
        return _ended(o, [found], watch, into, lambda folder: vary_output.write(found, folder, form))


def run_stacks(o: argparse.Namespace, studies: list[Study]) -> str | None:
    """The same for studies under several stacks."""
    from rexmit_studies import stacks
    from rexmit_studies.progress import Watch

    jobs, without = stacks.jobs_of(studies, [word.strip() for word in o.stacks.split(",") if word.strip()])
    with opened(o.out, stacks.FILES, o.overwrite) as into:
        with Watch() as watch:
            found = stacks.under(
                jobs,
                without,
                quick=o.quick,
                factor=o.replications or 1.0,
                watch=watch,
                into=_kept(into),
            )
        show([as_json(stacks.told(found), 1)] if o.json else stacks.lines(found))
        command = f"rexmit study run {' '.join(o.names)} --stacks {o.stacks}"
        command += " --quick" if o.quick else ""
        command += f" --replications {o.replications:g}" if o.replications else ""
        return _ended(o, found.found, watch, into, lambda folder: stacks.write(found, folder, command))


def _kept(into: Destination | None) -> Path | None:
    """The folder that keeps the runs while they are made."""
    kept = into.runs() if into else None
    if kept and kept.is_dir():
        tell(f"rexmit: goes on with the runs that are kept in {kept}")
    return kept


def _ended(
    o: argparse.Namespace,
    found: Sequence[Variation],
    watch: Watch,
    into: Destination | None,
    write: Callable[[Destination], str],
) -> str | None:
    """Writes the answer, and says what was not done; returns why it failed, if it did."""
    lacking = []
    if into:
        said = write(into)
        into.finish()
        lacking = [failure] if (failure := into.failure()) else []
        if not lacking:
            tell(said, None if o.json else sys.stdout)
            if not watch.stopped:
                into.forget_runs()
    if watch.stopped:
        tell("rexmit: stopped; what was done is shown")
        if not any(one.lines() or one.claims() for one in found):
            lacking.append("stopped before there was an answer")
    outcomes = [outcome for one in found for outcome in one.outcomes]
    return "; ".join([*lacking, *failed(outcomes)]) or None
