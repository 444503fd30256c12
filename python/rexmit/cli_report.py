"""`rexmit report`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.destination import check_file, overwriting
from rexmit.say import tell

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rexmit.api import Capture

REPORT = """\
One HTML file that shows a transfer: where the time went, its episodes and packets, to zoom into and to pass
around. It loads nothing from anywhere.
"""
EXAMPLES = """\
examples:
  rexmit report slow.pcapng                            writes slow.html
  rexmit report --sender a.pcap --receiver b.pcap      both ends of one transfer
  rexmit report scenarios/interruption.toml -o run.html   a simulated run

exit codes: 0 written, 1 it could not be written, 2 bad input
"""
#: Ends of names that say nothing of what is in the file.
ENDS = re.compile(r"(\.(pcap|pcapng|cap|snoop|gz|zst|xz|toml))+$", re.IGNORECASE)


def named(parser: Any) -> None:
    """Options that say what is shown."""
    parser.add_argument(
        "what", nargs="*", metavar="CAPTURE", help="a capture, a scenario file, or the folder of a run"
    )
    parser.add_argument("--sender", metavar="CAPTURE", help="a capture at the sender, with --receiver")
    parser.add_argument(
        "--receiver", metavar="CAPTURE", help="a capture of the same transfer at the receiver"
    )


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    r = commands.add_parser(
        "report",
        help="one HTML file that shows a transfer",
        description=REPORT,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    named(r)
    r.add_argument("-o", dest="file", metavar="FILE.html", help="the file (default: by what is shown)")
    overwriting(r)


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together; None where they do."""
    if (o.sender is None) != (o.receiver is None):
        missing = "--receiver" if o.receiver is None else "--sender"
        return f"two captures of one transfer need both --sender and --receiver; {missing} is missing"
    if o.sender and o.what:
        return f"{o.what[0]}: name a capture, or --sender and --receiver, not all three"
    if not o.sender and not o.what:
        return f"nothing named; try rexmit {o.command} CAPTURE"
    if len(o.what) > 1:
        return f"{o.what[1]}: one capture or run at a time"
    return None


def report(o: argparse.Namespace) -> None:
    """Writes the page."""
    from tempfile import TemporaryDirectory

    from rexmit.report.document import document, is_ours
    from rexmit.report.make import filled, meta, too_many
    from rexmit.report.source import Source

    first = o.sender or o.what[0]
    target = Path(o.file or default(first))
    check_file(target, is_ours, o.overwrite)
    capture = read(o)
    with TemporaryDirectory(prefix="rexmit-") as folder, building(capture) as told:
        source = Source(capture, 0, capture.name, folder=Path(folder), told=told)
        said, whole = filled(source)
        notes = [] if whole else [too_many(source, command("view", o))]
        about = meta("capture", capture.name, command("report", o), [said], notes)
        write(target, document(about, source.blobs.items()))
    for note in notes:
        tell(note, sys.stdout)
    tell(f"wrote {target}: {_size(target)}", sys.stdout)


@contextmanager
def building(capture: Capture) -> Iterator[Callable[[int, int], None]]:
    """How far the columns are, on the terminal; Ctrl-C ends it."""
    from rexmit.progress import Stepping

    with Stepping(f"{os.path.basename(capture.name)}: columns", "rows") as progress:

        def told(done: int, total: int) -> None:
            if not progress(done, total, 0):
                raise KeyboardInterrupt

        yield told


def default(name: str) -> str:
    """The file for what is named: in this folder."""
    base = os.path.basename(os.path.normpath(name))
    return (ENDS.sub("", base) or "report") + ".html"


def read(o: argparse.Namespace) -> Capture:
    """What is named, with every row that a page shows."""
    from rexmit.api import ON_DEMAND, capture
    from rexmit.episode_match import opened
    from rexmit.progress import Progress, Stepping

    first = o.sender or o.what[0]
    simulated = first.endswith(".toml") or os.path.isfile(os.path.join(first, "scenario.toml"))
    with (Stepping if simulated else Progress)(os.path.basename(first)) as progress:
        read: Capture
        if o.sender:
            read = capture(o.sender, receiver=o.receiver, tables=ON_DEMAND, progress=progress)
        elif os.path.isdir(first) and not simulated:
            read = capture(first, tables=ON_DEMAND, progress=progress)
        else:
            read = opened(first, progress=progress, tables=ON_DEMAND)
    read._progress = None
    return read


def command(name: str, o: argparse.Namespace) -> str:
    """The command line that shows the same."""
    from shlex import join

    named = ["--sender", o.sender, "--receiver", o.receiver] if o.sender else list(o.what)
    return join(["rexmit", name, *named])


def write(target: Path, pieces: Iterable[bytes]) -> None:
    """Writes the file, which is whole or not there. Pipes and devices are written as they are."""
    if target.exists() and not target.is_file():
        with open(target, "wb") as out:
            out.writelines(pieces)
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(draft, "xb") as out:
            out.writelines(pieces)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def _size(target: Path) -> str:
    from rexmit.units import size

    return size(target.stat().st_size) if target.is_file() else "all of it"
