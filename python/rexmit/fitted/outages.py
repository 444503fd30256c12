"""Outages, in which packets are lost, and times in which they are held and come later."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from rexmit.fitted import holds
from rexmit.fitted.holds import TOGETHER
from rexmit.fitted.interval import Interval
from rexmit.fitted.seen import Json, Seen
from rexmit.fitted.value import Value, median

#: The sender fell silent with the packet that was lost last, s.
AT_LAST = 0.002
#: ACKs of packets that passed the link as it failed come this share of a round trip later at least.
ACKED = 0.75
#: A beat: the distances differ by less than this share of it.
REGULAR = 0.1


@dataclass(frozen=True)
class Interruptions:
    """outages: nothing came through.  held: what was sent came at its end.

    period, length: s; None where there is no beat, or nothing.
    """

    outages: list[Interval]
    held: list[Interval]
    period: Value | None
    length: Value | None
    both_ways: bool | None

    def holding(self, trip: float) -> list[tuple[float, float]]:
        """When packets were held, and came at once: from a round trip before to one behind."""
        return [(start - trip, end) for start, end in (h.spans(trip) for h in self.held)]

    def late(self, sent: float, rtt: float, base: float) -> bool:
        """Whether a packet or its ACK was held: it came back with all others that were."""
        return any(h.start <= sent + rtt <= h.start + h.length + base + TOGETHER for h in self.held)

    def losing(self, trip: float) -> list[tuple[float, float]]:
        """When copies were sent that an outage took."""
        return [o.spans(trip) for o in self.outages]

    def but(self, these: list[Interval]) -> Interruptions:
        """Without some outages, which are something else."""
        kept = [o for o in self.outages if o not in these]
        if len(kept) == len(self.outages):
            return self
        return Interruptions(
            kept, self.held, self.period if len(kept) > 2 else None, _length(kept), self.both_ways
        )


def of(seen: Seen) -> Interruptions:
    """Outages are those of the answer; packets that were held show in round trips."""
    told = seen.flow.outages() or {}
    outages = [_interval(seen, each) for each in told.get("each") or []]
    held = [] if outages else holds.of(seen)
    period = told.get("period_s") if outages else _beat([h.start for h in held])
    if period and outages:
        outages = _alike(outages)
    gone = outages or held
    beat = None
    if period:
        jitter = told.get("jitter_s") or REGULAR * period / 3
        beat = Value(period, period - jitter, period + jitter, "s", f"{len(gone)} in a beat")
    both_ways = told.get("both_ways") if outages else None
    if both_ways is None and outages and not seen.arriving:
        both_ways = _both_ways(seen, outages)
    return Interruptions(outages, held, beat, _length(gone), both_ways)


def _alike(outages: list[Interval]) -> list[Interval]:
    """Outages in a beat come from one schedule, which has one length: that of all their intervals, where
    they have a part in common.
    """
    low = max(o.low for o in outages)
    high = min((o.high for o in outages if o.high is not None), default=None)
    if high is None or high <= low:
        return outages
    return [replace(o, low=low, high=high, length=(low + high) / 2) for o in outages]


def _both_ways(seen: Seen, outages: list[Interval]) -> bool | None:
    """Whether ACKs were lost, too: then the last ones do not come back of the packets that passed the link
    right before it failed.  None where none passed it then.
    """
    base = seen.base or 0.0
    acks = [sent + rtt for sent, rtt in seen.samples]
    last = [max((a for a in acks if a <= o.start + o.low + base), default=None) for o in outages]
    sent = [max((r["time"] for r in seen.sends if r["time"] < o.since - 1e-6), default=None) for o in outages]
    votes = [
        ack - o.start < ACKED * base
        for o, ack, before in zip(outages, last, sent, strict=True)
        if ack is not None and before is not None and o.since - before <= (1 - ACKED) * base
    ]
    return 2 * sum(votes) > len(votes) if votes else None


def _interval(seen: Seen, each: Json) -> Interval:
    """Where the queue had packets all the while, the time that the link would have taken for what was lost
    is its length.
    """
    least = max(each["end_earliest_s"] - each["begin_latest_s"], 0.0)
    latest = each["end_latest_s"]
    most = latest - each["begin_earliest_s"] if latest is not None else None
    middle = (each["begin_earliest_s"] + each["begin_latest_s"]) / 2
    reach = seen.base or 0.0
    within = [
        b
        for b in seen.bursts
        if each["begin_earliest_s"] - 1e-3 <= b["start"] <= each["begin_latest_s"] + reach
    ]
    first = max(within, key=_copies, default=None)
    copies = _copies(first) if first is not None else 0
    wait = _queued(seen, first) if first is not None else None
    if seen.arriving or first is None or wait is None:
        length = (least + most) / 2 if most is not None else least
        return Interval(middle, length, least, most, each["begin_earliest_s"], copies)
    capacity = seen.path.get("capacity_bps")
    each_takes = seen.payload * 8 / capacity if capacity else 0.0
    start, busy = first["start"] + wait, copies * each_takes
    # The copy that was lost last met the outage when the packets before it had left the queue.
    met = max(first["last"] - start, busy, each["end_earliest_s"] - start, 0.0)
    silence = next((g for g in seen.silences if abs(g["start"] - first["last"]) <= AT_LAST), None)
    if first["trigger"] == "ack" and silence is None and not seen.path.get("at_least"):
        low, high = max(met - 2 * each_takes, 0.0), met + max(2 * each_takes, 0.1 * met)
        # It was over when the next packet came that was not lost, and that may have been sent much later.
        following = _next_sent(seen, first["last"]) - start
        if following > high:
            return Interval(start, (met + following) / 2, low, following, first["start"], copies)
        return Interval(start, met, low, high, first["start"], copies)
    # A timer ended it: it was over at some time between the copy that was lost last and the next one.
    came = first["back"] if first["back"] is not None else latest
    if came is None:
        return Interval(start, met, met, None, first["start"], copies)
    most = max(came - start, met)
    return Interval(start, (met + most) / 2, met, most, first["start"], copies)


def _next_sent(seen: Seen, last: float) -> float:
    """When the next packet behind this one was sent that was not lost; this time, if there is none."""
    lost = sorted((b["start"], b["last"]) for b in seen.bursts if b["last"] > last)
    for r in seen.sends:
        if r["time"] > last + 1e-6 and not any(a - 1e-6 <= r["time"] <= b + 1e-6 for a, b in lost):
            return float(r["time"])
    return last


def _copies(burst: Json) -> int:
    return int(burst["lost_copies"] or burst["lost_segments"] or 0)


def _queued(seen: Seen, first: Json) -> float | None:
    """The wait in the queue of the first packet that was lost. An ACK that the outage took makes a round
    trip long.
    """
    near = seen.wait_at(first["start"])
    before = first["rtt_before_s"]
    waited = max(before - (seen.base or 0.0), 0.0) if before is not None else None
    if near is None or waited is None:
        return near if waited is None else waited
    return near if near <= 1.5 * waited + 0.02 else waited


def _length(gone: list[Interval]) -> Value | None:
    if not gone:
        return None
    low = median([g.low for g in gone])
    highs = [g.high for g in gone if g.high is not None]
    source = f"{len(gone)} of them, the median"
    return Value(median([g.length for g in gone]), low, median(highs) if highs else None, "s", source)


def _beat(starts: list[float]) -> float | None:
    """The distance from one to the next, where there are three at least and all distances are alike."""
    steps = [b - a for a, b in pairwise(starts)]
    if len(steps) < 2:
        return None
    middle = median(steps)
    return middle if all(abs(s - middle) <= REGULAR * middle for s in steps) else None
