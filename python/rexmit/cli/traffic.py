"""`rexmit traffic`. What the command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from rexmit import extras
from rexmit.cli.ending import refuse
from rexmit.cli.options import FORMATS, overwriting
from rexmit.cli.shown import answer
from rexmit.cli.values import duration
from rexmit.files.destination import opened
from rexmit.files.not_written import STOPPED, UNDRAWN
from rexmit.screen.say import as_json, one_line, tell

if TYPE_CHECKING:
    from rexmit.captured.frame_counts import Traffic
    from rexmit.files.destination import Destination

TABLES = ("bins.parquet", "bins.csv")

TRAFFIC = """\
Counts every frame of a capture, TCP or not: shares of ARP, LLC, IP, TCP, UDP, ICMP by packets and bytes,
packets and bytes per bin, and how self-similar they are: the Hurst parameter by five estimators, with 95%
intervals and a warning where they disagree.
"""
EXAMPLES = """\
examples:
  rexmit traffic lan.pcapng
  rexmit traffic lan.pcapng --bin 10ms --out lan/     and figures and the bins as tables
  rexmit traffic day-*.pcap.gz --json

exit codes: 0 an answer, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    t = commands.add_parser(
        "traffic",
        help="what all frames of a capture are, and how self-similar they come",
        description=TRAFFIC,
        epilog=EXAMPLES,
    )
    t.add_argument("captures", nargs="+", metavar="CAPTURE", help="a capture, or several of one rotation")
    t.add_argument(
        "--bin",
        type=duration,
        metavar="TIME",
        help="length of a bin (default: 1ms, 10ms, 100ms or 1s, by how dense the packets are)",
    )
    t.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/traffic.md)")
    t.add_argument("--out", metavar="DIR", help="write figures, bins and traffic.json into this folder")
    overwriting(t)
    t.add_argument("--figures", choices=(*FORMATS, "none"), help="format of the figures (default png)")
    t.set_defaults(csv=False, parquet=False)


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together."""
    if o.figures and o.figures != "none" and not o.out:
        return "--figures needs --out DIR to write into"
    if o.figures and o.figures != "none":
        extras.need("figures", "--figures")
    if o.bin is not None and o.bin <= 0:
        return "--bin must be longer than 0"
    return None


def run(o: argparse.Namespace) -> int:
    """Shows the counts, and writes them."""
    refuse(check(o))
    return answer(*_counted(o))


def _counted(o: argparse.Namespace) -> tuple[list[str], str | None]:
    """The lines to print, and which files could not be written, if some could not."""
    from rexmit.captured.frame_counts import FIGURES, traffic
    from rexmit.files.output import chosen
    from rexmit.screen.progress import Progress, soon

    forms, form, without = chosen(o)
    names = [*TABLES, "traffic.json", *(f"{name}.{form}" for name in FIGURES if form)]
    with opened(o.out, names, o.overwrite) as into:
        with Progress(os.path.basename(o.captures[0])) as progress:
            found = traffic(o.captures, o.bin, progress=progress)
        found.hurried = progress.stopped
        told = as_json(soon(found, found.to_dict))
        note, failure = "", None
        if into:
            try:
                note = _write(found, told, into, forms, None if found.hurried else form) + without
                failure = into.failure()
            except KeyboardInterrupt:
                failure = STOPPED.format(o.out)
            if found.hurried and form:
                note += f"; {UNDRAWN}"
    if failure:
        note = ""
    if not o.json:
        return found.page().splitlines() + ([note] if note else []), failure
    if note:
        tell(note)
    return [told], failure


def _write(found: Traffic, told: str, into: Destination, forms: list[str], figures: str | None) -> str:
    from rexmit.files.output import write_table
    from rexmit.screen.units import count

    tables = [name for name in TABLES if name.rpartition(".")[2] in forms]
    with into.file(*tables) as paths:
        write_table(found.bins, paths)
    with into.file("traffic.json") as (path,):
        path.write_text(told + "\n", encoding="utf-8")
    drawn = 0
    for name, figure in found.figures() if figures else ():
        with into.file(f"{name}.{figures}") as (path,):
            figure.save(path)
        drawn += 1
    into.finish()
    files = f"{count(drawn, 'figure')}, {', '.join(sorted(tables))} and traffic.json"
    return f"wrote {files} into {one_line(str(into.path))}"
