"""The same questions asked of real transfers: Linux 6.18 through a bridge that interrupts.

The captures are large for a wheel. One of our own lies in a checkout's tests/data; group B of the test bed
in `../shared/captures/testbed` beside it. What is not there is left out, and the page says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import rexmit as rx
from rexmit.api import Flow
from rexmit.studies.interruption.sections import Section, outages, sections
from rexmit.studies.study import Drawing, Part, Results

#: Label -> where to look, and the files' stem.
CHECKOUT = Path(__file__).resolve().parents[4]
TEST_BED = Path("shared") / "captures" / "testbed"
FOLDERS = {"own": (CHECKOUT / "tests" / "data",), "B": (CHECKOUT.parent / TEST_BED, Path("..") / TEST_BED)}
FILES = {
    "Reno (ours)": ("own", "interruption"),
    "CUBIC": ("B", "B1_cubic_5.5M_wifi1000p_200ms_p5"),
    "Reno": ("B", "B1_reno_5.5M_wifi1000p_200ms_p5"),
    "Reno, no TLP, no RACK": ("B", "H4_reno_5.5M_wifi1000p_200ms_p5_noTLPnoRACK"),
}
#: Their bridge: 5.5 Mbps, a queue of 1000 packets, 200 ms every 5 s from 5 s on.
PHASE_S, PERIOD_S, MBPS = 5.0, 5.0, 5.5


@dataclass(frozen=True)
class Real:
    """A captured transfer, both ends."""

    label: str
    flow: Flow

    @cached_property
    def sections(self) -> list[Section]:
        repairs = sorted(self.flow.frame("retransmissions").rows(), key=lambda r: float(r["time"]))
        return sections(
            self.flow.row, self.flow.episodes(), self.flow.bursts(), repairs, outages(PHASE_S, PERIOD_S, 60.0)
        )


def read() -> dict[str, Real]:
    """Those that are there, by label."""
    found = {}
    for label in FILES:
        ends = _ends(label)
        if ends:
            taken = rx.capture(ends[0], receiver=ends[1], tables=("packets", "retransmissions"))
            found[label] = Real(label, max(taken.flows, key=lambda f: int(f["bytes"])))
    if "Reno" in found:
        # One and the same transfer.
        found.pop("Reno (ours)", None)
    return found


def _ends(label: str) -> list[Path]:
    """The captures of sender and receiver, where they are."""
    where, stem = FILES[label]
    for folder in FOLDERS[where]:
        ends = [folder / f"{stem}.{end}.pcap.gz" for end in ("snd", "rcv")]
        if all(end.is_file() for end in ends):
            return ends
    return []


def missing() -> list[str]:
    """What was left out because its files are not there, by label."""
    there = {label for label in FILES if _ends(label)}
    if "Reno" in there:
        there.add("Reno (ours)")
    return [label for label in FILES if label not in there]


def drawing(results: Results) -> Iterator[Drawing]:
    for label, real in results["captures"].items():
        name = "captured-" + label.lower().replace(" (ours)", "").replace(", ", "-").replace(" ", "-")
        yield Drawing(
            name,
            f"A real transfer through an interrupting bridge: {label} of Linux 6.18.",
            real.flow.time_sequence,
        )


def tables(results: Results) -> dict[str, Any]:
    made: dict[str, list[str]] = {
        "transfer": [], "section": [], "kind": [], "lost": [], "lost in the outage": [], "ACKs lost": [],
        "timeouts": [], "outage at s": [], "first repair after the link's return s": [],
    }  # fmt: skip
    for label, real in results["captures"].items():
        for s in real.sections:
            row = (label, f"({s.number})", s.kind, str(s.lost), str(s.in_a_row),
                   str(s.lost_acks), str(s.timeouts),
                   f"{s.back_s - 0.2:.1f}" if s.outages else "none", f"{s.lag_s:.3f}")  # fmt: skip
            for column, value in zip(made.values(), row, strict=True):
                column.append(value)
    return {"real transfers": made} if made["transfer"] else {}


def text(results: Results) -> str:
    found: dict[str, Real] = results["captures"]
    if not found:
        return (
            f"Left out: the captures are no part of the package, and none is here ({', '.join(missing())})."
        )
    left_out = f"\n\nLeft out, since it is not here: {', '.join(missing())}." if missing() else ""
    biggest = max((s.lost for r in found.values() for s in r.sections), default=0)
    clean = [s.in_a_row for r in found.values() for s in r.sections if s.outages and s.lost < 200]
    least, most = min(clean, default=0), max(clean, default=0)
    kinds = {s.kind for r in found.values() for s in r.sections if s.outages}
    one = "All of their sections are without time lag" if kinds == {"without"} else "Their sections differ"
    return f"""\
The same questions asked of real hosts: Linux 6.18 through a bridge of 5.5 Mbps with a queue of 1000 packets,
10 ms each way, everything dropped for 200 ms every 5 s from 5 s on; both ends captured, a little over 10 MB.
An outage takes {least} to {most} segments, the 200 ms of this bridge. {one}: nothing limits the window but
what the bridge's queue holds, and a modern receiver offers megabytes. Where slow start ran into the full
queue first, one section holds both ({biggest:,} segments in the largest), and its repair began before the
outage; the table has the first repair of what the outage took.{left_out}"""


PARTS = [Part("Real transfers", drawings=drawing, tables=tables, text=text)]
