"""`rexmit analyze` of a folder, or of a pattern: many separate captures."""

from __future__ import annotations

import argparse

from rexmit import extras
from rexmit.cli.shown import show
from rexmit.files.not_written import NotWrittenError
from rexmit.screen.say import as_json

#: Options of `rexmit analyze` that are of one capture, with what they are if nobody says.
OF_ONE = ("sender", "receiver", "flow", "start", "end", "top", "by", "ladder", "like", "against", "annotate")
OF_ONE_WRITTEN = ("figures", "csv", "parquet", "report", "overwrite")


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together."""
    extras.need("tables", "an analysis of many captures")
    options = {"start": "--from", "end": "--to"}
    for name in (*OF_ONE, *OF_ONE_WRITTEN):
        if getattr(o, name):
            said = options.get(name, f"--{name}")
            return f"{said} is for one capture, and these are many: name one of them (docs/fleet.md)"
    if "-" in o.captures:
        return "standard input is one capture; many are files (docs/fleet.md)"
    if o.cluster and o.threads:
        from rexmit.sweeps.engine import THREADS_OR_CLUSTER

        return THREADS_OR_CLUSTER
    return None


def analyze(o: argparse.Namespace) -> bool:
    """Analyses what is not analysed yet, and shows what all of it comes to. Whether rexmit itself failed on
    a flow; everything else is shown.
    """
    from rexmit.fleets.analysing import fleet
    from rexmit.screen.progress import Progress

    with Progress("captures") as progress:
        done = fleet(
            *o.captures,
            into=o.out,
            host=o.host,
            port=o.port,
            at=o.at,
            idle=o.idle,
            checksums=o.checksums,
            threads=o.threads,
            max_memory=o.max_memory,
            cluster=o.cluster,
            progress=progress,
        )
    show([as_json(done.summary)] if o.json else done.page().splitlines())
    if done.interrupted:
        raise NotWrittenError("stopped before all captures were analysed; the same command goes on")
    return done.failed
