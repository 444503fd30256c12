"""`rexmit study run NAME --vary AXIS=a,b,c`: the study at each value, side by side."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from rexmit.cli.shown import show
from rexmit.cli.study import failed
from rexmit.files.destination import opened
from rexmit.screen.say import as_json, tell

if TYPE_CHECKING:
    from rexmit.studies.own import Own
    from rexmit.studies.study import Study


def run_varied(o: argparse.Namespace, studies: list[Study], own: Own) -> str | None:
    """Runs it, shows and writes it; returns why it failed, if it did."""
    from rexmit.studies import vary_output, vary_terminal
    from rexmit.studies.asked import varied
    from rexmit.studies.progress import Watch
    from rexmit.studies.vary import vary

    # Before anything runs: a value out of range, and a folder with something in the way.
    axis, values = varied(studies, o.vary, own)
    (study,) = studies
    with opened(o.out, vary_output.planned(study.name, axis.name), o.overwrite) as into:
        kept = into.runs() if into else None
        if kept and kept.is_dir():
            tell(f"rexmit: goes on with the runs that are kept in {kept}")
        with Watch() as watch:
            found = vary(
                study,
                axis,
                values,
                own,
                quick=o.quick,
                factor=o.replications or 1.0,
                watch=watch,
                into=kept,
            )
        show([as_json(vary_output.told(found), 1)] if o.json else vary_terminal.page(found))
        lacking = []
        if into:
            said = vary_output.write(found, into, None if o.figures == "none" else o.figures or "png")
            into.finish()
            lacking = [failure] if (failure := into.failure()) else []
            if not lacking:
                tell(said, None if o.json else sys.stdout)
                if not watch.stopped:
                    into.forget_runs()
        if watch.stopped:
            tell("rexmit: stopped; what was done is shown")
            if not found.lines() and not found.claims():
                lacking.append("stopped before there was an answer")
        return "; ".join([*lacking, *failed(found.outcomes)]) or None
