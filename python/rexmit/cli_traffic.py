"""`rexmit traffic`. What the command needs is imported when it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.say import tell

if TYPE_CHECKING:
    from rexmit.counts import Traffic

TRAFFIC = """\
Counts every frame of a capture, TCP or not: shares of ARP, LLC, IP, TCP, UDP, ICMP by packets and bytes,
packets and bytes per bin, and how self-similar they are: the Hurst parameter by five estimators, with 95%
intervals and a warning where they disagree.
"""
EXAMPLES = """\
examples:
  rexmit traffic lan.pcapng
  rexmit traffic lan.pcapng --bin 10ms --out lan/     and figures and the bins as tables
  rexmit traffic day-*.pcap.gz --json

exit codes: 0 an answer, 2 bad input
"""


def add(commands: Any, duration: Any) -> None:
    """Adds the command to the parser."""
    t = commands.add_parser(
        "traffic",
        help="what all frames of a capture are, and how self-similar they come",
        description=TRAFFIC,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    t.add_argument("captures", nargs="+", metavar="CAPTURE", help="a capture, or several of one rotation")
    t.add_argument(
        "--bin",
        type=duration,
        metavar="TIME",
        help="length of a bin (default: 1ms, 10ms, 100ms or 1s, by how dense the packets are)",
    )
    t.add_argument("--json", action="store_true", help="the answer as one JSON object (docs/traffic.md)")
    t.add_argument("--out", metavar="DIR", help="write figures, bins and traffic.json into this folder")
    t.add_argument(
        "--figures", choices=("png", "svg", "pdf", "none"), help="format of the figures (default png)"
    )


def check(o: argparse.Namespace) -> str | None:
    """The mend for options that do not go together."""
    if o.figures and o.figures != "none" and not o.out:
        return "--figures needs --out DIR to write into"
    if o.bin is not None and o.bin <= 0:
        return "--bin must be longer than 0"
    return None


def run(o: argparse.Namespace) -> list[str]:
    """The lines to print."""
    import json

    from rexmit.counts import traffic
    from rexmit.progress import Progress

    with Progress(o.captures[0]) as progress:
        found = traffic(o.captures, o.bin, progress=progress)
    note = _write(o, found) if o.out else None
    if not o.json:
        return found.page().splitlines() + ([note] if note else [])
    if note:
        tell(note)
    return [json.dumps(found.to_dict(), ensure_ascii=False)]


def _write(o: argparse.Namespace, found: Traffic) -> str:
    import json

    import pyarrow.csv
    import pyarrow.parquet

    from rexmit.units import count

    out = Path(o.out)
    out.mkdir(parents=True, exist_ok=True)
    bins = found.bins.to_arrow()
    pyarrow.parquet.write_table(bins, out / "bins.parquet")
    pyarrow.csv.write_csv(bins, out / "bins.csv")
    (out / "traffic.json").write_text(
        json.dumps(found.to_dict(), ensure_ascii=False) + "\n", encoding="utf-8"
    )
    drawn = []
    if o.figures != "none":
        drawn = [f.save(out / f"{name}.{o.figures or 'png'}") for name, f in found.figures()]
    return f"wrote {count(len(drawn), 'figure')}, bins.csv, bins.parquet and traffic.json into {o.out}"
