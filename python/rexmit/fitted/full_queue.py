"""The queue that was full: how high each packet found it, and from which height on packets were dropped.

Two rates of loss explain the fates of packets: nearly all are lost that find the queue full, and each of the
others with the same small probability. The height that makes the fates likeliest is the queue's length, if
one probability for all is so much less likely that chance does not explain it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

#: A packet that finds the queue full is dropped with this probability at least.
DROPS = 0.5
#: Log-likelihood by which a full queue explains the fates better than chance: e**9 is one in 8,000.
LIKELIER = 9.0
#: Fates within so many packets of the limit, or this share of it, are the queue's; at most within this share.
MARGIN, SHARE, MOST = 1.5, 0.03, 0.25
#: An ACK may have been delayed. A round trip lifts what is counted as queued by so many packets at most,
#: and two in a row that show so many packets more are believed.
CREEPS, MORE = 0.1, 2.5
#: Passes in which the limit, and with it what was lost behind the queue, is found.
ROUNDS = 4


@dataclass(frozen=True)
class Packet:
    """One that came to the queue.  wait: what its round trip shows, s.  passed: it was not lost.

    counts: its fate is the queue's doing or chance, not that of an outage.
    """

    time: float
    size: int
    wait: float | None
    passed: bool
    counts: bool


@dataclass(frozen=True)
class FullQueue:
    """limit: bytes, of the queue and the packet that is being sent.  times: when what it dropped was sent.

    lost, met: of the packets that found room in it, those that were lost and all.  at_limit: share of packets
    that found it full, or nearly.
    """

    limit: float
    times: list[float]
    lost: int
    met: int
    at_limit: float


def of(packets: list[Packet], rate: float, size: int) -> FullQueue | None:
    """rate: of the link, bits a second; size: of a full packet.  None where no queue was full."""
    # At first nothing that was lost has been in the queue.
    limit = 0.0
    for _ in range(ROUNDS):
        heights = _heights(packets, rate, size, limit)
        found = _likeliest(packets, heights)
        if found is None:
            return None
        if abs(found - limit) < 0.1 * size:
            break
        limit = found
    edge = limit - min(max(MARGIN * size, SHARE * limit), MOST * limit)
    times, lost, met, full = [], 0, 0, 0
    for p, height in zip(packets, heights, strict=True):
        if not p.counts:
            continue
        if height < edge:
            met += 1
            lost += not p.passed
            continue
        full += 1
        if not p.passed:
            times.append(p.time)
    return FullQueue(limit, times, lost, met, full / max(full + met, 1))


def _heights(packets: list[Packet], rate: float, size: int, limit: float) -> list[float]:
    """Bytes in the queue with each packet. What round trips show corrects what was counted."""
    per_second, level, before, before_it = rate / 8, 0.0, packets[0].time, 0.0
    found = []
    for p in packets:
        level = max(0.0, level - per_second * (p.time - before))
        before = p.time
        if p.wait is not None:
            more = p.wait * per_second - level
            lift = min(more, before_it) if min(more, before_it) > MORE * size else CREEPS * size
            level, before_it = level + min(more, lift), more
        found.append(level + p.size)
        # A packet that was lost behind the queue had been in it.
        if p.passed or not p.counts or level + p.size < limit - MARGIN * size:
            level += p.size
    return found


def _likeliest(packets: list[Packet], heights: list[float]) -> float | None:
    """The limit, between the last height below it and the first one above."""
    fates = sorted((h, p.passed) for h, p in zip(heights, packets, strict=True) if p.counts)
    dropped_all = sum(not passed for _, passed in fates)
    passed_all = len(fates) - dropped_all
    by_chance = _log_likelihood(dropped_all, passed_all)
    best, limit, dropped, passed = by_chance + LIKELIER, None, 0, 0
    for at in range(len(fates) - 1, -1, -1):
        height, went = fates[at]
        dropped, passed = dropped + (not went), passed + went
        if went or dropped < DROPS * (dropped + passed):
            continue
        here = _log_likelihood(dropped, passed)
        here += _log_likelihood(dropped_all - dropped, passed_all - passed)
        if here > best:
            best, limit = here, (height + fates[at - 1][0]) / 2 if at else height
    return limit


def _log_likelihood(lost: int, passed: int) -> float:
    """Of these fates with the probability that suits them best."""
    total = lost + passed
    return sum(n * math.log(n / total) for n in (lost, passed) if n)
