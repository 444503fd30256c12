"""`rexmit compare RUN RUN`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
from itertools import chain
from typing import TYPE_CHECKING, Any

from rexmit import extras
from rexmit.cli.options import FORMATS, overwriting, reporting
from rexmit.cli.shown import answer, show_pieces
from rexmit.cli.values import pair, positive, seed
from rexmit.files.destination import opened
from rexmit.screen.say import one_line

if TYPE_CHECKING:
    from rexmit.compared.episode_match import SideBySide

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
    )
    c.add_argument(
        "first",
        metavar="RUN",
        help="a scenario file, a name of rexmit scenarios, a folder of a run, or a capture",
    )
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
    c.add_argument(
        "--threads", type=positive, metavar="N", help="threads that analyse a capture (default: one per core)"
    )
    c.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/json.md)")
    c.add_argument("--out", metavar="DIR", help="write comparison.json and the figure into this folder")
    overwriting(c)
    reporting(c)
    c.add_argument("--figures", choices=FORMATS, help="format of the figure (default png)")


def _found(o: argparse.Namespace) -> tuple[SideBySide, list[str]]:
    """The comparison, and its page unless it is printed as JSON. Half of one is none: Ctrl-C ends it."""
    from rexmit.compared import episode_match
    from rexmit.screen.progress import Ending

    runs = []
    with Ending() as ending:
        for which in ("first", "second"):
            set, seed = dict(getattr(o, f"{which}_set")), getattr(o, f"{which}_seed")
            run = episode_match.opened(
                getattr(o, which), set, seed, lambda *_: not ending.stopped, threads=o.threads
            )
            runs.append(run)
            ending.check()
        found = episode_match.compare(*runs)
        lines = found.page().splitlines()
        ending.check()
    return found, [] if o.json else lines


def run(o: argparse.Namespace) -> int:
    """Shows what differs, and writes it."""
    return answer(*_compared(o))


def _compared(o: argparse.Namespace) -> tuple[list[str], str | None]:
    """The lines to print, and which files could not be written, if some could not."""
    if o.report and not o.out:
        raise ValueError("--report needs --out DIR to write into; rexmit report writes a file by itself")
    if o.figures and o.out:
        extras.need("figures", "--figures")
    drawn = extras.has("figures")
    names = ("comparison.json", f"side-by-side.{o.figures or 'png'}", *(["report.html"] if o.report else []))
    with opened(o.out, names, o.overwrite) as into:
        found, lines = _found(o)
        if o.json:
            show_pieces(chain(found.json_pieces(), "\n"))
        if not into:
            return lines, None
        with into.file(names[0]) as (path,), open(path, "w", encoding="utf-8") as file:
            file.writelines(found.json_pieces())
            file.write("\n")
        if drawn:
            with into.file(names[1]) as (path,):
                found.figure().save(path)
        if o.report:
            from shlex import join

            from rexmit.report import beside

            with into.file(beside.NAME) as (path,):
                beside.of_comparison(found.captures, join(["rexmit", "compare", o.first, o.second]), path)
        into.finish()
        failure = into.failure()
        if not o.json and not failure:
            written = [names[1], names[0]] if drawn else [names[0]]
            told = one_line("wrote " + " and ".join(str(into.path / name) for name in written))
            lines += ["", told if drawn else f"{told}; no figure ({extras.command('figures')})"]
        return lines, failure
