"""The loss process: what is left of the losses once queue, policer and outages have theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rexmit.fitted.capacity import FULL, Capacity
from rexmit.fitted.in_time import weight_of_packets
from rexmit.fitted.interval import Interval
from rexmit.fitted.outages import Interruptions
from rexmit.fitted.seen import Json, Seen
from rexmit.fitted.value import Value, binomial_below, proportion

#: Losses come in bursts if chance alone would put as many next to each other this rarely.
CHANCE = 0.001
#: And their mean length is this at least, packets.
TOGETHER = 1.1
#: So many bursts show how long bursts are, and one that is longer than this makes likely is none of them.
OFTEN, LONGEST = 4, 0.02
#: Few losses that are left beside many of the queue's may be the queue's as well.
BESIDE = 0.05
#: The same where an account has the fate of each packet.
LITTLE = 0.014
#: Waits that are no longer than this do not show where data arrives: timestamps have ticks of 1 ms, s.
COARSE = 0.005
#: Added to the share of a cause in the answer, so that none weighs nothing.
WEIGHS = 0.01


@dataclass(frozen=True)
class Losses:
    """kind: none, queue, policer, random or gilbert-elliott.

    loss: share of packets that the process takes.  burst: mean length of a burst, packets.
    alternatives: other kinds that explain the same, with weights that add up to 1.
    lost: copies by who lost them.
    """

    kind: str
    loss: Value | None
    burst: Value | None
    alternatives: list[Json]
    lost: dict[str, int]


def of(
    seen: Seen, capacity: Capacity, gone: list[tuple[float, float]], held: list[tuple[float, float]]
) -> Losses:
    """gone: outages, from when to when.  held: when packets were held."""
    policed = capacity.policer_rate is not None
    left: list[Json] = []
    lost = {"outage": 0, "queue": 0, "policer": 0, "process": 0}
    for burst, owner in _owners(seen, capacity, gone, held):
        copies = _copies(burst)
        by_queue = min(_dropped(capacity, burst), copies) if owner == "queue" else copies
        lost[owner] += by_queue
        if owner == "process":
            left.append(burst)
        elif by_queue < copies:
            lost["process"] += copies - by_queue
            left.append(burst | {"lost_copies": copies - by_queue})
    if left and capacity.shared and not policed:
        return _shared(seen, capacity, lost)
    ruled = "policer" if policed else "queue" if capacity.full or lost["queue"] else None
    taken = lost["queue"] + lost["policer"]
    exact = capacity.over is not None and capacity.over.beside is not None
    if not left or (ruled and (len(left) <= 2 or lost["process"] <= (LITTLE if exact else BESIDE) * taken)):
        return _without(seen, ruled, lost)
    beside = capacity.over.beside if capacity.over is not None else None
    found_room = beside[1] if beside else round(seen.copies * (1 - capacity.at_full)) - taken - lost["outage"]
    sent = max(found_room, lost["process"])
    return _process(seen, left, lost, sent, capacity.link)


def bursts_among(seen: Seen, found: Interruptions, trip: float) -> list[Interval]:
    """Outages that are no more than long bursts of a process that loses packets in bursts all the time,
    and those of a
    policer, which drops what comes at once.
    """
    if seen.path.get("policer_bps"):
        return found.outages
    gone = found.losing(trip)
    others = [_copies(b) for b in seen.bursts if not any(a <= b["start"] <= e for a, e in gone)]
    short = [o for o in found.outages if o.copies]
    if len(others) < OFTEN or sum(n > 1 for n in others) < OFTEN:
        return []
    mean = sum(others) / len(others)
    # Of so many bursts the longest is as long as that with this probability (geometric lengths).
    return [o for o in short if (len(others) + len(short)) * (1 - 1 / mean) ** (o.copies - 1) >= LONGEST]


def _dropped(capacity: Capacity, burst: Json) -> int:
    """How many copies of a burst the queue's account explains; all of them where there is none."""
    over = capacity.over
    found = over.dropped(burst["start"], burst["last"]) if over is not None and over.beside is not None else 0
    return found or _copies(burst)


def _copies(burst: Json) -> int:
    return int(burst["lost_copies"] or burst["lost_segments"] or 0)


def _owners(
    seen: Seen, capacity: Capacity, gone: list[tuple[float, float]], held: list[tuple[float, float]]
) -> list[tuple[Json, str]]:
    """Each burst with what lost it. One whose queue does not show is as the first of its episode near it."""
    found: list[tuple[Json, str]] = []
    over = capacity.over
    # Where data arrives and waits do not show, the answer judges by the holes that losses leave.
    queues = seen.share_of(("loss-queue",)) >= seen.share_of(("loss-random",))
    trip = 1.5 * (seen.base or 0.0) + capacity.wait_full
    first: dict[Any, tuple[float, str]] = {}
    for b in seen.bursts:
        wait = seen.wait_at(b["start"])
        before = first.get(b["episode"])
        if any(a <= b["start"] <= e for a, e in gone):
            owner = "outage"
        elif any(a <= b["start"] <= e for a, e in held):
            # The queue fills that nothing leaves meanwhile.
            owner = "queue"
        elif over is not None and over.dropped(b["start"], b["last"]):
            owner = "policer" if over.policer else "queue"
        elif over is not None and over.policer:
            # A copy that was sent in vain is not told from one that the policer dropped.
            behind = not seen.arriving and wait is not None and wait >= FULL * capacity.wait_full
            owner = "queue" if capacity.full and behind else "policer"
        elif seen.arriving and seen.fullest < COARSE:
            owner = "queue" if queues else "process"
        elif not capacity.full or over is not None:
            owner = "process"
        elif wait is not None:
            owner = "queue" if wait >= FULL * capacity.wait_full else "process"
        elif before is not None and b["start"] - before[0] <= trip:
            owner = before[1]
        else:
            known = b["rtt_before_s"]
            waited = known - (seen.base or 0.0) if known is not None else 0.0
            owner = "queue" if waited >= FULL * capacity.wait_full else "process"
        if before is None or wait is not None:
            first[b["episode"]] = (b["start"], owner)
        found.append((b, owner))
    return found


def _without(seen: Seen, ruled: str | None, lost: dict[str, int]) -> Losses:
    high = proportion(0, max(seen.copies, 1))[1]
    source = "no loss is left beside those of the queue, the policer and outages"
    none = Value(0.0, 0.0, high, "share", source)
    kind = ruled or "none"
    return Losses(kind, none, None, [{"kind": kind, "weight": 1.0}], lost)


def _shared(seen: Seen, capacity: Capacity, lost: dict[str, int]) -> Losses:
    """Where other flows shared the link, they fill its queue as well: no loss is told from one by chance."""
    at_most = proportion(lost["process"], max(seen.copies, 1))[1]
    words = "other flows shared the link, and may have filled its queue"
    queue, chance = (seen.share_of((cause,)) + WEIGHS for cause in ("loss-queue", "loss-random"))
    by_queue = 1.0 if capacity.full else queue / (queue + chance)
    ranked = [{"kind": "queue", "weight": by_queue}, {"kind": "random", "weight": 1.0 - by_queue}]
    ranked = sorted((r for r in ranked if r["weight"]), key=lambda r: -float(str(r["weight"])))
    lost = lost | {"queue": lost["queue"] + lost["process"], "process": 0}
    return Losses("queue", Value(None, 0.0, at_most, "share", words), None, ranked, lost)


def _process(seen: Seen, left: list[Json], lost: dict[str, int], sent: int, rate: float | None) -> Losses:
    lengths = [_copies(b) for b in left]
    total, bursts = sum(lengths), len(lengths)
    share = total / sent
    together = total - bursts
    # Of independent losses each is followed by another one with the same probability.
    by_chance = 1.0 - binomial_below(together - 1, total, min(share, 1 - 1e-9)) if together else 1.0
    mean = total / bursts
    weight = 1.0 / (
        1.0 + math.exp(min(50.0, max(-50.0, math.log(CHANCE) - math.log(max(by_chance, 1e-300)))))
    )
    packets = weight_of_packets(seen, left, lengths, rate)
    others = [
        {"kind": "random", "weight": weight},
        {"kind": "gilbert-elliott", "weight": (1.0 - weight) * packets},
        {"kind": "gilbert-elliott-time", "weight": (1.0 - weight) * (1.0 - packets)},
    ]
    ranked = sorted(others, key=lambda o: -float(str(o["weight"])))
    low, high = proportion(total, sent)
    counted = f"{total:,} of {sent:,} packets that met no full queue"
    if by_chance >= CHANCE or mean < TOGETHER:
        return Losses("random", Value(share, low, high, "share", counted), None, ranked, lost)
    # Bursts are what is independent: the interval of their number, times their length.
    low, high = (end * mean for end in proportion(bursts, max(round(sent / mean), bursts)))
    off = 1.645 * mean * (1 - 1 / mean) ** 0.5 / bursts**0.5 if mean > 1 else 0.0
    length = Value(mean, max(1.0, mean - off), mean + off, "packets", f"{bursts:,} bursts")
    shares = Value(share, low / mean if low > share else low, high, "share", counted)
    return Losses("gilbert-elliott", shares, length, ranked, lost)
