"""`rexmit wireshark`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from rexmit.cli.ending import ANSWER, refuse
from rexmit.cli.options import check_folder, overwriting
from rexmit.cli.shown import show

ABOUT = """\
A script for Wireshark and tshark that shows findings as fields, in a capture that rexmit analyze --annotate
wrote: rexmit.cause, rexmit.needless, rexmit.lost, rexmit.episode and others (docs/wireshark.md).
"""
EXAMPLES = """\
examples:
  rexmit wireshark --install                            for Wireshark, with a profile "rexmit"
  rexmit analyze slow.pcapng --annotate noted.pcapng    then: wireshark -C rexmit noted.pcapng
  rexmit wireshark --out rexmit.lua                     the script alone
  tshark -X lua_script:rexmit.lua -r noted.pcapng -Y rexmit.needless
  rexmit wireshark --rules --out rules.txt              coloring rules, to import into another profile

exit codes: 0 written, 1 it could not be written, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    w = commands.add_parser(
        "wireshark",
        help="findings as fields in Wireshark: a script and a profile",
        description=ABOUT,
        epilog=EXAMPLES,
    )
    w.add_argument(
        "--out",
        metavar="FILE",
        help="write into this file (default: standard output, unless it is a terminal)",
    )
    w.add_argument("--rules", action="store_true", help="the coloring rules in place of the script")
    w.add_argument(
        "--install",
        action="store_true",
        help='put the script and a profile "rexmit" into your own folders of Wireshark',
    )
    overwriting(w)


def check(o: argparse.Namespace) -> str | None:
    """A sentence about options that cannot be combined, with what to change."""
    if o.install and (o.out or o.rules):
        return f"--install has places of its own, and writes all: leave {'--out' if o.out else '--rules'} out"
    return check_folder("--out", o.out)


def run(o: argparse.Namespace) -> int:
    """Shows or writes the script, or installs it."""
    refuse(check(o))
    from rexmit.files.destination import check_file
    from rexmit.files.whole import write
    from rexmit.wireshark import placing

    if o.install:
        placed = placing.install(o.overwrite)
        show([*(f"wrote {path}" for path in placed), *_next()])
        return ANSWER
    text = placing.content(placing.RULES if o.rules else placing.SCRIPT)
    if not o.out and sys.stdout.isatty():
        show(_ways())
        return ANSWER
    if not o.out:
        show(text.decode().splitlines())
        return ANSWER
    check_file(o.out, placing.is_ours, o.overwrite)
    write(Path(o.out), [text])
    show([f"wrote {o.out}"])
    return ANSWER


def _ways() -> list[str]:
    """What a person at a terminal can do, who has no use for 200 lines of Lua there."""
    from textwrap import wrap

    from rexmit.screen.wide import hanging, page_width

    ways = (
        ("--install", 'puts the script and a profile "rexmit" into your own folders of Wireshark'),
        ("--out rexmit.lua", "writes the script alone, for tshark -X lua_script:rexmit.lua"),
        ("--rules --out FILE", "writes coloring rules, to import into another profile"),
    )
    lines = [*wrap(" ".join(ABOUT.split()), page_width(), break_on_hyphens=False), ""]
    for option, does in ways:
        lines += hanging(f"rexmit wireshark {option}", does, 37)
    return [*lines, "", *_next()]


def _next() -> list[str]:
    return [
        "next     rexmit analyze CAPTURE --annotate noted.pcapng",
        "         wireshark -C rexmit noted.pcapng",
    ]
