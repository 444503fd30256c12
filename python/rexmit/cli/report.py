"""`rexmit report`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.cli import ends
from rexmit.cli.ending import ANSWER, refuse
from rexmit.cli.options import check_folder, overwriting
from rexmit.cli.values import positive
from rexmit.files.address import is_remote
from rexmit.files.destination import check_file
from rexmit.screen.say import tell

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.report.make import Made
    from rexmit.screen.progress import Stepping

REPORT = """\
One HTML file that shows a transfer: where the time went, its episodes and packets, to zoom into and to pass
around. It loads nothing from anywhere.
"""
EXAMPLES = """\
examples:
  rexmit report slow.pcapng                            writes slow.html
  rexmit report --sender a.pcap --receiver b.pcap      both ends of one transfer
  rexmit report scenarios/interruption.toml -o run.html   a simulated run
  rexmit report good.pcap bad.pcap                     two beside each other
  rexmit report sweeps/loss                            what a sweep found; a study's folder works too
  rexmit report slow.pcapng --anonymize                without addresses, names and paths: report.html

exit codes: 0 written, 1 it could not be written, 2 bad input
"""
#: Ends of names that say nothing of what is in the file.
ENDS = re.compile(r"(\.(pcap|pcapng|cap|snoop|gz|zst|xz|toml))+$", re.IGNORECASE)
#: Bytes of a file's name before its ending: file systems take 255 in all.
LONGEST = 240


def named(parser: Any) -> None:
    """Options that say what is shown."""
    parser.add_argument(
        "what",
        nargs="*",
        metavar="WHAT",
        help="a capture, a scenario file, or the folder of a run, study or sweep",
    )
    parser.add_argument("--sender", metavar="CAPTURE", help="a capture at the sender, with --receiver")
    parser.add_argument(
        "--receiver", metavar="CAPTURE", help="a capture of the same transfer at the receiver"
    )
    parser.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="threads that analyse a capture; the page is the same on any number (default: one per core)",
    )
    parser.add_argument("--anonymize", action="store_true", help="replace addresses, names and paths")


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    r = commands.add_parser(
        "report",
        help="one HTML file that shows a transfer",
        description=REPORT,
        epilog=EXAMPLES,
    )
    named(r)
    r.add_argument(
        "-o", "--out", dest="file", metavar="FILE.html", help="the file (default: by what is shown)"
    )
    overwriting(r)


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together; None where they do."""
    if wrong := ends.check(o, o.what):
        return wrong
    if not o.sender and not o.what:
        return f"nothing named; try rexmit {o.command} CAPTURE"
    if len(o.what) > 2:
        return f"{o.what[2]}: two at most, which are laid beside each other"
    return check_folder("-o", getattr(o, "file", None))


def run(o: argparse.Namespace) -> int:
    """Writes the page."""
    refuse(check(o))
    from rexmit.files.whole import write
    from rexmit.report.document import document, is_ours

    target = Path(o.file or default("report" if o.anonymize else _called(o)))
    check_file(target, is_ours, o.overwrite)
    page = made(o)
    write(target, document(page.meta, page.blobs.items()))
    for note in page.notes:
        tell(note, sys.stdout)
    tell(f"wrote {target}: {_size(target)}", sys.stdout)
    return ANSWER


def made(o: argparse.Namespace) -> Made:
    """The page of what is named."""
    from rexmit.report import make
    from rexmit.report.source import sources

    if (found := without_packets(o, "report")) is not None:
        return found
    captures = read(o)
    hide = make.hidden(captures, given(o)).apply if o.anonymize else make.shown
    with building(captures[0]) as progress:
        if len(captures) == 2:
            return make.of_comparison(captures, command("report", o), hide, progress)
        return make.of_capture(sources(captures[0], progress), command("report", o), hide)


def without_packets(o: argparse.Namespace, name: str) -> Made | None:
    """The page of a sweep's or a study's folder, or a sweep's address; None for anything else. name: of the
    command. Raises ValueError for any other address.
    """
    from rexmit.report import make, studied, swept

    if len(o.what) == 1 and swept.is_sweep(o.what[0]):
        found = swept.read(o.what[0])
        hide = make.hidden([], o.what, found.scenario).apply if o.anonymize else make.shown
        return make.of_sweep(found, command(name, o), hide)
    far = next((what for what in o.what if is_remote(what)), None)
    if far is not None:
        raise ValueError(f"{far}: holds no sweep; of what lies elsewhere rexmit {name} shows sweeps only")
    if len(o.what) == 1 and studied.is_study(folder := Path(o.what[0])):
        hide = make.hidden([], o.what).apply if o.anonymize else make.shown
        return make.of_study(studied.read(folder), command(name, o), hide)
    return None


def building(capture: Capture) -> Stepping:
    """How far the columns are, on the terminal; Ctrl-C ends it."""
    from rexmit.screen.progress import Stepping

    return Stepping(f"{os.path.basename(capture.name)}: columns", "rows")


def _called(o: argparse.Namespace) -> str:
    """What the file is called after: a study or a sweep, whatever its folder's name; else what is named."""
    from rexmit.report import studied, swept

    name = given(o)[0]
    if len(o.what) == 1 and studied.is_study(Path(name)):
        return studied.name(Path(name))
    if len(o.what) == 1 and swept.is_sweep(name):
        return swept.name(name)
    return name


def default(name: str) -> str:
    """The file for what is named: in this folder."""
    base = "" if name == "-" else os.path.basename(os.path.normpath(name))
    # The name of a sweep or a study is anybody's text.
    base = "".join("_" if ord(c) < 32 or c == "\x7f" else c for c in ENDS.sub("", base))
    while len(os.fsencode(base)) > LONGEST:
        base = base[:-1]
    return (base or "report") + ".html"


def _compared(name: str, threads: int | None) -> list[Capture] | None:
    """The two of which a folder of `rexmit compare --out` tells; None for anything else.

    Raises ValueError where they are not there under the names that it gives, and for the name of a study.
    """
    from rexmit.files.reading import json_of

    path = Path(name)
    if not path.exists() and "/" not in name:
        from rexmit.studies import names

        if name in names():
            how = f"rexmit study run {name} --out DIR, then rexmit report DIR"
            raise ValueError(f"{name}: a study has to be run: {how}")
    told = path / "comparison.json"
    if not told.is_file():
        return None
    found = json_of(told)
    try:
        both = [str(found[side]["name"]) for side in ("first", "second")]
    except (KeyError, TypeError):
        raise ValueError(f"{told}: is not what rexmit compare writes") from None
    for one in both:
        # The names are anybody's text, too: a pipe among them would be waited for.
        if not os.path.isfile(one) and not os.path.isdir(one):
            raise ValueError(f"{told}: {one} is no file here; name the two: rexmit report FIRST SECOND")
    return [_read(one, threads=threads) for one in both]


def given(o: argparse.Namespace) -> list[str]:
    """What is named."""
    return [o.sender, o.receiver] if o.sender else list(o.what)


def read(o: argparse.Namespace) -> list[Capture]:
    """What is named, each with every row that a page shows; of a comparison's folder its two."""
    if o.sender:
        return [_read(o.sender, o.receiver, o.threads)]
    if len(o.what) == 1 and (both := _compared(o.what[0], o.threads)):
        return both
    return [_read(name, threads=o.threads) for name in o.what]


def _read(name: str, receiver: str | None = None, threads: int | None = None) -> Capture:
    from rexmit.api import capture
    from rexmit.captured.flows import ON_DEMAND
    from rexmit.compared.episode_match import opened
    from rexmit.screen.progress import Progress, Stepping

    simulated = name.endswith(".toml") or os.path.isfile(os.path.join(name, "scenario.toml"))
    with (Stepping if simulated else Progress)(os.path.basename(name)) as progress:
        read: Capture
        if receiver is not None or (os.path.isdir(name) and not simulated):
            read = capture(name, receiver=receiver, tables=ON_DEMAND, threads=threads, progress=progress)
        else:
            # What a simulated sender knew costs nothing to keep, whether or not its scenario asks for it.
            tables = (*ON_DEMAND, "state") if simulated else ON_DEMAND
            read = opened(name, progress=progress, tables=tables, threads=threads)
    read._progress = None
    return read


def command(name: str, o: argparse.Namespace) -> str:
    """The command line that shows the same."""
    from shlex import join

    words = ["--sender", o.sender, "--receiver", o.receiver] if o.sender else list(o.what)
    return join(["rexmit", name, *words, *(["--anonymize"] if o.anonymize else [])])


def _size(target: Path) -> str:
    from rexmit.screen.units import size

    return size(target.stat().st_size) if target.is_file() else "all of it"
