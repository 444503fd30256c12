"""`rexmit view`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from shlex import join
from types import FrameType
from typing import Any

from rexmit import cli_report
from rexmit.cli_report import building, command, given, named, read
from rexmit.not_written import NotWrittenError, sentence
from rexmit.say import tell

VIEW = """\
The page of rexmit report for captures of any size: it is served to this machine's own browser, which asks for
what it shows. Only who has the address that is printed can look; Ctrl-C ends it, and nothing is left behind.
"""
EXAMPLES = """\
examples:
  rexmit view day.pcapng                        prints an address
  rexmit view day.pcapng --open                 and opens it

exit codes: 0 ended by Ctrl-C, 1 it could not be served, 2 bad input
"""


def add(commands: Any, positive: Callable[[str], int]) -> None:
    """Adds the command to the parser."""
    v = commands.add_parser(
        "view",
        help="the same page for very large captures, from this machine to its own browser",
        description=VIEW,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    named(v, positive)
    v.add_argument("--port", type=positive, metavar="N", help="the port to listen on (default: a free one)")
    v.add_argument("--open", action="store_true", help="open it in the browser")


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together; None where they do."""
    if o.port is not None and o.port > 65_535:
        return f"--port {o.port}: ports end at 65535"
    if len(o.what) == 1 and (made := _page_of(Path(o.what[0]))):
        again = join(["rexmit", "report", o.what[0]])
        return f"{o.what[0]}: a {made} has no packets to look at one by one; its page: {again}"
    if len(o.what) > 1:
        return f"{o.what[1]}: one capture or run at a time; rexmit report lays two beside each other"
    return cli_report.check(o)


def _page_of(folder: Path) -> str | None:
    """What of `rexmit report` a folder holds that has no packets; None for any other."""
    from rexmit.report import studied, swept

    return "sweep" if swept.is_sweep(folder) else "study" if studied.is_study(folder) else None


def view(o: argparse.Namespace) -> None:
    """Serves the page until Ctrl-C."""
    from tempfile import TemporaryDirectory

    from rexmit.report.make import hidden, shown, sources
    from rexmit.report.server import Server, of_view

    signal.signal(signal.SIGTERM, _ended)
    (capture,) = read(o)
    hide = hidden([capture], given(o)).apply if o.anonymize else shown
    with TemporaryDirectory(prefix="rexmit-") as folder:
        with building(capture) as told:
            ends = sources(capture, Path(folder), told)
        about = of_view(ends, command("view", o), hide)
        try:
            server = Server(about, ends, o.port or 0, hide)
        except OSError as error:
            why = f"--port {o.port or 0}: {sentence(error)}; leave it out for a free one"
            raise NotWrittenError(why) from None
        with server:
            server.warm()
            try:
                tell(server.address, sys.stdout)
                if o.open:
                    import webbrowser

                    webbrowser.open(server.address)
                server.serve_forever()
            except KeyboardInterrupt:
                tell("ended")


def _ended(number: int, frame: FrameType | None) -> None:
    # As Ctrl-C: files are removed on the way out.
    raise KeyboardInterrupt
