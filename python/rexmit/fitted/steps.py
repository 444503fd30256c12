"""A base delay that is another one behind each interruption, as after a hand-over to another satellite."""

from __future__ import annotations

import bisect

from rexmit.fitted.interval import Interval
from rexmit.fitted.seen import Seen

#: Another delay differs by this at least: s, and as a share.
DIFFERS_S, DIFFERS = 0.003, 0.05
#: A queue was empty behind an interruption if a packet of the first round trips is that close to the least.
FIRST_TRIPS = 3.0
#: A link that carries less than this share of its rate has an empty queue now and then.
BUSY = 0.9


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
        if least is None or (found and not _differs(least, found[-1][1])):
            continue
        if not found or least < found[-1][1] or _without_queue(seen, start, end, least):
            found.append((start, least))
    return found if len(found) > 1 else []


def _least(samples: list[tuple[float, float]]) -> float | None:
    least = min((rtt for _, rtt in samples), default=None)
    if least is None:
        return None
    soon = samples[0][0] + FIRST_TRIPS * least
    early = min(rtt for sent, rtt in samples if sent <= soon)
    return None if _differs(early, least) else least


def _without_queue(seen: Seen, start: float, end: float, least: float) -> bool:
    """Whether round trips are as long while the link is not busy: a queue makes them longer, too."""
    capacity = seen.path.get("capacity_bps")
    if not capacity or seen.path.get("at_least"):
        return True
    idle = [
        r["rtt_min_s"]
        for r in seen.rounds
        if r["rtt_min_s"] and r["end"] > start and r["start"] < end
        if 8 * r["delivered_bytes"] < BUSY * capacity * (r["end"] - r["start"])
    ]
    return bool(idle) and not _differs(min(idle), least)


def _differs(one: float, other: float) -> bool:
    return abs(one - other) >= max(DIFFERS_S, DIFFERS * other)
