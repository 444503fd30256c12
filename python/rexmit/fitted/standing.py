"""The rate of the link, from stretches in which a queue stood before it all the while.

Alone, a sender gets the same rate in each of them. Where another flow shares the link, its part changes, and
only those in which the other one was silent have the rate of the link: none is faster, and they are alike.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from rexmit.fitted.seen import Json, Seen
from rexmit.fitted.value import median, quantile

#: Stretches are this long at least, s, and each packet waited for this share of a round trip, or this long.
LONG, WAITED, WAITED_S = 0.05, 0.1, 0.001
#: Rates are alike that are within this share of one.
ALIKE = 0.015
#: The link's rate is that of so many stretches at least, and of this share of them, and few are faster.
STRETCHES, SHARE, FASTER = 2, 0.2, 0.1
#: A sender is not alone if, of so many stretches, this share has less than so much of the link's rate: random
#: losses leave more, and repairs take few stretches.
MANY, OFTEN, LESS = 8, 0.12, 0.8
#: The fastest stretch may have had a packet more than its time.
FASTEST = 0.97


@dataclass(frozen=True)
class Standing:
    """Payload, bits a second.

    rate: of the link; None where the stretches do not show it.  off: half of its interval.
    most: a lower bound, of the fastest stretch; 0 where there is none.
    shared: other flows had a part of the link.
    """

    rate: float | None
    off: float
    most: float
    shared: bool


def of(seen: Seen, spans: list[tuple[float, float]]) -> Standing:
    """spans: when packets were held or lost in an outage, which no stretch may meet."""
    rates = sorted(_rates(seen, spans))
    if len(rates) < STRETCHES:
        return Standing(None, 0.0, FASTEST * rates[0] if rates else 0.0, False)
    fastest = FASTEST * rates[-1]
    middle = _common(rates)
    if middle is None:
        return Standing(None, 0.0, fastest, len(rates) >= MANY)
    less = bisect.bisect_left(rates, LESS * middle)
    shared = len(rates) >= MANY and less > OFTEN * len(rates)
    like = [r for r in rates if abs(r - middle) <= ALIKE * middle]
    spread = sorted(abs(r - middle) for r in like)
    off = quantile(spread, 0.9) / len(like) ** 0.5 + 0.005 * middle
    return Standing(middle, off, fastest, shared)


def _common(rates: list[float]) -> float | None:
    """Of rates in order the one that most have, and that few exceed."""

    def like(rate: float) -> tuple[int, int]:
        low, high = rate * (1 - ALIKE), rate * (1 + ALIKE)
        return bisect.bisect_left(rates, low), bisect.bisect_right(rates, high)

    first, behind = max(map(like, rates), key=lambda ends: ends[1] - ends[0])
    enough = behind - first >= max(STRETCHES, SHARE * len(rates))
    few = len(rates) - behind <= FASTER * len(rates)
    return median(rates[first:behind]) if enough and few else None


def _rates(seen: Seen, spans: list[tuple[float, float]]) -> list[float]:
    least = min((r["rtt_min_s"] for r in seen.rounds if r["rtt_min_s"]), default=None)
    if least is None:
        return []
    rates: list[float] = []
    start, delivered, end = None, 0, 0.0
    for r in seen.rounds:
        base = least if not seen.levels else seen.least_at(r["start"])
        waits = r["rtt_min_s"] is not None and r["rtt_min_s"] - base >= max(WAITED * base, WAITED_S)
        if not waits or (start is not None and r["start"] > end + 1e-6) or meets(r, spans):
            start = None
            continue
        if start is None:
            start, delivered = r["start"], 0
        delivered, end = delivered + r["delivered_bytes"], r["end"]
        if end - start >= LONG:
            rates.append(delivered * 8 / (end - start))
            start = None
    return rates


def meets(row: Json, spans: list[tuple[float, float]]) -> bool:
    """Whether a row with `start` and `end` has time in common with one of these spans."""
    return any(row["start"] <= end and row["end"] >= start for start, end in spans)
