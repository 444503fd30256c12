"""A base delay that is another one behind each interruption, as after a hand-over to another satellite."""

from __future__ import annotations

import bisect

from rexmit.fitted.interval import Interval
from rexmit.fitted.seen import Seen

#: Another delay differs by this at least: s, and as a share.
DIFFERS_S, DIFFERS = 0.003, 0.05
#: A queue was empty behind an interruption if a packet of the first round trips is that close to the least.
FIRST_TRIPS = 3.0


def of(seen: Seen, outages: list[Interval], trip: float) -> list[tuple[float, float]]:
    """From when on, s, and the least round trip from then on, s; nothing where it is the same all the time.

    The link goes on sending what waits for it in an outage. Where the queue did not run empty in one, the
    least round trip behind it does not show, and the one before it is taken.
    """
    emptied = [o for o in outages if o.low >= (seen.wait_at(o.since) or 0.0)]
    if not emptied or not seen.samples:
        return []
    interrupted = sorted(o.spans(trip) for o in emptied)
    sent = [s for s, _ in seen.samples]
    starts = [0.0, *(end for _, end in interrupted)]
    ends = [*(start for start, _ in interrupted), float("inf")]
    found: list[tuple[float, float]] = []
    for start, end in zip(starts, ends, strict=True):
        first, behind = bisect.bisect_left(sent, start), bisect.bisect_left(sent, end)
        least = _least(seen.samples[first:behind])
        if least is not None and (not found or _differs(least, found[-1][1])):
            found.append((start, least))
    return found if len(found) > 1 else []


def _least(samples: list[tuple[float, float]]) -> float | None:
    least = min((rtt for _, rtt in samples), default=None)
    if least is None:
        return None
    soon = samples[0][0] + FIRST_TRIPS * least
    early = min(rtt for sent, rtt in samples if sent <= soon)
    return None if _differs(early, least) else least


def _differs(one: float, other: float) -> bool:
    return abs(one - other) >= max(DIFFERS_S, DIFFERS * other)
