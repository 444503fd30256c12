"""Whether bursts of losses last for so many packets, or for so long: one capture may not tell.

In both a burst goes on with the same probability, from packet to packet or from moment to moment. What the
capture shows of each burst is how many packets were lost, and when they and the next one left the queue.
"""

from __future__ import annotations

import bisect
import math

from rexmit.fitted.seen import Json, Seen

#: Lengths that are tried, as multiples of the one that the bursts have on average.
TRIED = tuple(2 ** (i / 4) for i in range(-12, 13))
#: Times are equal that differ by less, s.
SHORT = 1e-6


def weight_of_packets(seen: Seen, bursts: list[Json], lengths: list[int], rate: float | None) -> float:
    """Of bursts that last for packets, beside those that last for a time; 0.5 where both explain them alike.

    rate: of the link, bits a second.
    """
    times = [r["time"] for r in seen.sends]
    each = 8 * seen.packet / rate if rate else 0.0
    spans = [_span(times, b["start"], b["last"], seen.wait_at(b["start"]) or 0.0, each) for b in bursts]
    mean = sum(lengths) / len(lengths)
    going_on = 1.0 - 1.0 / mean if mean > 1 else 0.0
    packets = sum((n - 1) * _log(going_on) + _log(1.0 - going_on) for n in lengths if n > 1 or going_on < 1)
    usual = max(sum(low for low, _ in spans) / len(spans), SHORT)
    in_time = max(sum(_log(_lasts(low, high, usual * t)) for low, high in spans) for t in TRIED)
    return 1.0 / (1.0 + math.exp(min(50.0, max(-50.0, in_time - packets))))


def _span(times: list[float], start: float, last: float, wait: float, each: float) -> tuple[float, float]:
    """From when the first packet left the queue to when the last lost one did, and the next one, s."""
    at = bisect.bisect_left(times, start - SHORT)
    first = leaves = start + wait
    gone = 0.0
    for place in range(at + 1, len(times)):
        leaves = max(leaves + each, times[place])
        if times[place] > last + SHORT:
            return gone, leaves - first
        gone = leaves - first
    return gone, math.inf


def _lasts(low: float, high: float, mean: float) -> float:
    """The probability of a length between these (exponential)."""
    return math.exp(-low / mean) - (0.0 if math.isinf(high) else math.exp(-high / mean))


def _log(probability: float) -> float:
    return math.log(max(probability, 1e-12))
