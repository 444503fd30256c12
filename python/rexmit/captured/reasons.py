"""The kernel's own reasons for what it sent again, joined with what the capture shows of it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]

#: Sequence numbers count modulo this.
CIRCLE = 2**32
#: A segment is seen that long before or after the kernel told of it, at most: it may wait in a queue of this
#: host, and repairs of the same segment are further apart.
NEAR_NS = 150_000_000
#: Events near in time to a packet that say where the connection's sequence numbers begin.
VOTERS = 3


@dataclass
class Joined:
    """One flow's retransmissions, in segments.

    known: those whose reason the kernel told, by reason.  agree: those of them for which the capture alone
    says the same.  differ: the others, by what the capture alone says and what the kernel says.  silent:
    those that the kernel told nothing of, by what the capture says.  unseen: what the kernel sent again and
    the capture does not show.
    """

    known: Counter[str] = field(default_factory=Counter)
    agree: int = 0
    differ: Counter[tuple[str, str]] = field(default_factory=Counter)
    silent: Counter[str] = field(default_factory=Counter)
    unseen: int = 0
    #: By row, as they were given; and the events that tell of them.
    reasons: list[str | None] = field(default_factory=list)
    events: list[Row | None] = field(default_factory=list)

    def add(self, other: Joined) -> None:
        """Counts the other's too."""
        self.known += other.known
        self.agree += other.agree
        self.differ += other.differ
        self.silent += other.silent
        self.unseen += other.unseen

    def as_json(self) -> dict[str, Any]:
        """As docs/record.md describes it."""
        differ = [
            {"capture": ours, "kernel": theirs, "segments": n}
            for (ours, theirs), n in sorted(self.differ.items(), key=lambda item: (-item[1], item[0]))
        ]
        return {
            "known": dict(self.known),
            "agree": self.agree,
            "differ": differ,
            "silent": dict(self.silent),
            "unseen": self.unseen,
        }


def join(rows: Sequence[Row], events: Sequence[Row]) -> Joined:
    """Which event tells of which row.

    rows: a flow's retransmissions with `time_ns`, `seq_start` (from the connection's beginning), `segments`
    and `cause`.  events: the kernel's, of the same sender, with `time_ns`, `seq`, `seq_end` (as in packets),
    `segments` and `cause`.
    """
    found = Joined()
    events = sorted((e for e in events if not e.get("failed")), key=lambda e: int(e["time_ns"]))
    times = [int(e["time_ns"]) for e in events]
    base = _base(rows, events, times)
    starts: dict[int, list[int]] = defaultdict(list)
    for k, event in enumerate(events):
        starts[(event["seq"] - base) % CIRCLE].append(k)
    used: set[int] = set()
    for row in rows:
        which = _event_of(row, events, times, starts, base)
        reason = None if which is None else str(events[which]["cause"])
        found.reasons.append(reason)
        found.events.append(None if which is None else events[which])
        n, ours = int(row["segments"]), str(row["cause"])
        if which is None or reason is None:
            found.silent[ours] += n
            continue
        used.add(which)
        found.known[reason] += n
        if reason == ours:
            found.agree += n
        else:
            found.differ[ours, reason] += n
    found.unseen = sum(int(e["segments"]) for k, e in enumerate(events) if k not in used)
    return found


def _base(rows: Sequence[Row], events: Sequence[Row], times: Sequence[int]) -> int:
    """The sequence number that the capture counts from: what most rows say with the events around them."""
    votes: Counter[int] = Counter()
    for row in rows:
        at = bisect_left(times, int(row["time_ns"]))
        for event in events[max(at - VOTERS, 0) : at + VOTERS]:
            votes[(event["seq"] - row["seq_start"]) % CIRCLE] += 1
    return votes.most_common(1)[0][0] if votes else 0


def _event_of(
    row: Row, events: Sequence[Row], times: Sequence[int], starts: dict[int, list[int]], base: int
) -> int | None:
    """The event nearest in time among those that tell of this row's first byte."""
    when = int(row["time_ns"])
    candidates: Iterable[int] = starts.get(row["seq_start"] % CIRCLE, ())
    if not candidates:
        # A packet of several segments that the host cut on its way out.
        low, high = bisect_left(times, when - NEAR_NS), bisect_left(times, when + NEAR_NS)
        candidates = (
            k
            for k in range(low, high)
            if (row["seq_start"] + base - events[k]["seq"]) % CIRCLE
            < (events[k]["seq_end"] - events[k]["seq"]) % CIRCLE
        )
    best = min(candidates, key=lambda k: abs(times[k] - when), default=None)
    return best if best is not None and abs(times[best] - when) <= NEAR_NS else None
