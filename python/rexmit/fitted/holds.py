"""Times in which the path held packets, and let them go together at their end."""

from __future__ import annotations

import bisect
from dataclasses import dataclass
from itertools import pairwise

from rexmit.fitted.interval import Interval
from rexmit.fitted.scoreboard import Board, sacked_by, segments
from rexmit.fitted.seen import TICK, Seen
from rexmit.fitted.value import median

#: Packets that are held come so much later than others at least, s and round trips: more than a delayed
#: ACK (40 ms, Linux).
HELD, HELD_TRIPS = 0.05, 0.5
#: So many of them come within this time, s.
LATE, TOGETHER = 3, 0.01
#: Where data arrives, a packet that was held took longer by this share of the silence.
MOSTLY = 0.8
#: A copy that was sent again less than this share of a round trip before its ACK is not what is acknowledged.
TOO_SOON = 0.75
#: A path that is longer from now on holds nothing: so many packets behind it take less than halfway as long.
NEXT, HALF = 10, 0.5


@dataclass(frozen=True)
class Report:
    """A segment that an ACK reported first.  trip: from its sending to this ACK, s."""

    time: float
    sent: float
    trip: float


def of(seen: Seen) -> list[Interval]:
    """A silence of ACKs ends with ACKs of packets that were sent before it or in it and not again."""
    base = seen.base or 0.0
    least = max(HELD, HELD_TRIPS * base)
    if seen.arriving:
        return _arrived(seen, base, least)
    silences = [(a, b) for a, b in pairwise(seen.acks) if b - a >= least]
    if not silences:
        return []
    reports = _reports(seen)
    times = [r.time for r in reports]
    by_sending = sorted(reports, key=lambda r: r.sent)
    sent = [r.sent for r in by_sending]
    found: list[Interval] = []
    for before, after in silences:
        at = bisect.bisect_left(times, after - 1e-9)
        behind = bisect.bisect_right(times, after + base + TOGETHER)
        normal = reports[at - 1].trip if at else base
        late = [r.trip for r in reports[at:behind] if r.trip - normal >= least and r.sent < after]
        if len(late) < LATE or at == 0:
            continue
        waited = late[0]
        later = bisect.bisect_right(sent, after)
        trips = [r.trip for r in by_sending[later : later + NEXT]]
        if trips and median(trips) > normal + HALF * (waited - normal):
            continue
        # What came first passed the link as it was back; what came before it passed it as it failed.
        silence = after - before
        low, high = min(waited - normal, silence), silence + base / 4
        found.append(Interval(before - base / 2, silence, low, high, before - base))
    return found


def _arrived(seen: Seen, base: float, least: float) -> list[Interval]:
    """Where data arrives: what comes first behind a silence was sent in it, or before it (timestamps)."""
    found: list[Interval] = []
    for (before, trip), (after, late) in pairwise(seen.samples):
        silence = after - before
        if silence >= least and late - trip >= max(least, MOSTLY * silence):
            low, high = late - trip - 2 * TICK, silence + base / 4
            found.append(Interval(before - base / 2, silence, min(low, silence), high, before - base))
    return found


def _reports(seen: Seen) -> list[Report]:
    """In order of time; those of segments that may have been acknowledged for another copy are left out."""
    board, soon = Board(), TOO_SOON * (seen.base or 0.0)
    first: dict[int, float] = {}
    again: dict[int, float] = {}
    sizes: dict[int, int] = {}
    found: list[Report] = []
    for r in seen.packets:
        if r["data"]:
            if r["seq"] in first:
                again[r["seq"]] = r["time"]
            else:
                first[r["seq"]], sizes[r["seq"]] = r["time"], r["len"]
            continue
        if r["ack"] is None:
            continue
        for a, b in sorted([*sacked_by(r), (board.first or r["ack"], r["ack"])]):
            for start, end in board.cover(a, b):
                for seq in segments(sizes, start, end):
                    if r["time"] - again.get(seq, r["time"]) <= soon:
                        found.append(Report(r["time"], first[seq], r["time"] - first[seq]))
        board.forget_below(r["ack"])
    return found
