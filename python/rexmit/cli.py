"""The command line. Imports stay light: what a command needs is imported when the command runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from rexmit.say import tell, visible
from rexmit.units import parse_duration

if TYPE_CHECKING:
    from rexmit.api import Capture, Flow

#: Exit codes: an answer, a run that failed, input that is no use.
ANSWER, FAILED, BAD_INPUT = 0, 1, 2
#: How many flows the JSON lists unless told otherwise.
MOST_LISTED = 10_000

ABOUT = """\
What a burst of losses did to a TCP transfer, and how the transfer came back.
"""
ANALYZE = """\
Reads captures (pcap, pcapng; plain, gzip, zstd, xz; "-": standard input) and says what happened to each
transfer: which copies were lost, how each burst was repaired and what that cost, how long the sender sat idle
and why, and where to look.
"""
EXAMPLES = """\
examples:
  rexmit analyze slow.pcapng                              the answer on one screen
  rexmit analyze slow.pcapng --out slow/                  and tables and figures
  rexmit analyze slow.pcapng --ladder 2                   the packet exchange of episode 2
  rexmit analyze --sender a.pcap --receiver b.pcap        both ends: losses are exact
  rexmit analyze good.pcap --against bad.pcap             what differs, by what it costs

exit codes: 0 an answer, 1 a failed run, 2 bad input
"""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence with the nearest valid option."""

    def error(self, message: str) -> NoReturn:
        hint = ""
        if message.startswith("argument ") and message.endswith(": expected one argument"):
            name = message.removeprefix("argument ").removesuffix(": expected one argument")
            message = f"{name} needs a value"
            after = next((w for w in sys.argv if w.startswith("-") and w[1:2].isdigit()), None)
            hint = f"; {after} is below 0, which it can not be" if after else f"; see {self.prog} --help"
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
        self.exit(BAD_INPUT, visible(f"{self.prog}: {message}{hint}\n"))

    def _known(self) -> list[str]:
        known = list(self._option_string_actions)
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for sub in action.choices.values():
                    known += sub._known()
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
    return value


def _flows(text: str) -> int | None:
    return None if text == "all" else _positive(text)


def _port(text: str) -> int:
    value = _positive(text)
    if value > 65_535:
        raise argparse.ArgumentTypeError(f"{value} is no port; ports end at 65535")
    return value


def parser(command: str | None = None) -> Parser:
    """The whole command line; where it is known to begin with analyze, no more than that takes."""
    top = Parser(prog="rexmit", description=ABOUT, allow_abbrev=False)
    top.add_argument("--version", action="store_true", help="print the version and exit")
    # The name is given, or a formatter is made, which loads modules, to find it.
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser, prog="rexmit")
    _add_analyze(commands)
    if command != "analyze":
        from rexmit import cli_compare, cli_run, cli_study, cli_traffic

        cli_run.add(commands, _positive, _duration)
        cli_study.add(commands)
        cli_compare.add(commands)
        cli_traffic.add(commands, _duration)
    return top


def _add_analyze(commands: Any) -> None:
    a = commands.add_parser(
        "analyze",
        help="say what happened to each transfer of a capture",
        description=ANALYZE,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    a.add_argument(
        "captures", nargs="*", metavar="CAPTURE", help="capture files; several are one rotation, in order"
    )
    reading = a.add_argument_group("what is read")
    reading.add_argument(
        "--sender", nargs="+", metavar="CAPTURE", help="captures at the sender, with --receiver"
    )
    reading.add_argument(
        "--receiver", nargs="+", metavar="CAPTURE", help="captures of the same transfer at the receiver"
    )
    reading.add_argument(
        "--at", choices=("sender", "receiver", "middle"), help="where it was taken (default: inferred)"
    )
    reading.add_argument("--flow", metavar="IP:PORT-IP:PORT", help="this connection only, either end first")
    reading.add_argument("--host", metavar="IP", help="connections of this host only")
    reading.add_argument("--port", type=_port, help="connections of this port only")
    reading.add_argument(
        "--from", dest="start", type=_duration, metavar="TIME", help="from this long after the first packet"
    )
    reading.add_argument(
        "--to", dest="end", type=_duration, metavar="TIME", help="up to this long after the first packet"
    )
    reading.add_argument(
        "--idle",
        type=_duration,
        metavar="TIME",
        help="what counts as idle (default: two round trips, at least 50ms)",
    )
    reading.add_argument(
        "--interval", type=_duration, default=1.0, metavar="TIME", help="length of the intervals (default 1s)"
    )
    reading.add_argument(
        "--checksums",
        action="store_true",
        help="verify TCP checksums (a pass over every byte): a segment whose is wrong has not arrived",
    )
    asked = a.add_argument_group("what is shown")
    asked.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/json.md)")
    asked.add_argument(
        "--flows",
        type=_flows,
        default=MOST_LISTED,
        metavar="N",
        help=f"how many flows the JSON lists: the worst N, or all (default {MOST_LISTED}); "
        "its totals are over all flows",
    )
    asked.add_argument(
        "--top", type=_positive, metavar="N", help="how many flows (default: 7 on the page, 3 with figures)"
    )
    asked.add_argument(
        "--ladder", type=_positive, metavar="N", help="the packet exchange of episode N of the worst flow"
    )
    asked.add_argument(
        "--against", metavar="CAPTURE", help="what differs between the largest flows of two captures"
    )
    written = a.add_argument_group("what is written")
    written.add_argument(
        "--out", metavar="DIR", help="write tables, figures and summary.json into this folder"
    )
    written.add_argument(
        "--figures", choices=("png", "svg", "pdf", "none"), help="format of the figures (default png)"
    )
    written.add_argument("--csv", action="store_true", help="tables as CSV only (default: Parquet and CSV)")
    written.add_argument("--parquet", action="store_true", help="tables as Parquet only")
    written.add_argument(
        "--annotate", metavar="OUT.pcapng", help="the same packets with the findings as packet comments"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    given = sys.argv[1:] if argv is None else list(argv)
    arguments = parser(given[0] if given else None)
    try:
        options, unknown = arguments.parse_known_args(given)
        if unknown:
            arguments.error("unrecognized arguments: " + " ".join(unknown))
        if options.version:
            from rexmit import _core

            print(f"rexmit {_core.__version__}")
            return ANSWER
        if options.command is None:
            arguments.print_help()
            return ANSWER
        code = COMMANDS[options.command](options)
        sys.stdout.flush()
        return code
    except SystemExit as end:
        return int(end.code or 0)
    except BrokenPipeError:
        # Whoever read this has had enough: what Python flushes at exit must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ANSWER
    except KeyboardInterrupt:
        return _say("stopped before there was an answer", FAILED)


def _say(sentence: str, code: int) -> int:
    tell(f"rexmit: {sentence}")
    return code


class BadArguments(Exception):
    """Options that do not go together; the message is the mend."""


def _check(o: argparse.Namespace) -> None:
    if (o.sender is None) != (o.receiver is None):
        missing = "--receiver" if o.receiver is None else "--sender"
        raise BadArguments(
            f"two captures of one transfer need both --sender and --receiver; {missing} is missing"
        )
    if o.sender and o.captures:
        raise BadArguments(f"{o.captures[0]}: name a capture, or --sender and --receiver, not all three")
    if not o.sender and not o.captures:
        raise BadArguments("no capture named; try rexmit analyze FILE, or - for standard input")
    if o.figures and o.figures != "none" and not o.out:
        raise BadArguments("--figures needs --out DIR to write into")
    if (o.csv or o.parquet) and not o.out:
        raise BadArguments(f"{'--csv' if o.csv else '--parquet'} needs --out DIR to write into")
    if o.start is not None and o.end is not None and o.end <= o.start:
        raise BadArguments(f"--to {o.end:g} is not after --from {o.start:g}")
    if o.interval <= 0:
        raise BadArguments("--interval must be longer than 0")
    if o.annotate and "-" in (o.captures or []):
        raise BadArguments(
            "--annotate reads the capture twice: standard input can be read once only, use a file"
        )
    if o.annotate:
        for path in (o.captures or []) + (o.sender or []) + (o.receiver or []):
            if os.path.exists(o.annotate) and os.path.exists(path) and os.path.samefile(o.annotate, path):
                raise BadArguments(
                    f"--annotate {o.annotate}: this capture is read; name another file to write"
                )
        folder = os.path.dirname(o.annotate)
        if folder and not os.path.isdir(folder):
            raise BadArguments(f"--annotate {o.annotate}: there is no folder {folder}")
    if o.json and o.ladder:
        raise BadArguments("--json and --ladder both want the output; ask for one of them")


def analyze(o: argparse.Namespace) -> int:
    """`rexmit analyze`."""

    def work() -> int:
        _check(o)
        return _analyze(o)

    return _guarded(work)


def run(o: argparse.Namespace) -> int:
    """`rexmit run`."""
    from rexmit import cli_run

    def work() -> int:
        mend = cli_run.check(o)
        if mend:
            raise BadArguments(mend)
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
        mend = cli_study.check(o)
        if mend:
            raise BadArguments(mend)
        failure = cli_study.study(o, _print)
        return _say(failure, FAILED) if failure else ANSWER

    return _guarded(work)


def compare(o: argparse.Namespace) -> int:
    """`rexmit compare`."""
    from rexmit import cli_compare

    def work() -> int:
        _print(cli_compare.compare(o))
        return ANSWER

    return _guarded(work)


def traffic(o: argparse.Namespace) -> int:
    """`rexmit traffic`."""
    from rexmit import cli_traffic

    def work() -> int:
        mend = cli_traffic.check(o)
        if mend:
            raise BadArguments(mend)
        _print(cli_traffic.run(o))
        return ANSWER

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
    "live": live,
    "stacks": show,
    "channels": show,
    "study": study,
    "compare": compare,
    "traffic": traffic,
}


def _guarded(work: Callable[[], int]) -> int:
    """Whatever goes wrong is one sentence and an exit code."""
    from rexmit import _core
    from rexmit.writing import NotWrittenError, sentence

    try:
        return work()
    except _core.ScenarioError as error:
        # Its lines name the file by themselves.
        tell(error)
        return BAD_INPUT
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
        # A fault of ours: whoever meets it gets a sentence, whoever mends it asks for the trace.
        if os.environ.get("REXMIT_TRACE"):
            raise
        told = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return _say(f"a fault of rexmit, {told}; REXMIT_TRACE=1 shows where", FAILED)


def _analyze(o: argparse.Namespace) -> int:
    if o.json and not (o.out or o.annotate or o.against):
        return _json(o)
    capture = _read(o, o.sender or o.captures, o.receiver)
    if o.against:
        return _against(o, capture)
    if o.out:
        from rexmit.output import write

        done = write(
            capture,
            o.out,
            forms=[form for form in ("parquet", "csv") if getattr(o, form) or not (o.csv or o.parquet)],
            packets_as_csv=o.csv,
            figures=None if o.figures == "none" else (o.figures or "png"),
            top=o.top or 3,
        )
    if o.annotate:
        from rexmit import _core

        n = _core.annotate(capture.analysis, capture.sender_paths, o.annotate)
        tell(f"{o.annotate}: the same packets, findings as comments on {n:,} of them")
    if o.json:
        capture.analysis.write_json(1)
    elif o.ladder:
        _ladder(o, capture)
    else:
        _page(o, capture)
    if o.out:
        tell(done, sys.stderr if o.json else sys.stdout)
    return ANSWER


def _json(o: argparse.Namespace) -> int:
    """The JSON and nothing else: what it does not list is not kept, and no table library is loaded."""
    from rexmit import _core
    from rexmit.progress import Progress

    paths = o.sender or o.captures
    with Progress(os.path.basename(paths[0])) as progress:
        found = _core.analyze(paths, receiver=o.receiver, listed_only=True, progress=progress, **_options(o))
    found.write_json(1)
    return ANSWER


def _options(o: argparse.Namespace) -> dict[str, Any]:
    names = ("flow", "host", "port", "start", "end", "at", "idle", "interval", "checksums", "flows")
    return {name: getattr(o, name) for name in names}


def _read(o: argparse.Namespace, paths: list[str], receiver: list[str] | None) -> Capture:
    from rexmit.api import Capture
    from rexmit.progress import Progress

    options = _options(o)
    kinds: tuple[Any, ...] = ()
    if o.out:
        kinds = ("retransmissions", "intervals", "rtt", "packets")
    elif o.annotate or (o.ladder and "-" in paths):
        kinds = ("retransmissions", "packets")
    with Progress(os.path.basename(paths[0])) as progress:
        return Capture(paths, receiver, options, kinds, progress)


def _page(o: argparse.Namespace, capture: Capture) -> None:
    _print(capture.page(o.top or 7, hints=not o.out).splitlines())


def _main_flow(o: argparse.Namespace, capture: Capture) -> Flow:
    worst = capture.worst(1)
    if not worst:
        raise ValueError(f"{capture.name}: no TCP connection in it carries data")
    return worst[0]


def _ladder(o: argparse.Namespace, capture: Capture) -> None:
    from rexmit import ladder

    flow = _main_flow(o, capture)
    _print(ladder.text(flow.exchange(o.ladder), _width()))


def _against(o: argparse.Namespace, capture: Capture) -> int:
    from rexmit.against import compare, page

    # Other hosts took part in the other transfer: only the port can select in both.
    o.flow = o.host = None
    other = _read(o, [o.against], None)
    comparison = compare(capture, other)
    if o.json:
        import json

        print(json.dumps(comparison.as_json(), indent=1))
    else:
        _print(page(comparison))
    return ANSWER


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((120, 40)).columns if sys.stdout.isatty() else 120


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
    sys.stdout.write(text)
