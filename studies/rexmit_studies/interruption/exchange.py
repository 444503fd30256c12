"""What is said between the hosts in one section: the segments and ACKs that the paper's ladders print."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rexmit.columns import sack_columns
from rexmit.frame import Frame
from rexmit_studies.interruption.sections import Section
from rexmit_studies.interruption.traces import Trace

#: The paper's cycle, Fig. 11, in the words of its figures.
TIMEOUT, NEW_ACK, NEW_SEGMENT, DUPLICATE, AGAIN = (
    "timeout retransmission",
    "new ACK without SACK",
    "one new segment",
    "duplicate ACK with SACK, no retransmission",
    "timeout retransmission again",
)


@dataclass(frozen=True)
class Event:
    """A packet as the sender sees it: what it is, when, and its numbers."""

    what: str  # new, timeout, resent, ack, partial, duplicate, dsack
    at_s: float
    seq: int
    end: int
    sack: tuple[tuple[int, int], ...] = ()

    def data(self) -> str:
        """As tcpdump prints it: `1967433:1968881(1448)`."""
        return f"{self.seq}:{self.end}({self.end - self.seq})"

    def ack(self) -> str:
        """As the paper prints it: `ack 1967433 SACK 2094857-2096305`."""
        return f"ack {self.end}" + "".join(f" SACK {a}-{b}" for a, b in self.sack[:1])


def events(trace: Trace, start_s: float, end_s: float) -> list[Event]:
    """All packets of a time at the sender, in order."""
    every = trace.packets
    inside = every.where((every["time"] >= start_s) & (every["time"] <= end_s))
    order = np.argsort(inside["time"], kind="stable")
    before = every.where((every["time"] < start_s) & ~every["data"])
    newest = int(before["ack"].max()) if len(before) else 0
    blocks, cause = sack_columns(inside), inside.text("cause")
    made = []
    for i in order:
        at = float(inside["time"][i])
        if inside["data"][i]:
            made.append(_data(inside, int(i), cause[i], at))
            continue
        sack = tuple((int(a[i]), int(b[i])) for a, b in blocks if b[i] > 0)
        ack = int(inside["ack"][i])
        what = (
            "dsack" if inside["dsack"][i] else "duplicate" if ack <= newest else "partial" if sack else "ack"
        )
        newest = max(newest, ack)
        made.append(Event(what, at, ack, ack, sack))
    return made


def _data(rows: Frame, i: int, cause: str | None, at_s: float) -> Event:
    what = "new" if cause is None else "timeout" if cause == "timeout" else "resent"
    seq = int(rows["seq"][i])
    return Event(what, at_s, seq, seq + int(rows["len"][i]))


def whole(trace: Trace, section: Section) -> list[Event]:
    """From the link's return to a little after the end of the repair."""
    return events(trace, section.back_s, section.end_s + 1e-6)


def segment(trace: Trace, seq: int) -> Event:
    """The first transmission of the segment that begins at `seq`."""
    rows = trace.packets
    hit = np.flatnonzero(rows["data"] & (rows["seq"] == seq))
    i = int(hit[np.argmin(rows["time"][hit])])
    return _data(rows, i, rows.text("cause")[i], float(rows["time"][i]))


def last_new(trace: Trace, section: Section) -> Event:
    """The last new segment sent before the first repair."""
    before = events(trace, section.start_s, section.repair_s)
    return [e for e in before if e.what == "new"][-1]


def first_with_sack(trace: Trace, section: Section) -> Event | None:
    """The first ACK after the outage that carries SACK."""
    return next((e for e in whole(trace, section) if e.sack and e.what != "dsack"), None)


def paced_by_acks(trace: Trace, section: Section) -> float:
    """Repairs that left at the very moment in which an ACK came, as a share."""
    found = whole(trace, section)
    came = {round(e.at_s, 6) for e in found if e.what in ("ack", "partial", "duplicate", "dsack")}
    again = [e for e in found if e.what in ("timeout", "resent")]
    return sum(round(e.at_s, 6) in came for e in again) / max(1, len(again))


def opening(trace: Trace, section: Section) -> list[str]:
    """What happened first, one word a packet, runs of alike ones as one: up to the first repair by SACK."""
    words: list[str] = []
    for event in whole(trace, section):
        if not words and event.what != "timeout":
            continue
        if event.what == "new" and words[-1].startswith("new"):
            words[-1] = f"new × {int(words[-1].partition('× ')[2] or 1) + 1}"
        elif not words or words[-1] != event.what:
            words.append(event.what)
        if event.what == "resent":
            break
    return words


def cycle(trace: Trace, section: Section) -> tuple[str, ...]:
    """What comes between the first timeout and the second, in the words of the paper's figures; nothing where
    there is no second one behind the link's return.
    """
    found = whole(trace, section)
    fired = [i for i, e in enumerate(found) if e.what == "timeout"]
    if len(fired) < 2:
        return ()
    names = {"ack": NEW_ACK, "new": NEW_SEGMENT}
    words = [TIMEOUT]
    for event in found[fired[0] + 1 : fired[1]]:
        known = names.get(event.what, event.what)
        words.append(DUPLICATE if event.what == "duplicate" and event.sack else known)
    return (*words, AGAIN)


def one_timeout(trace: Trace, section: Section) -> str:
    """What a repair is like in which the timer fires at most once behind the link's return."""
    if any(e.what == "timeout" for e in whole(trace, section)):
        return "one timeout behind the link's return is enough: ACKs bring all other repairs"
    return "no timer fires behind the link's return"


def cycles(trace: Trace, section: Section) -> tuple[int, int]:
    """How many timeouts the paper's cycle and nothing else parts from the next, of those that have a next."""
    found = whole(trace, section)
    fired = [i for i, e in enumerate(found) if e.what == "timeout"]
    same = 0
    for a, b in pairwise(fired):
        what = [e.what for e in found[a + 1 : b]]
        same += len(what) == 3 and what[0] in ("ack", "partial", "dsack") and what[1:] == ["new", "duplicate"]
    return same, max(0, len(fired) - 1)
