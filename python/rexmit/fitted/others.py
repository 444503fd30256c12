"""Other flows of the capture between the same hosts: what they sent, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rexmit.fitted.seen import Seen

#: The scenario gets at most so many of them as flows, those with the most data; each has LEAST bytes or more.
MOST, LEAST = 20, 10_000


@dataclass(frozen=True)
class Other:
    """start: s after the fitted connection began; before it where it is negative.  size: bytes of data.

    forward: it goes the way of the fitted data.  lasted: from its first to its last packet, s.
    """

    start: float
    size: int
    lasted: float
    forward: bool


def of(seen: Seen) -> list[Other]:
    """In order of their beginning."""
    own = seen.row
    found = []
    for row in seen.neighbours:
        size, start = int(row["bytes"]), float(row["start"] - own["start"])
        overlaps = row["start"] < own["end"] and row["end"] > own["start"]
        if size >= LEAST and overlaps:
            forward = _host(row["sender"]) == _host(own["sender"])
            found.append(Other(start, size, float(row["duration_s"]), forward))
    largest = sorted(found, key=lambda o: -o.size)[:MOST]
    return sorted(largest, key=lambda o: o.start)


def flows(others: list[Other], stack: str) -> list[dict[str, Any]]:
    """As a scenario has them: what began before the fitted connection has only its later part."""
    made = []
    for number, other in enumerate(others):
        before = max(0.0, -other.start) / max(other.lasted, 1e-9)
        size = max(1, round(other.size * (1.0 - min(before, 1.0))))
        ends = ("sender", "receiver") if other.forward else ("receiver", "sender")
        flow: dict[str, Any] = {
            "name": f"other-{number + 1}",
            "from": ends[0],
            "to": ends[1],
            "stack": stack,
            "receiver": stack,
        }
        flow |= {
            "start": f"{1e3 * max(other.start, 0.0):.3f}ms",
            "workload": {"kind": "file", "size": f"{size}B"},
        }
        made.append(flow)
    return made


def _host(end: str) -> str:
    return end.rpartition(":")[0]
