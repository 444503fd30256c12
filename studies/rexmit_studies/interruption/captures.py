"""The same questions asked of real transfers: Linux 6.18 through a bridge that interrupts.

The captures are large for a wheel: they lie in a checkout's tests/data. Without them this part is left out,
and the page says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import rexmit as rx
from rexmit.captured.flows import Flow
from rexmit_studies import own
from rexmit_studies.interruption.sections import IN_WORDS, Section, sections
from rexmit_studies.interruption.setups import OUTAGE_S, periodic
from rexmit_studies.own import Interval
from rexmit_studies.study import Drawing, Part, Results, Study

FOLDER = Path(__file__).resolve().parents[3] / "tests" / "data"
#: Label -> the files' stem.
FILES = {"CUBIC": "interruption-cubic", "Reno": "interruption"}
#: Their bridge: 5.5 Mbps, a queue of 1000 packets, 200 ms every 5 s from 5 s on.
PHASE_S, PERIOD_S, MBPS = 5.0, 5.0, 5.5
#: Ladders of a transfer of one's own.
MOST_LADDERS = 6


@dataclass(frozen=True)
class Real:
    """A captured transfer, both ends."""

    label: str
    flow: Flow
    #: When its link was down, s; nothing: nobody said.
    down: tuple[Interval, ...] = tuple(periodic(PHASE_S, PERIOD_S, OUTAGE_S, 60.0))

    @cached_property
    def sections(self) -> list[Section]:
        repairs = sorted(self.flow.frame("retransmissions").rows(), key=lambda r: float(r["time"]))
        return sections(self.flow.row, self.flow.episodes(), self.flow.bursts(), repairs, self.down)


def read() -> dict[str, Real]:
    """Those that are there, by label."""
    found = {}
    for label in FILES:
        ends = _ends(label)
        if ends:
            taken = rx.capture(ends[0], receiver=ends[1], tables=("packets", "retransmissions"))
            found[label] = Real(label, max(taken.flows, key=lambda f: int(f["bytes"])))
    return found


def _ends(label: str) -> list[Path]:
    """The captures of sender and receiver, where they are."""
    ends = [FOLDER / f"{FILES[label]}.{end}.pcap.gz" for end in ("snd", "rcv")]
    return ends if all(end.is_file() for end in ends) else []


def missing() -> list[str]:
    """What was left out because its files are not there, by label."""
    return [label for label in FILES if not _ends(label)]


def drawing(results: Results) -> Iterator[Drawing]:
    for label, real in results["captures"].items():
        yield Drawing(
            f"captured-{label.lower()}",
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


# ---- a capture of one's own ----


def captured(paths: Sequence[Path], whole: Study) -> Study:
    """Sections, sequence graph and ladders of a transfer that somebody else captured: at its sender, or at
    both ends. Its outages are those of `--outages`, in seconds since its first packet.
    """
    part = Part("Sections of your transfer", drawings=draw_yours, tables=tables, text=text_of_yours)
    return replace(
        whole,
        plan=lambda plan: plan.call("captures", lambda: _yours(paths), worth=1.0),
        parts=[part],
        claims=lambda r: [],
        introduction="",
    )


def _yours(paths: Sequence[Path]) -> dict[str, Real]:
    receiver = paths[1] if len(paths) > 1 else None
    taken = rx.capture(paths[0], receiver=receiver, tables=("packets", "retransmissions"))
    if not taken.flows:
        raise ValueError(f"{paths[0]}: no TCP transfer in it")
    flow = max(taken.flows, key=lambda f: int(f["bytes"]))
    return {"yours": Real("yours", flow, own.current().outages)}


def draw_yours(results: Results) -> Iterator[Drawing]:
    flow, found = results["captures"]["yours"].flow, results["captures"]["yours"].sections
    yield Drawing("sequence", "Sequence numbers and time, as Figs. 2 to 8.", flow.time_sequence)
    starts = {float(e["start"]): int(e["number"]) + 1 for e in flow.episodes()}
    for section in found[:MOST_LADDERS]:
        number = starts[section.start_s]
        yield Drawing(
            f"ladder-{section.number}",
            f"Section ({section.number}), {IN_WORDS[section.kind]}, as Figs. 9 to 11.",
            partial(flow.ladder, number),
        )


def text_of_yours(results: Results) -> str:
    real: Real = results["captures"]["yours"]
    kinds = [f"({s.number}) {IN_WORDS[s.kind]}" for s in real.sections]
    told = "; ".join(kinds) if kinds else "none: nothing was lost"
    more = f" The first {MOST_LADDERS} have a ladder." if len(kinds) > MOST_LADDERS else ""
    known = (
        "" if real.down else " When the link was down nobody said (`--outages`): only what was lost tells."
    )
    return f"Discontinuous sections: {told}.{known}{more}"
