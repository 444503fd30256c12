"""`rexmit view`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import TYPE_CHECKING, Any

from rexmit.cli import report
from rexmit.cli.ending import ANSWER, refuse
from rexmit.cli.report import building, command, given, named, read, without_packets
from rexmit.cli.values import positive
from rexmit.files.not_written import NotWrittenError, sentence
from rexmit.screen.say import tell

if TYPE_CHECKING:
    from rexmit.report.make import Hide, Made
    from rexmit.report.source import Row, Source

VIEW = """\
The page of rexmit report for captures of any size: it is served to this machine's own browser, which asks for
what it shows. Only who has the address that is printed can look; Ctrl-C ends it, and nothing is left behind.
"""
EXAMPLES = """\
examples:
  rexmit view day.pcapng                        prints an address
  rexmit view day.pcapng --open                 and opens it
  rexmit view good.pcapng bad.pcapng            two beside each other

exit codes: 0 ended by Ctrl-C, 1 it could not be served, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    v = commands.add_parser(
        "view",
        help="the same page for very large captures, from this machine to its own browser",
        description=VIEW,
        epilog=EXAMPLES,
    )
    named(v)
    v.add_argument("--port", type=positive, metavar="N", help="the port to listen on (default: a free one)")
    v.add_argument("--open", action="store_true", help="open it in the browser")


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together; None where they do."""
    if o.port is not None and o.port > 65_535:
        return f"--port {o.port}: ports end at 65535"
    return report.check(o)


def served(o: argparse.Namespace) -> tuple[Row, Sequence[Source], dict[str, bytes], Hide]:
    """META of what is named, the sources whose packets are asked for, other blobs, and what `--anonymize`
    does.
    """
    from rexmit.report.make import hidden, of_comparison, shown
    from rexmit.report.server import of_view, put
    from rexmit.report.source import sources

    if (page := without_packets(o, "view")) is not None:
        # Nothing of it is loaded later but numbers.
        return page.meta, [], page.blobs, shown
    captures = read(o)
    hide = hidden(captures, given(o)).apply if o.anonymize else shown
    ends: Sequence[Source] = []
    with building(captures[0]) as progress:
        if len(captures) == 1:
            ends = sources(captures[0], progress)
            return of_view(ends, command("view", o), hide), ends, {}, hide

        def put_both(made: Made, both: Sequence[Source], firsts: Sequence[int], hide: Hide) -> None:
            nonlocal ends
            ends = both
            put(made, both, firsts, hide)

        about = of_comparison(captures, command("view", o), hide, progress, put_both).meta
    return about, ends, {}, hide


def run(o: argparse.Namespace) -> int:
    """Serves the page until Ctrl-C."""
    refuse(check(o))
    from rexmit.report.server import Server

    signal.signal(signal.SIGTERM, _ended)
    about, ends, blobs, hide = served(o)
    try:
        server = Server(about, ends, o.port or 0, hide, blobs)
    except OSError as error:
        why = f"--port {o.port or 0}: {sentence(error)}; leave it out for a free one"
        raise NotWrittenError(why) from None
    with server:
        server.warm()
        try:
            tell(server.address, sys.stdout)
            with opened(server.address) if o.open else nullcontext():
                server.serve_forever()
        except KeyboardInterrupt:
            tell("ended")
    return ANSWER


@contextmanager
def opened(address: str) -> Iterator[None]:
    """Opens the address in the browser, by a file that leads there and that only this user can read: other
    users see the command lines of this machine, and with them whatever a browser is started with.
    """
    import os
    import webbrowser

    from rexmit.files.passing import folder
    from rexmit.screen.say import markup

    with folder("view") as place:
        file = place / "open.html"
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={markup(address)}">\n')
        webbrowser.open(file.as_uri())
        yield


def _ended(number: int, frame: FrameType | None) -> None:
    # As Ctrl-C: files are removed on the way out.
    raise KeyboardInterrupt
