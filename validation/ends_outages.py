"""Outages that an answer names against the schedule: what contains what, and how wide the bounds are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ends_truth import MS, Truth
from wire import after

Json = dict[str, Any]

#: Bounds may be off by what a packet takes to be stamped.
CLOSE = 2 * MS


@dataclass
class Stated:
    """The bounds of one outage as an answer states them, in ns on the captures' clock."""

    begin: tuple[int, int]
    end: tuple[int, int | None]
    certainty: str

    @property
    def over(self) -> int:
        return 1 << 62 if self.end[1] is None else self.end[1]

    def near(self, x: int, y: int) -> bool:
        """May the outage of the schedule from `x` to `y` be meant?"""
        return x <= self.over + CLOSE and y >= self.begin[0] - CLOSE

    def holds_begin(self, x: int) -> bool:
        return self.begin[0] - CLOSE <= x <= self.begin[1] + CLOSE

    def holds_end(self, y: int) -> bool:
        return self.end[0] - CLOSE <= y <= self.over + CLOSE


@dataclass
class Bound:
    """One outage that was stated at the receiver, and the one of the schedule that is meant."""

    transfer: str
    certainty: str
    begin_in: bool
    end_in: bool
    #: Widths of the two intervals, and what they may be at most; ns.
    widths: tuple[int, int]
    most: int
    still_sending: bool

    @property
    def narrow(self) -> bool:
        return max(self.widths) <= self.most + CLOSE

    def __str__(self) -> str:
        held = ", ".join(
            word for word, ok in (("begin out", self.begin_in), ("end out", self.end_in)) if not ok
        )
        width = " and ".join(f"{w / MS:.0f}" for w in self.widths)
        than = "a round trip" if self.still_sending else "the silence"
        wide = "" if self.narrow else f"{width} ms wide, more than {than} of {self.most / MS:.0f} ms"
        return f"{self.transfer} ({self.certainty}): {', '.join(w for w in (held, wide) if w)}"


def round_trip(t: Truth, when: int) -> int:
    """The longest that an ACK took of what was sent in the second before `when`, or before that."""
    best = 0
    times = [p.time for p in t.acks]
    until = bisect_right([s.packet.time for s in t.sent], when)
    for s in reversed(t.sent[:until]):
        if best and when - s.packet.time > 1000 * MS:
            break
        if s.again or s.arrived is None:
            continue
        end = (s.packet.seq + s.packet.payload) & 0xFFFFFFFF
        for p in t.acks[bisect_left(times, s.packet.time) :]:
            if not after(end, p.ack):
                if p.time < when:
                    best = max(best, p.time - s.packet.time)
                break
            if p.time > when:
                break
    return best


def silence(t: Truth, x: int, y: int) -> tuple[int, int]:
    """The longest time without data at the receiver that the outage explains, at most."""
    at = sorted(s.arrived for s in t.sent if s.arrived is not None)
    spans = [(a, b) for a, b in pairwise(at) if b > x and a < y + 60_000 * MS]
    return max((s for s in spans if s[0] < y + (y - x)), key=lambda s: s[1] - s[0], default=(x, y))


def still_sending(t: Truth, y: int, trip: int) -> bool:
    """Did the sender go on sending while the path came back: no gap of a round trip, and no timer?"""
    times = [s.packet.time for s in t.sent]
    i = bisect_right(times, y)
    by_timer = i < len(times) and t.sent[i].cause in ("timeout", "probe")
    return 0 < i < len(times) and times[i] - times[i - 1] <= trip and not by_timer


def bound(transfer: str, o: Stated, x: int, y: int, t: Truth) -> Bound:
    trip = round_trip(t, x)
    sending = still_sending(t, y, trip)
    a, b = silence(t, x, y)
    widths = (o.begin[1] - o.begin[0], o.over - o.end[0])
    most = trip if sending else b - a
    return Bound(transfer, o.certainty, o.holds_begin(x), o.holds_end(y), widths, most, sending)
