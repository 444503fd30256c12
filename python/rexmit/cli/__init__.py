"""The command line. Imports stay light: what a command needs is imported when the command runs.

A command is a module of its name in this folder: `add` declares it and its options, `run` carries it out and
returns the exit code. The other modules here serve several of them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from rexmit.cli.ending import ANSWER, BAD_INPUT, FAILED, guarded, say
from rexmit.cli.parsing import Parser
from rexmit.files.not_written import NotWrittenError
from rexmit.screen.streams import open_closed, printing

ABOUT = """\
What a burst of losses did to a TCP transfer, and how the transfer came back.
"""
#: In the order in which help lists them.
COMMANDS = (
    "analyze",
    "run",
    "scenarios",
    "sample",
    "live",
    "stacks",
    "channels",
    "record",
    "sweep",
    "sql",
    "study",
    "compare",
    "traffic",
    "replay",
    "fit",
    "report",
    "view",
    "wireshark",
    "drill",
    "mcp",
    "completion",
)


class Command(Protocol):
    """The module of a command."""

    def add(self, commands: Any) -> None:
        """Adds the command to the parser's."""

    def run(self, o: argparse.Namespace) -> int:
        """Carries out what the options say; returns the exit code."""


def _command(name: str) -> Command:
    return cast(Command, import_module(f"rexmit.cli.{name}"))


def parser(command: str | None = None) -> Parser:
    """The whole command line; where it is known to begin with analyze, no more than that takes."""
    top = Parser(prog="rexmit", description=ABOUT)
    top.add_argument("--version", action="store_true", help="print the version and exit")
    # The name is given, or a formatter is made, which loads modules, to find it.
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser, prog="rexmit")
    for name in COMMANDS[:1] if command == COMMANDS[0] else COMMANDS:
        _command(name).add(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    open_closed()
    # Arrow's own allocator keeps what is freed: a page of many flows then takes 50 MB more. Arrow reads this
    # as it is loaded, which is later.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        return _main(sys.argv[1:] if argv is None else list(argv))
    except NotWrittenError as error:
        return say(str(error), FAILED)
    except BrokenPipeError:
        # Whoever read this has had enough.
        return ANSWER
    except KeyboardInterrupt:
        return say("stopped before there was an answer", FAILED)


def _help(word: str) -> int:
    """Help about a cause of lost time."""
    from rexmit.screen import cause_page

    if word == "causes":
        lines = cause_page.listed()
    elif word in cause_page.names():
        lines = cause_page.page(word)
    else:
        return say(cause_page.unknown(word, COMMANDS), BAD_INPUT)
    with printing():
        print("\n".join(lines))
    return ANSWER


def _overview() -> int:
    """Shows the groups of commands, as `rexmit` does without a command."""
    from rexmit.cli import overview
    from rexmit.cli.shown import show

    show(overview.lines(ABOUT))
    return ANSWER


def _no_file(word: str) -> bool:
    """Whether this stands for a file, which there is not: commands have neither a dot nor a folder."""
    return not word.startswith("-") and ("." in word or os.path.basename(word) != word)


def _main(given: list[str]) -> int:
    word = given[0] if given else "help"
    if word not in (*COMMANDS, "help"):
        if os.path.exists(word):
            given = ["analyze", *given]
        elif _no_file(word):
            return say(f"{word}: there is no such file, and no command of this name", BAD_INPUT)
    if given in ([], ["help"], ["--help"], ["-h"]):
        return _overview()
    if given[:1] == ["help"]:
        if given[1:] == ["all"]:
            given = ["help"]
        elif given[1:] and given[1] not in COMMANDS and not given[1].startswith("-"):
            return _help(given[1])
        # As git and cargo have it: of a command, or of all.
        given = [*given[1:2], "--help"]
    arguments = parser(given[0] if given else None)
    with printing():
        try:
            options, unknown = arguments.parse_known_args(given)
            if unknown:
                arguments.error("unrecognized arguments: " + " ".join(unknown))
        except SystemExit as end:
            return int(end.code or 0)
        if options.version:
            from rexmit import _core

            print(f"rexmit {_core.__version__}")
            return ANSWER
        if options.command is None:
            return _overview()
        return guarded(lambda: _command(options.command).run(options))
