"""A policer's rate and bucket: those with which the bucket is as good as empty at each drop."""

from __future__ import annotations

import statistics
from itertools import pairwise

from rexmit.fitted.seen import Seen
from rexmit.fitted.value import Value, about

#: Rates that are tried, as shares of the one at which drops came on average, and how fine.
LOWEST, HIGHEST, COARSE, FINE = 0.9, 1.6, 0.02, 0.0025
#: What the bucket held by the drops differs by no more than this share of it, and so many packets.
ALIKE, PACKETS = 0.4, 6
#: Where the answer names no policer, it takes this many events, losses and likeness of what the bucket held.
EVENTS, LOSS, ALONE = 6, 0.01, 0.2
#: And the bucket fills in so many seconds.
LONGEST = 3.0
#: Drops within so many round trips are one event.
EVENT = 2.0


def of(seen: Seen) -> tuple[Value | None, Value | None]:
    """Its rate (bits a second, with headers) and its bucket (bytes); None where no bucket fits the drops."""
    payload = seen.path.get("policer_bps")
    drops = _events(seen)
    told = payload * seen.packet / seen.payload if payload else _between(seen, drops)
    if not told:
        return None, None
    steps = round((HIGHEST - LOWEST) / COARSE)
    coarse = min(
        (LOWEST + i * COARSE for i in range(steps + 1)), key=lambda x: _unlike(seen, drops, x * told)
    )
    near = [coarse + i * FINE for i in range(-8, 9)]
    rate = told * min(near, key=lambda x: _unlike(seen, drops, x * told))
    held = _held(seen, drops, rate)
    bucket = statistics.median(held) if held else 0.0
    spread = statistics.pstdev(held) if len(held) > 1 else 0.0
    alike = spread <= ALIKE * bucket + PACKETS * seen.packet
    if not payload:
        alike = spread <= ALONE * bucket and 8 * bucket <= LONGEST * rate
    if bucket < PACKETS * seen.packet or not alike:
        return None, None
    source = "with this rate its bucket is as empty at each drop (Flach et al., SIGCOMM 2016)"
    return about(rate, 0.05, "bps", source), about(
        bucket, 0.25, "bytes", "what passed beyond its rate before drops"
    )


def _between(seen: Seen, drops: list[float]) -> float:
    """What came through from the first drop to the last, bits a second; 0 where too little was dropped for
    a policer.
    """
    lost = int(seen.row["lost_copies"] or seen.row["lost_segments"] or 0)
    if len(drops) < EVENTS or lost < LOSS * seen.copies:
        return 0.0
    within = [r for r in seen.rounds if r["start"] >= drops[0] and r["end"] <= drops[-1]]
    took = sum(r["end"] - r["start"] for r in within)
    return 8 * sum(r["delivered_bytes"] for r in within) * seen.packet / seen.payload / took if took else 0.0


def _events(seen: Seen) -> list[float]:
    """When packets were dropped; what is dropped within two round trips counts once."""
    starts = [float(b["start"]) for b in seen.bursts]
    apart = EVENT * (seen.base or 0.0)
    return starts[:1] + [b for a, b in pairwise(starts) if b - a > apart]


def _unlike(seen: Seen, drops: list[float], rate: float) -> float:
    """How different the bucket is from drop to drop, as a share of it."""
    held = _held(seen, drops, rate)
    middle = statistics.fmean(held) if held else 0.0
    return statistics.pstdev(held) / middle if middle > 0 else float("inf")


def _held(seen: Seen, drops: list[float], rate: float) -> list[float]:
    """What had passed beyond the rate at each drop since the bucket was full last, bytes."""
    scale, trip = seen.packet / seen.payload, seen.base or 0.0
    found: list[float] = []
    taken, at, most = 0.0, 0, 0.0
    for r in seen.rounds:
        taken = max(0.0, taken + r["delivered_bytes"] * scale - rate / 8 * (r["end"] - r["start"]))
        most = max(most, taken)
        # A drop is seen to be one a round trip later, with what had passed by then.
        if at < len(drops) and r["end"] >= drops[at] + trip:
            found.append(most)
            while at < len(drops) and r["end"] >= drops[at] + trip:
                at += 1
            most = taken
    return found
