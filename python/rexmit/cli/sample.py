"""`rexmit sample`. What it needs is imported when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.cli.ending import ANSWER, refuse
from rexmit.cli.options import check_folder, overwriting
from rexmit.cli.shown import show

if TYPE_CHECKING:
    from rexmit.samples import Sample

ABOUT = """\
Captures to try rexmit with. Without a name, lists them; with one, writes it. Some are simulated on the spot,
the same on every machine; the others come from real kernels.
"""
EXAMPLES = """\
examples:
  rexmit sample                                        what there is
  rexmit sample slow                                   writes slow.pcapng
  rexmit slow.pcapng                                   where its time went, and why
  rexmit sample slow-receiver --out other-end.pcapng   the same transfer from the other end

exit codes: 0 listed or written, 1 it could not be written, 2 bad input
"""


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    s = commands.add_parser("sample", help="captures to try rexmit with", description=ABOUT, epilog=EXAMPLES)
    s.add_argument("name", nargs="?", help="write this one")
    s.add_argument("--out", metavar="FILE", help="into this file (default: by its name, here)")
    s.add_argument("--json", action="store_true", help="the list as JSON")
    overwriting(s)


def check(o: argparse.Namespace) -> str | None:
    """A sentence about options that cannot be combined, with what to change."""
    if o.out and not o.name:
        return "--out writes one sample: name it (rexmit sample lists them)"
    if o.json and o.name:
        return "--json lists all samples: leave the name out"
    return check_folder("--out", o.out)


def run(o: argparse.Namespace) -> int:
    """Lists the samples, or writes one."""
    refuse(check(o))
    from rexmit import samples
    from rexmit.screen.wide import hanging

    if o.name:
        return _write(samples.named(o.name), o)
    if o.json:
        from rexmit.screen.say import as_json

        every = [{"name": s.name, "file": s.file, "about": s.about, "source": s.source} for s in samples.ALL]
        show([as_json(every)])
        return ANSWER
    width = max(len(s.name) for s in samples.ALL)
    lines = []
    for s in samples.ALL:
        lines += hanging(f"  {s.name}", f"{s.about} ({s.source})", width + 4)
    show(["samples", *lines, "", "rexmit sample NAME writes one"])
    return ANSWER


def _write(sample: Sample, o: argparse.Namespace) -> int:
    from rexmit.files.destination import check_file
    from rexmit.files.whole import write
    from rexmit.screen.units import size

    target = Path(o.out or sample.file)
    content = sample.content()
    # A sample that was written before is the same again.
    check_file(target, lambda path: path.read_bytes() == content, o.overwrite)
    write(target, [content])
    show([f"wrote {target}: {size(len(content))}, {sample.source}"])
    return ANSWER
