"""What drops packets because too much came: a queue that was full, or a policer whose bucket was empty.

Both are the same account. What passes adds its bytes, a rate takes them off again, and a packet is dropped
that would bring the account above a limit: a policer's rate and bucket (RFC 2697), or a link's rate and the
bytes that its queue holds. They differ in that a queue makes packets wait for as long as the account says.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from rexmit.fitted import full_queue
from rexmit.fitted.seen import Seen
from rexmit.fitted.value import median

#: So many packets were dropped at least.
DROPS = 6
#: The account explains so many drops more than it gets wrong at least, as a share of all of them.
EXPLAINED = 0.25
#: And so many are enough for the queue of a known link, before a policer is tried.
MOSTLY = 0.75
#: Rates that are tried, as shares of the one that passed from the first drop to the last, and how fine.
LOWEST, HIGHEST, COARSE, FINE = 0.8, 2.0, 0.03, (0.005, 0.001, 0.0002)
#: So many packets of a long transfer are enough to seek the rate, coarsely and finely.
SHORT, LONG = 3_000, 15_000
#: A full queue makes packets wait for as long as its account says, within this share.
AS_LONG = 0.35
#: Where no wait shows, a policer lets through so many times its rate while its bucket has something left.
FASTER = 1.15
#: A drop by a queue behind a policer: the packet before it waited for so much of the longest wait.
WAITED = 0.85


@dataclass(frozen=True)
class Overflow:
    """rate: bits a second, with headers.  low, high: bounds of the limit, bytes.  policer: else a queue.

    drops: copies that were dropped, as far as the account explains or does not.  at_limit: share of packets
    that passed within a packet of the limit.  times: of the drops that it explains, s, in order.
    behind: of those of a queue behind the policer.  beside: how many packets found room in the queue and were
    lost, and how many found room; None of a policer.
    """

    rate: float
    low: float
    high: float
    policer: bool
    drops: int
    explained: float
    at_limit: float
    times: list[float]
    behind: list[float]
    beside: tuple[int, int] | None = None

    @property
    def limit(self) -> float:
        """Bytes."""
        return (self.low + self.high) / 2

    def dropped(self, start: float, last: float) -> int:
        """How much it dropped of what was sent between."""
        first = bisect.bisect_left(self.times, start - 1e-6)
        return bisect.bisect_right(self.times, last + 1e-6) - first


@dataclass(frozen=True)
class Packet:
    """One that came to the limit.  passed: it went through.  counts: its fate is the limit's doing."""

    time: float
    size: int
    passed: bool
    counts: bool = True


@dataclass(frozen=True)
class _Limit:
    """The best limit at a rate.  wrong: drops below it and packets that passed above it."""

    rate: float
    wrong: int
    low: float
    high: float


def of(seen: Seen, taken: Callable[[float], bool], reached: float, known: float | None) -> Overflow | None:
    """None where no account explains the drops.

    taken: whether something else took what was lost of that time.  reached: bits a second, with headers, the
    most that came in a round trip.  known: the link's, where a queue that stood showed it.
    """
    packets = _packets(seen, taken)
    queue = _full_queue(seen, packets, known) if known and not seen.arriving else None
    drops = [p for p in packets if not p.passed and p.counts]
    if len(drops) < DROPS or (queue is not None and queue.explained >= MOSTLY):
        return queue
    found = _sought(seen, packets, drops, reached)
    # What is left of a queue's drops may be a policer's.
    least = 0.0 if queue is None or seen.path.get("policer_bps") else queue.explained
    better = found is not None and found.policer and found.explained > least
    return found if better or (queue is None and not known) else queue


def _sought(seen: Seen, packets: list[Packet], drops: list[Packet], reached: float) -> Overflow | None:
    """The rate is not known, and is sought with the limit."""
    limit = _best(packets, drops)
    policer = _is_policer(seen, packets, limit, reached)
    behind_times: list[float] = []
    if policer and not seen.arriving:
        # What a queue behind the policer dropped had passed the policer.
        longest = WAITED * seen.fullest
        behind = [
            Packet(p.time, p.size, True, False)
            if not p.passed and p.counts and need < limit.low and (seen.wait_at(p.time) or 0.0) >= longest
            else p
            for p, need in zip(packets, _needs(packets, limit.rate), strict=True)
        ]
        rest = [p for p in behind if not p.passed and p.counts]
        if len(rest) >= DROPS:
            again = _best(behind, rest)
            if again.wrong / len(rest) < limit.wrong / len(drops):
                behind_times = [b.time for b, p in zip(behind, packets, strict=True) if b is not p]
                packets, drops, limit = behind, rest, again
    explained = 1.0 - limit.wrong / len(drops)
    if explained < EXPLAINED:
        return None
    needs = list(zip(packets, _needs(packets, limit.rate), strict=True))
    times = [p.time for p, need in needs if not p.passed and p.counts and need >= limit.low]
    near = sum(p.passed and need >= limit.low - 2 * seen.packet for p, need in needs)
    at_limit = near / max(sum(p.passed for p in packets), 1)
    return Overflow(
        limit.rate, limit.low, limit.high, policer, len(drops), explained, at_limit, times, behind_times
    )


def _full_queue(seen: Seen, packets: list[Packet], rate: float) -> Overflow | None:
    """The account of a queue whose link has this rate."""
    waits = seen.waits_by_end
    came = [
        full_queue.Packet(
            p.time, p.size, waits.get(r["seq"] + r["len"]) if p.passed else None, p.passed, p.counts
        )
        for p, r in zip(packets, seen.sends, strict=True)
    ]
    found = full_queue.of(came, rate, seen.packet) if came else None
    if found is None:
        return None
    drops = len(found.times) + found.lost
    explained = len(found.times) / max(drops, 1)
    beside = (found.lost, found.met)
    ends = found.limit, found.limit
    return Overflow(rate, *ends, False, drops, explained, found.at_limit, found.times, [], beside)


def _packets(seen: Seen, taken: Callable[[float], bool]) -> list[Packet]:
    """Those that left, in order: a copy was lost if its segment was sent again later. Where data arrives,
    those that came, and those that were lost when the hole that they left shows.
    """
    headers = seen.packet - seen.payload
    if seen.arriving:
        came = [Packet(r["time"], r["len"] + headers, True) for r in seen.sends]
        for burst in seen.bursts:
            copies = int(burst["lost_copies"] or burst["lost_segments"])
            counts = not taken(burst["start"])
            came += [Packet(burst["start"], seen.packet, False, counts)] * copies
        return sorted(came, key=lambda p: p.time)
    last = {r["seq"]: r["packet"] for r in seen.sends}
    lost = _Spans([(b["start"], b["last"]) for b in seen.bursts])
    found = []
    for r in seen.sends:
        # A segment that was repaired although it came lies in no burst of losses.
        passed = last[r["seq"]] == r["packet"] or not lost.have(r["time"])
        # An outage takes what has passed the limit, and what is held tells nothing.
        other = taken(r["time"])
        found.append(Packet(r["time"], r["len"] + headers, passed or other, not other))
    return found


class _Spans:
    """Stretches of time that may lie within each other."""

    def __init__(self, spans: list[tuple[float, float]]) -> None:
        self.starts: list[float] = []
        self.ends: list[float] = []
        for start, end in sorted(spans):
            if self.ends and start <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)

    def have(self, time: float) -> bool:
        at = bisect.bisect_right(self.starts, time + 1e-6) - 1
        return at >= 0 and time <= self.ends[at] + 1e-6


def _needs(packets: list[Packet], rate: float) -> list[float]:
    """How high each packet brings the account, or would have, bytes."""
    return _account(*_columns(packets), rate)


def _columns(packets: list[Packet]) -> tuple[list[float], list[int], list[int]]:
    """How long after the packet before it each came, its size, and what of it is put to account."""
    times = [p.time for p in packets]
    apart = [0.0, *(after - before for before, after in pairwise(times))]
    return apart, [p.size for p in packets], [p.size if p.passed else 0 for p in packets]


def _account(apart: list[float], sizes: list[int], added: list[int], rate: float) -> list[float]:
    per_second, level, found = rate / 8, 0.0, []
    for gap, size, more in zip(apart, sizes, added, strict=True):
        level -= per_second * gap
        if level < 0.0:
            level = 0.0
        found.append(level + size)
        level += more
    return found


class _Fates:
    """Packets as columns, so that many rates are tried soon."""

    def __init__(self, packets: list[Packet]) -> None:
        self.packets = packets
        self.columns = _columns(packets)
        self.passed = [i for i, p in enumerate(packets) if p.passed and p.counts]
        self.dropped = [i for i, p in enumerate(packets) if not p.passed and p.counts]

    def time(self, place: int) -> float:
        """Of the packet in this place, s."""
        return self.packets[place].time

    def passed_between(self, start: float, end: float) -> int:
        """Bytes."""
        return sum(p.size for p in self.packets if p.passed and start <= p.time <= end)

    def at(self, rate: float) -> _Limit:
        """The limit with which the fewest fates are wrong."""
        needs = _account(*self.columns, rate)
        dropped = sorted(needs[i] for i in self.dropped)
        # No limit below the lowest drop can be better than that.
        above = sorted(needs[i] for i in self.passed if needs[i] >= dropped[0])
        least, low = len(above), dropped[0]
        at = 0
        for place, need in enumerate(dropped):
            # A limit right below this drop: those below it are wrong, and what passed above it.
            at = bisect.bisect_left(above, need, at)
            wrong = place + len(above) - at
            if wrong < least:
                least, low = wrong, need
        under = bisect.bisect_left(above, low)
        return _Limit(rate, least, above[under - 1] if under else low, low)


def _best(packets: list[Packet], drops: list[Packet]) -> _Limit:
    """The rate is sought with the first part of a long transfer, and its limit with all of it."""
    whole = _Fates(packets)
    sixth = packets.index(drops[min(DROPS, len(drops)) - 1]) + 1
    few, many = (_Fates(packets[: max(2 * sixth, upto)]) for upto in (SHORT, LONG))
    start, end = few.time(few.dropped[0]), few.time(few.dropped[-1])
    mean = 8 * few.passed_between(start, end) / max(end - start, 1e-3)
    steps = round((HIGHEST - LOWEST) / COARSE)
    coarse = _middle([few.at(mean * (LOWEST + i * COARSE)) for i in range(steps + 1)])
    if 1.0 - coarse.wrong / len(few.dropped) < EXPLAINED / 2:
        return whole.at(coarse.rate)
    return whole.at(_finest(many, coarse.rate).rate)


def _finest(fates: _Fates, rate: float) -> _Limit:
    """Near a rate. What is wrong in it adds up for as long as the account does not run empty."""
    found = fates.at(rate)
    for fine in FINE:
        found = _middle([fates.at(found.rate * (1 + i * fine)) for i in range(-5, 6)])
    return found


def _middle(tried: list[_Limit]) -> _Limit:
    """Of those with the fewest wrong the one in the middle."""
    least = min(t.wrong for t in tried)
    same = [t for t in tried if t.wrong == least]
    return same[len(same) // 2]


def _is_policer(seen: Seen, packets: list[Packet], limit: _Limit, reached: float) -> bool:
    """A queue lets packets wait for as long as the account says; a policer drops them at once."""
    needs = zip(packets, _needs(packets, limit.rate), strict=True)
    waits = [
        (seen.wait_at(p.time), 8 * (need - p.size) / limit.rate)
        for p, need in needs
        if not p.passed and p.counts and need >= limit.low
    ]
    known = [waited / stood for waited, stood in waits if waited is not None and stood > 0]
    # Where data arrives, what was in a queue comes at the link's rate, whatever its account.
    if len(known) >= DROPS / 2 and not seen.arriving:
        return abs(median(known) - 1.0) > AS_LONG
    return reached >= FASTER * limit.rate
