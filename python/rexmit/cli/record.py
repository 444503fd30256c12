"""`rexmit record`. Imports stay light: what the command needs is imported when it runs."""

from __future__ import annotations

import argparse
import re
import signal
import sys
from typing import Any

from rexmit import extras
from rexmit.cli.ending import ended, refuse
from rexmit.cli.shown import show
from rexmit.cli.values import duration
from rexmit.screen.say import tell
from rexmit.screen.streams import printing

RECORD = """\
Records this machine's own traffic, or what a command sends and receives, and beside it what the kernel knows:
why it sent each segment again, its windows, RTT and timers, its counters, interfaces and queues. Then it says
what happened, as rexmit analyze does. Nothing of the machine is changed. Linux, as root (docs/record.md).
"""
EXAMPLES = """\
examples:
  rexmit record -- curl -O https://example.org/file     what one command does, until it ends
  rexmit record --filter 'port 443' --for 60s           a minute of HTTPS, whoever's it is
  rexmit record --filter 'host 192.0.2.7' --ring 10x100MB   until Ctrl-C; the newest 1 GB stays
  rexmit analyze DIR                                    the same answer again, on any machine

exit codes: 0 an answer, 1 a recording that failed, 2 bad input
"""
SIZES = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
#: A file of a ring has room for some packets at least.
SMALLEST = 100_000


def ring(text: str) -> tuple[int, int]:
    """`10x100MB` as files and bytes of each."""
    found = re.fullmatch(r"(\d+)x(\d+(?:\.\d+)?)([A-Za-z]*)", text)
    if not found or found[3] not in SIZES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no ring; write files x size, like 10x100MB ({', '.join(u for u in SIZES if u)})"
        )
    files, size = int(found[1]), int(float(found[2]) * SIZES[found[3]])
    if files < 2 or size < SMALLEST:
        raise argparse.ArgumentTypeError(f"{text!r} is too small: at least 2 files of 100 kB")
    return files, size


def add(commands: Any) -> None:
    """`record` and its options."""
    r = commands.add_parser(
        "record",
        help="record this machine's traffic, with the kernel's own word for what it did",
        description=RECORD,
        epilog=EXAMPLES,
    )
    r.add_argument(
        "words", nargs="*", metavar="-- COMMAND", help="record what this command and its children do"
    )
    r.add_argument("-o", "--out", metavar="DIR", help="a new folder for it (default: recording-TIME)")
    r.add_argument(
        "--filter",
        metavar="EXPR",
        help="which traffic, as in tcpdump: host, net, port, portrange, src, dst, tcp, udp, and, or, not",
    )
    r.add_argument("--interface", metavar="NAME", help="packets of this interface only (default: all)")
    r.add_argument("--payload", action="store_true", help="keep packets whole, not only their headers")
    r.add_argument(
        "--ring", type=ring, metavar="NxSIZE", help="keep the newest N files of this size (10x100MB)"
    )
    r.add_argument("--for", dest="limit", type=duration, metavar="TIME", help="end after this long (60s)")
    r.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/json.md)")


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together; None where they do."""
    extras.need("tables", "rexmit record")
    if o.limit is not None and o.limit <= 0:
        return "--for must be longer than 0"
    return None


def run(o: argparse.Namespace) -> int:
    """Records, and shows the answer."""
    refuse(check(o))
    return ended(_record(o))


def _record(o: argparse.Namespace) -> str | None:
    """Returns why the recording failed, if it did."""
    from rexmit.captured.recording import record
    from rexmit.running.bench import told_to_end
    from rexmit.screen.progress import Stepping
    from rexmit.screen.units import count

    folder = o.out or _name()
    stepping = Stepping(f"recording into {folder}")
    said: list[str] = []
    with told_to_end(signal.SIGINT) as came:

        def progress(now: float, whole: float | None, packets: int) -> bool:
            # The terminal is the command's, if there is one.
            if o.words:
                return not came
            if not said:
                said.append(f"recording into {folder}" + ("" if o.limit is not None else "; Ctrl-C ends it"))
                tell(said[0])
            return not came and stepping(now, whole, packets)

        recording = record(
            folder,
            o.words,
            filter=o.filter,
            interface=o.interface,
            payload=o.payload,
            ring=o.ring,
            limit=o.limit,
            progress=progress,
        )
        stepping.hide()
    about = recording.about
    done = f"recorded {count(about['packets'], 'packet')} into {folder}"
    if about.get("exit") and not about["exit_well"]:
        done += f"; {o.words[0]} ended with {about['exit']}"
    tell(done)
    if o.json:
        sys.stdout.flush()
        with printing():
            recording.write_json(1)
    else:
        show(recording.page().splitlines())
    return f"{folder}: {about['capture_error']}" if about.get("capture_error") else None


def _name() -> str:
    from datetime import datetime

    return datetime.now().astimezone().strftime("recording-%Y%m%d-%H%M%S")
