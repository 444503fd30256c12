"""The command line. Imports stay light: what a command needs is imported when the command runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from rexmit import cli_analyze
from rexmit.not_written import NotWrittenError
from rexmit.say import one_line, tell, visible
from rexmit.streams import open_closed, printing
from rexmit.units import parse_duration

#: Exit codes: an answer, a run that failed, input that is no use.
ANSWER, FAILED, BAD_INPUT = 0, 1, 2
#: The largest number that an option takes.
MOST = 10**9
ABOUT = """\
What a burst of losses did to a TCP transfer, and how the transfer came back.
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence with the nearest valid option."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        hint = ""
        if message.startswith("argument ") and message.endswith(": expected one argument"):
            name = message.removeprefix("argument ").removesuffix(": expected one argument")
            message = f"{name} needs a value"
            after = next((w for w in sys.argv if w.startswith("-") and w[1:2].isdigit()), None)
            hint = f"; {after} is below 0, which it cannot be" if after else f"; see {self.prog} --help"
        elif message.startswith("unrecognized arguments: "):
            unknown = message.removeprefix("unrecognized arguments: ").split()[0]
            near = self._near(unknown.split("=")[0], self._known())
            message = f"{unknown} is no option"
            hint = f"; did you mean {near}?" if near else f"; see {self.prog} --help"
        elif "invalid choice: " in message:
            name, _, rest = message.removeprefix("argument ").partition(": invalid choice: ")
            wrong, _, choices = rest.partition(" (choose from ")
            allowed = [c.strip(" '") for c in choices.rstrip(")").split(",")]
            near = self._near(wrong.strip("'"), allowed)
            message = f"{name}: {wrong.strip(chr(39))} is none of {', '.join(allowed)}"
            hint = f"; did you mean {near}?" if near else ""
        self.exit(BAD_INPUT, one_line(f"{self.prog}: {message}{hint}") + "\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        # The library's own passes over what cannot be written.
        if file is sys.stdout and message:
            with printing():
                file.write(message)
        elif message:
            tell(message.removesuffix("\n"))

    def _known(self) -> list[str]:
        known = list(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                # An option of another command would be none here either.
                named = next((word for word in sys.argv[1:] if word in action.choices), None)
                for name, sub in action.choices.items():
                    known += sub._known() if named in (None, name) else []
        return known

    @staticmethod
    def _near(word: str, known: Sequence[str]) -> str | None:
        from difflib import get_close_matches

        return next(iter(get_close_matches(word, known, 1, 0.6)), None)


def _duration(text: str) -> float:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 up")
    if value > MOST:
        raise argparse.ArgumentTypeError(f"{text} is too many: {MOST:,} at most")
    return value


def parser(command: str | None = None) -> Parser:
    """The whole command line; where it is known to begin with analyze, no more than that takes."""
    top = Parser(prog="rexmit", description=ABOUT)
    top.add_argument("--version", action="store_true", help="print the version and exit")
    # The name is given, or a formatter is made, which loads modules, to find it.
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser, prog="rexmit")
    cli_analyze.add(commands, _positive, _duration)
    if command != "analyze":
        from rexmit import (
            cli_compare,
            cli_completion,
            cli_drill,
            cli_mcp,
            cli_record,
            cli_replay,
            cli_report,
            cli_run,
            cli_sql,
            cli_study,
            cli_sweep,
            cli_traffic,
            cli_view,
        )

        cli_run.add(commands, _positive, _duration)
        cli_record.add(commands, _duration)
        cli_sweep.add(commands, _positive, _duration)
        cli_sql.add(commands)
        cli_study.add(commands)
        cli_compare.add(commands, _positive)
        cli_traffic.add(commands, _duration)
        cli_replay.add(commands, _positive)
        cli_report.add(commands, _positive)
        cli_view.add(commands, _positive)
        cli_drill.add(commands)
        cli_mcp.add(commands)
        cli_completion.add(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    open_closed()
    try:
        return _main(sys.argv[1:] if argv is None else list(argv))
    except NotWrittenError as error:
        return _say(str(error), FAILED)
    except BrokenPipeError:
        # Whoever read this has had enough.
        return ANSWER
    except KeyboardInterrupt:
        return _say("stopped before there was an answer", FAILED)


def _main(given: list[str]) -> int:
    if given[:1] == ["help"]:
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
            arguments.print_help()
            return ANSWER
        return COMMANDS[options.command](options)


def _say(sentence: str, code: int) -> int:
    tell(f"rexmit: {sentence}")
    return code


class BadArguments(Exception):
    """Options that do not go together; the message says what to change."""


def analyze(o: argparse.Namespace) -> int:
    """`rexmit analyze`."""

    def work() -> int:
        fix = cli_analyze.check(o)
        if fix:
            raise BadArguments(fix)
        cli_analyze.analyze(o, _print)
        return ANSWER

    return _guarded(work)


def run(o: argparse.Namespace) -> int:
    """`rexmit run`."""
    from rexmit import cli_run

    def work() -> int:
        fix = cli_run.check(o)
        if fix:
            raise BadArguments(fix)
        lines, failure = cli_run.run(o, _print)
        if lines:
            _print(lines)
        return _say(failure, FAILED) if failure else ANSWER

    return _guarded(work)


def show(o: argparse.Namespace) -> int:
    """`rexmit stacks` and `rexmit channels`."""
    from rexmit import cli_run

    def work() -> int:
        _print(cli_run.stacks(o) if o.command == "stacks" else cli_run.channels(o))
        return ANSWER

    return _guarded(work)


def study(o: argparse.Namespace) -> int:
    """`rexmit study`."""
    from rexmit import cli_study

    def work() -> int:
        fix = cli_study.check(o)
        if fix:
            raise BadArguments(fix)
        failure = cli_study.study(o, _print)
        return _say(failure, FAILED) if failure else ANSWER

    return _guarded(work)


def sweep(o: argparse.Namespace) -> int:
    """`rexmit sweep`."""
    from rexmit import cli_sweep

    def work() -> int:
        fix = cli_sweep.check(o)
        if fix:
            raise BadArguments(fix)
        lines, failure = cli_sweep.run(o, _print)
        if lines:
            _print(lines)
        return _say(failure, FAILED) if failure else ANSWER

    return _guarded(work)


def sql(o: argparse.Namespace) -> int:
    """`rexmit sql`."""
    from rexmit import cli_sql

    def work() -> int:
        fix = cli_sql.check(o)
        if fix:
            raise BadArguments(fix)
        _print(cli_sql.run(o))
        return ANSWER

    return _guarded(work)


def compare(o: argparse.Namespace) -> int:
    """`rexmit compare`."""
    from rexmit import cli_compare

    def work() -> int:
        lines, failure = cli_compare.compare(o)
        _print(lines)
        return _say(failure, FAILED) if failure else ANSWER

    return _guarded(work)


def traffic(o: argparse.Namespace) -> int:
    """`rexmit traffic`."""
    from rexmit import cli_traffic

    def work() -> int:
        fix = cli_traffic.check(o)
        if fix:
            raise BadArguments(fix)
        lines, failure = cli_traffic.run(o)
        _print(lines)
        return _say(failure, FAILED) if failure else ANSWER

    return _guarded(work)


def replay(o: argparse.Namespace) -> int:
    """`rexmit replay`."""
    from rexmit import cli_replay

    def work() -> int:
        _print(cli_replay.run(o))
        return ANSWER

    return _guarded(work)


def report(o: argparse.Namespace) -> int:
    """`rexmit report`."""
    from rexmit import cli_report

    def work() -> int:
        fix = cli_report.check(o)
        if fix:
            raise BadArguments(fix)
        cli_report.report(o)
        return ANSWER

    return _guarded(work)


def view(o: argparse.Namespace) -> int:
    """`rexmit view`."""
    from rexmit import cli_view

    def work() -> int:
        fix = cli_view.check(o)
        if fix:
            raise BadArguments(fix)
        cli_view.view(o)
        return ANSWER

    return _guarded(work)


def drill(o: argparse.Namespace) -> int:
    """`rexmit drill`."""
    from rexmit import cli_drill

    def work() -> int:
        lines, code = cli_drill.run(o)
        _print(lines)
        return code

    return _guarded(work)


def mcp(o: argparse.Namespace) -> int:
    """`rexmit mcp`."""
    from rexmit import cli_mcp

    def work() -> int:
        cli_mcp.run(o)
        return ANSWER

    return _guarded(work)


def completion(o: argparse.Namespace) -> int:
    """`rexmit completion`."""
    from rexmit import cli_completion

    def work() -> int:
        _print(cli_completion.completion(o, parser()))
        return ANSWER

    return _guarded(work)


def record(o: argparse.Namespace) -> int:
    """`rexmit record`."""
    from rexmit import cli_record

    def work() -> int:
        fix = cli_record.check(o)
        if fix:
            raise BadArguments(fix)
        failure = cli_record.record(o, _print)
        return _say(failure, FAILED) if failure else ANSWER

    return _guarded(work)


def live(o: argparse.Namespace) -> int:
    """`rexmit live`."""
    from rexmit import cli_run

    def work() -> int:
        lines, well = cli_run.live(o)
        _print(lines)
        return ANSWER if well else FAILED

    return _guarded(work)


COMMANDS = {
    "analyze": analyze,
    "run": run,
    "record": record,
    "live": live,
    "stacks": show,
    "channels": show,
    "study": study,
    "sweep": sweep,
    "sql": sql,
    "compare": compare,
    "traffic": traffic,
    "replay": replay,
    "report": report,
    "view": view,
    "drill": drill,
    "mcp": mcp,
    "completion": completion,
}


def _guarded(work: Callable[[], int]) -> int:
    """Whatever goes wrong is one sentence and an exit code."""
    from rexmit import _core
    from rexmit.not_written import sentence

    try:
        return work()
    except _core.ScenarioError as error:
        # Its lines name the file by themselves.
        for line in str(error).split("\n"):
            tell(line)
        return BAD_INPUT
    except UnicodeEncodeError as error:
        # Names of files may have any bytes, all else is text.
        return _say(f"{error.object} has bytes that are not UTF-8, where text is wanted", BAD_INPUT)
    except (_core.LiveError, NotWrittenError) as error:
        return _say(str(error), FAILED)
    except (_core.CaptureError, BadArguments, ValueError) as error:
        return _say(str(error), BAD_INPUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _say(place + sentence(error), FAILED)
    except Exception as error:
        # A fault of ours: whoever meets it gets a sentence, whoever fixes it asks for the trace.
        if os.environ.get("REXMIT_TRACE"):
            raise
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return _say(f"a fault of rexmit, {told}; REXMIT_TRACE=1 shows where", FAILED)


#: For terminals and pipes that cannot carry these.
ASCII = str.maketrans(
    {
        "→": "->",
        "…": "...",
        "─": "-",
        "═": "=",
        "▶": ">",
        "◀": "<",
        "✕": "X",
        "·": "-",
        "µ": "u",
        "×": "x",
        "≠": "!=",
        "±": "+-",
    }
)


def _print(lines: Sequence[str]) -> None:
    text = visible("\n".join(lines) + "\n")
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        text = text.translate(ASCII).encode("ascii", "replace").decode("ascii")
    with printing():
        sys.stdout.write(text)
