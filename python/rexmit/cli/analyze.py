"""`rexmit analyze`. Imports stay light: what the command needs is imported when it runs."""

from __future__ import annotations

import argparse
import os
import sys
from shlex import quote
from typing import TYPE_CHECKING, Any

from rexmit.cli import ends, options
from rexmit.cli.ending import ANSWER, FAILED, refuse
from rexmit.cli.shown import show
from rexmit.cli.values import duration, memory, port, positive
from rexmit.files.address import is_remote
from rexmit.files.destination import opened
from rexmit.files.not_written import STOPPED, UNDRAWN, NotWrittenError
from rexmit.screen.say import as_json, tell, visible, without_folders
from rexmit.screen.streams import printing

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.captured.flows import Flow
    from rexmit.files.destination import Destination

#: Broken laws that --audit names, at most.
BROKEN = 20
#: How many flows the JSON lists unless told otherwise.
MOST_LISTED = 10_000

ANALYZE = """\
Reads captures (pcap, pcapng; plain, gzip, zstd, xz; "-": standard input) and says of each connection where
its time went and why: what the next byte was waiting for, how sure that is, and what would help.
"""
EXAMPLES = """\
examples:
  rexmit analyze slow.pcapng                              the answer on one screen
  rexmit analyze slow.pcapng --out slow/                  and tables and figures
  rexmit analyze slow.pcapng --ladder 2                   the packets of the second repair
  rexmit analyze busy.pcapng --by pair                    which hosts lost most time
  rexmit analyze captures/ --out fleet/                   every capture in it, and what all come to
  rexmit analyze --sender a.pcap --receiver b.pcap        both ends: losses are exact
  rexmit analyze good.pcap --against bad.pcap             what differs, by what it costs

exit codes: 0 an answer, 1 a failed run, 2 bad input
"""


def add(commands: Any) -> None:
    """`analyze` and its options."""

    def flows(text: str) -> int | None:
        return None if text == "all" else positive(text)

    a = commands.add_parser(
        "analyze",
        help="say what happened to each transfer of a capture",
        description=ANALYZE,
        epilog=EXAMPLES,
    )
    a.add_argument(
        "captures",
        nargs="*",
        metavar="CAPTURE",
        help="capture files; several are one rotation, in order; a folder that rexmit record made; or any "
        "other folder, or a pattern in quotes: many captures (docs/fleet.md)",
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
    reading.add_argument("--port", type=port, help="connections of this port only")
    reading.add_argument(
        "--from", dest="start", type=duration, metavar="TIME", help="from this long after the first packet"
    )
    reading.add_argument(
        "--to", dest="end", type=duration, metavar="TIME", help="up to this long after the first packet"
    )
    options.idle(reading)
    reading.add_argument(
        "--checksums",
        action="store_true",
        help="verify TCP checksums (reads every byte): a segment with a wrong one counts as not arrived",
    )
    reading.add_argument(
        "--max-memory",
        type=memory,
        metavar="SIZE",
        help="once this much is used, further packets are counted and not analysed "
        "(default: three quarters of what is free)",
    )
    reading.add_argument(
        "--threads",
        type=positive,
        metavar="N",
        help="threads that analyse; the answer is the same on any number (default: one per core)",
    )
    reading.add_argument(
        "--each", action="store_true", help="each capture by itself, as those of a folder (docs/fleet.md)"
    )
    reading.add_argument(
        "--cluster",
        metavar="WHERE",
        help="Dask's workers analyse the captures of a folder: local:4, tcp://HOST:8786 (docs/cluster.md)",
    )
    asked = a.add_argument_group("what is shown")
    asked.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/json.md)")
    asked.add_argument(
        "--flows",
        type=flows,
        default=MOST_LISTED,
        metavar="N",
        help=f"how many flows the JSON lists: the worst N, or all (default {MOST_LISTED}); "
        "its totals are over all flows",
    )
    asked.add_argument(
        "--top", type=positive, metavar="N", help="how many flows (default: 7 on the page, 3 with figures)"
    )
    asked.add_argument(
        "--by",
        choices=("pair", "host", "port", "cause"),
        help="flows added up: by pair of hosts, by host, by the port called, by cause",
    )
    asked.add_argument(
        "--why",
        action="store_true",
        help="on the page, what each cause means, how it is recognised, and causes of little time, too",
    )
    asked.add_argument(
        "--audit",
        action="store_true",
        help="in place of the page: hold every answer against the laws that none may break (docs/causes.md)",
    )
    asked.add_argument(
        "--ladder", type=positive, metavar="N", help="the packets of repair N of the worst flow"
    )
    asked.add_argument(
        "--like",
        action="store_true",
        help="which stack the sender with the most data is like, by replay (docs/replay.md)",
    )
    asked.add_argument(
        "--against", metavar="CAPTURE", help="what differs between the largest flows of two captures"
    )
    written = a.add_argument_group("what is written")
    written.add_argument(
        "--out", metavar="DIR", help="write tables, figures and summary.json into this folder"
    )
    options.overwriting(written)
    options.reporting(written)
    options.figures_and_tables(written)
    written.add_argument(
        "--annotate", metavar="OUT.pcapng", help="the same packets with the findings as packet comments"
    )


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together; None where they do."""
    if wrong := ends.check(o, o.captures):
        return wrong
    if is_fleet(o):
        from rexmit.cli import fleet

        return fleet.check(o)
    if not o.sender and not o.captures:
        return "no capture named; try rexmit analyze FILE, or - for standard input"
    if wrong := options.check_written(o):
        return wrong
    if o.start is not None and o.end is not None and o.end <= o.start:
        return f"--to {o.end:g} is not after --from {o.start:g}"
    if o.interval <= 0:
        return "--interval must be longer than 0"
    if o.annotate and "-" in (o.captures or []):
        return "--annotate reads the capture twice: standard input can be read once only, use a file"
    if o.annotate:
        for path in (o.captures or []) + (o.sender or []) + (o.receiver or []):
            if os.path.exists(o.annotate) and os.path.exists(path) and os.path.samefile(o.annotate, path):
                return f"--annotate {o.annotate}: this capture is read; name another file to write"
        if wrong := options.check_folder("--annotate", o.annotate):
            return wrong
    if o.like and "-" in (o.captures or []):
        return "--like reads the capture twice: standard input can be read once only, use a file"
    if o.audit and (o.json or o.by or o.ladder or o.against):
        return "--audit takes the place of the page: ask for it alone"
    if o.json and o.ladder:
        return "--json and --ladder both want the output; ask for one of them"
    if o.by and (o.ladder or o.against):
        return f"--by and {'--ladder' if o.ladder else '--against'} both want the page; ask for one of them"
    return None


def run(o: argparse.Namespace) -> int:
    """What was asked for, shown and written."""
    refuse(check(o))
    return FAILED if _analyze(o) else ANSWER


def _analyze(o: argparse.Namespace) -> bool:
    """Whether rexmit itself failed on a flow; everything else is shown."""
    if is_fleet(o):
        from rexmit.cli import fleet

        return fleet.analyze(o)
    if o.json and not (o.out or o.annotate or o.against or o.by or _recorded(o.captures)):
        return _json(o)
    if o.annotate:
        _may_annotate(o)
    # Before the reading, which may take long: the folder is ours, and nothing in it is in the way.
    with opened(o.out, _planned() if o.out else (), o.overwrite) as into:
        capture = _read(o, o.sender or o.captures, o.receiver)
        if o.against:
            _against(o, capture)
        else:
            _told(o, capture, into)
    return capture.failed


def _may_annotate(o: argparse.Namespace) -> None:
    from rexmit import _core
    from rexmit.files.destination import check_file

    check_file(o.annotate, lambda path: _core.is_annotated(os.fspath(path)), o.overwrite)


def _planned() -> list[str]:
    from rexmit.files.output import planned

    return planned()


def _told(o: argparse.Namespace, capture: Capture, into: Destination | None) -> None:
    """Writes, and shows, what was asked for of one capture."""
    done, lacking, stopped = "", None, False
    # Whoever stopped it waits for the answer.
    shown = capture.hurried
    if shown:
        _shown(o, capture)
    if into:
        from rexmit.files.output import chosen, write

        forms, figures, without = chosen(o)
        try:
            done = write(
                capture,
                into,
                forms=forms,
                packets_as_csv=o.csv,
                figures=None if shown else figures,
                top=o.top or 3,
                report=o.report and not shown,
            )
            done += without + (f"; {UNDRAWN}" if shown and figures else "")
        except NotWrittenError as error:
            # The answer is shown first.
            lacking = error
        except KeyboardInterrupt:
            lacking, stopped = NotWrittenError(STOPPED.format(o.out)), True
    if o.annotate and not stopped:
        from rexmit import _core

        # Reading took its time, in which somebody may have put a file there.
        _may_annotate(o)
        n = _core.annotate(capture.analysis, capture.sender_paths, o.annotate, _for_wireshark(capture))
        tell(f"{o.annotate}: the same packets, findings as comments on {n:,} of them")
        opens = f"wireshark -C rexmit {quote(o.annotate)}"
        tell(f"open it with: {opens}   (once before: rexmit wireshark --install)")
    if not shown:
        _shown(o, capture)
    if lacking:
        raise lacking
    if into:
        tell(done, None if o.json else sys.stdout)


def _for_wireshark(capture: Capture) -> str:
    """The page without its next command: what the properties of the annotated file show."""
    return visible(without_folders(capture.page(hints=False), [*capture.paths, *(capture.receiver or ())]))


def _audited(capture: Capture) -> list[str]:
    """How many answers keep the laws, and what breaks one. Raises NotWrittenError if one is broken."""
    answers, broken = capture.analysis.audit(BROKEN)
    if broken:
        raise NotWrittenError("\n".join([f"an answer breaks a law: {one}" for one in broken]))
    return [f"{capture.name}: {answers:,} answers keep the laws"]


def _shown(o: argparse.Namespace, capture: Capture) -> None:
    """The answer in the form that was asked for."""
    if o.audit:
        show(_audited(capture))
    elif o.by:
        show(_by(o, capture))
    elif o.json:
        with printing():
            capture.write_json(1)
    elif o.ladder and not capture.hurried:
        # Another pass, if packets were not kept.
        show(_ladder(o, capture))
    else:
        from rexmit.screen.progress import soon

        show(soon(capture, lambda: capture.page(o.top or 7, hints=not o.out, why=o.why)).splitlines())


def _by(o: argparse.Namespace, capture: Capture) -> list[str]:
    """Flows added up: as lines, or as one JSON object."""
    if o.json:
        rows = capture.by(o.by).to_pylist()
        return [as_json({"by": o.by, "groups": rows})]
    from rexmit.screen.groups_page import MOST, page

    return page(capture, o.by, o.top or MOST)


def _json(o: argparse.Namespace) -> bool:
    """The JSON and nothing else: what it does not list is not kept, and no table library is loaded."""
    from rexmit import _core
    from rexmit.memory import limit
    from rexmit.screen.progress import Progress

    paths = o.sender or o.captures
    with Progress(os.path.basename(paths[0])) as progress:
        asked = _options(o) | {"max_memory": limit(o.max_memory)}
        found = _core.analyze(paths, receiver=o.receiver, listed_only=True, progress=progress, **asked)
    with printing():
        found.write_json(1)
    return found.failed()


def is_fleet(o: argparse.Namespace) -> bool:
    """Whether many separate captures are named: a folder that is no recording, a pattern, an address, or by
    --each.
    """
    several = len(o.captures or ()) > 1
    if o.each or o.cluster or (several and any(os.path.isdir(one) or is_remote(one) for one in o.captures)):
        return True
    if len(o.captures or ()) != 1:
        return False
    (path,) = o.captures
    if is_remote(path):
        return True
    if os.path.isdir(path):
        return not _recorded([path])
    return not os.path.exists(path) and any(sign in path for sign in "*?[")


def _recorded(paths: list[str]) -> bool:
    """Whether what is named is a folder that `rexmit record` made."""
    if len(paths) != 1 or not os.path.isdir(paths[0]):
        return False
    from rexmit.captured.recording import is_recording

    return is_recording(paths[0])


def _options(o: argparse.Namespace) -> dict[str, Any]:
    names = ["flow", "host", "port", "start", "end", "at", "idle", "interval", "checksums", "flows"]
    names += ["max_memory", "threads", "like"]
    return {name: getattr(o, name) for name in names}


def _read(o: argparse.Namespace, paths: list[str], receiver: list[str] | None) -> Capture:
    from rexmit.api import Capture
    from rexmit.screen.progress import Progress

    asked = _options(o)
    kinds: tuple[Any, ...] = ()
    if o.out:
        kinds = ("retransmissions", "intervals", "rtt", "packets")
    elif o.annotate or (o.ladder and "-" in paths):
        kinds = ("retransmissions", "packets")
    with Progress(os.path.basename(paths[0])) as progress:
        if _recorded(paths) and receiver is None:
            from rexmit.captured.recording import Recording

            capture: Capture = Recording(paths[0], asked, kinds, progress)
        else:
            capture = Capture(paths, receiver, asked, kinds, progress)
    # What is computed later reads on, whatever stopped this.
    capture._progress = None
    # Standard input cannot be had again, and Ctrl-C is how much of it ends.
    capture.hurried = progress.stopped and "-" not in paths
    return capture


def _main_flow(o: argparse.Namespace, capture: Capture) -> Flow:
    worst = capture.worst(1)
    if not worst:
        raise ValueError(f"{capture.name}: no TCP connection in it carries data")
    return worst[0]


def _ladder(o: argparse.Namespace, capture: Capture) -> list[str]:
    from rexmit.captured import ladder

    flow = _main_flow(o, capture)
    return ladder.text(flow.exchange(o.ladder), _width())


def _against(o: argparse.Namespace, capture: Capture) -> None:
    from rexmit.compared.differences import between, page

    # Other hosts took part in the other transfer: only the port can select in both.
    o.flow = o.host = None
    other = capture if capture.hurried else _read(o, [o.against], None)
    if other.hurried:
        raise KeyboardInterrupt
    comparison = between(capture, other)
    if o.json:
        show([as_json(comparison.as_json(), 1)])
    else:
        show(page(comparison))


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((120, 40)).columns if sys.stdout.isatty() else 120
