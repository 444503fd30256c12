"""How long packets waited on their way, where they arrive: the timestamps of RFC 7323 say when each left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rexmit.captured.flows import Flow

#: Ticks a second of the clocks of senders. A queue that grows makes one look slower, by this share at most.
CLOCKS, OFF = (1000.0, 250.0, 100.0), 0.25
#: A clock that is faster than that makes later packets seem to take less time by more than this, s.
EARLIER = 0.005
#: A clock shows in so long a time, s, and so many packets.
LONG, PACKETS = 1.0, 20
#: A tick is the longest part of a wait that is not known, s, for which it counts.
FINE = 0.005


def one_way(flow: Flow, base: float | None) -> list[tuple[float, float]]:
    """When each packet came, s, and the least round trip with its wait, s; nothing if that does not show."""
    rows = flow.columns("packets", "time", "data", "ts_val").rows()
    came = [(r["time"], r["ts_val"]) for r in rows if r["data"] and r["ts_val"] is not None]
    if base is None or len(came) < PACKETS or came[-1][0] - came[0][0] < LONG:
        return []
    first = came[0][1]
    ticks = [((ts - first + 2**31) % 2**32) - 2**31 for _, ts in came]
    speed = (ticks[-1] - ticks[0]) / (came[-1][0] - came[0][0])
    clock = min(CLOCKS, key=lambda c: abs(speed - c))
    if abs(speed - clock) > OFF * clock or 1 / clock > FINE:
        return []
    behind = [time - tick / clock for (time, _), tick in zip(came, ticks, strict=True)]
    least = min(behind)
    if least < min(behind[: len(behind) // 3]) - EARLIER:
        return []
    return [(time, base + late - least) for (time, _), late in zip(came, behind, strict=True)]
