"""Rate, base delay, queue and policer of the direction with the data."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from rexmit.fitted import overflow, standing
from rexmit.fitted.overflow import Overflow
from rexmit.fitted.seen import TICK, Seen
from rexmit.fitted.standing import Standing, meets
from rexmit.fitted.value import Value, about, binomial_below, bound, median, unknown

#: A packet met a full queue if the one before it waited for so much of the longest wait.
FULL = 0.85
#: What limits a sender so that it does not fill the path, and the share of the time from which that counts.
OTHERWISE = (
    "receive-window",
    "receiver-not-reading",
    "sender-idle",
    "request-response",
    "delayed-ack",
    "pacing",
    "send-window",
)
MOSTLY = 0.5
#: So many bursts in one episode, one behind the other, are those of a queue that overflows.
IN_A_ROW = 4
#: So rarely chance puts so many losses where packets waited longest: then the queue dropped them.
CHANCE = 0.005
#: Where nothing shows the rate of the link, it is taken to have so many times what was reached.
ROOM = 10.0
#: A SYN has so many more bytes of options than later packets (RFC 9293: MSS, SACK permitted, window scale).
SYN_OPTIONS = 8
#: Half of the interval of a rate at which a queue emptied, and of a policer's.
EMPTIED, POLICED = 0.015, 0.02
#: A flow that brought less of what came over the path was not alone on it.
ALONE = 0.98
#: A policer on a link that seems to be shared: so many drops, and so much of them explained.
MANY, CLEARLY = 30, 0.8
#: A queue of fewer packets is a delayed ACK or jitter of hosts.
LEAST_PACKETS = 2.5


@dataclass(frozen=True)
class Capacity:
    """What one direction carries, and what it does with more.

    rate: bits a second, headers of IP and TCP included.  delay: both ways without queues, s.
    queue: packets.  policer_rate: as `rate`; bucket: bytes.
    link: the rate of the link that a scenario has; where `rate` is a bound, what shows best besides.
    full: the queue dropped packets.  at_full: the share of packets that met a queue as full as that.
    over: the account that explains the drops, of a policer or of a queue.  shared: other flows had a part of
    the link, whether the capture has them or not.
    """

    rate: Value
    delay: Value
    queue: Value
    policer_rate: Value | None
    bucket: Value | None
    link: float | None
    full: bool
    at_full: float
    wait_full: float
    over: Overflow | None
    shared: bool


def of(seen: Seen, gone: list[tuple[float, float]], held: list[tuple[float, float]]) -> Capacity:
    """gone: outages, from when to when, whose losses are not the queue's.  held: when packets were held,
    whose coming at once is not the rate of the path.
    """
    scale = seen.packet / seen.payload
    stood = standing.of(seen, [*held, *gone])
    shared = stood.shared or (seen.path.get("own_share") or 1.0) < ALONE
    known = _known(seen, stood, bool(held))
    taken = [*gone, *held]
    over = overflow.of(seen, lambda time: _within(time, taken), _reached(seen, held) * scale, known)
    if (
        shared
        and over is not None
        and not (over.policer and over.drops >= MANY and over.explained >= CLEARLY)
    ):
        # What the other flows sent is missing in the account.
        over = None
    policer_rate = bucket = None
    if seen.arriving and over is not None and not over.policer:
        # Packets arrive at the link's rate, whatever filled its queue: no account of them overflows.
        over = None
    if over is not None and over.policer:
        source = "the rate and the bucket that let through what passed, and not what was dropped"
        policer_rate = about(over.rate, POLICED, "bps", source)
        bucket = Value(over.limit, 0.9 * over.low, 1.1 * over.high, "bytes", source)
    rate = _rate(seen, held, over, stood)
    if over is not None and not over.policer:
        wait, at_full, full = 8 * (over.limit - seen.packet) / over.rate, over.at_limit, True
    else:
        wait, at_full, full = _overflow(
            seen, gone, over, known is not None and not shared and not seen.arriving
        )
    queue = _queue(seen, rate, wait, full and not shared, shared)
    delay, link = _delay(seen, rate, shared), _link(seen, rate)
    return Capacity(rate, delay, queue, policer_rate, bucket, link, full, at_full, wait, over, shared)


def _known(seen: Seen, stood: Standing, held: bool) -> float | None:
    """The rate of the link, with headers, where a queue that stood or the spacing of packets shows it."""
    scale, capacity = seen.packet / seen.payload, seen.path.get("capacity_bps")
    if stood.rate is not None:
        return stood.rate * scale
    # What was held comes closer than the link sends it.
    shows = (
        capacity
        and not held
        and not seen.path.get("at_least")
        and seen.path.get("known_by") in ("full", "trains")
    )
    return capacity * scale if capacity and shows and not stood.shared else None


def _link(seen: Seen, rate: Value) -> float | None:
    """The rate, where it was measured; else what the spacing of packets shows, or the time that a full
    packet takes; else many times what was reached, so that the link limits no more than the path did.
    """
    if rate.value is None or not rate.at_least:
        return rate.value
    reached = max(rate.value, (seen.path.get("capacity_bps") or 0.0) * seen.packet / seen.payload)
    if seen.path.get("known_by") == "trains":
        return reached
    # The packets of a handshake are headers, as an ACK is, which comes back both times.
    if seen.serialisation is not None:
        return max(reached, 8 * (seen.payload - SYN_OPTIONS) / seen.serialisation)
    return ROOM * reached


def _rate(seen: Seen, held: list[tuple[float, float]], over: Overflow | None, stood: Standing) -> Value:
    capacity, how = seen.path.get("capacity_bps"), seen.path.get("known_by")
    if not capacity:
        return unknown("bps", "nothing was delivered")
    scale = seen.packet / seen.payload
    lost = bool(seen.row["lost_copies"] or seen.row["lost_segments"])
    limited = seen.share_of(OTHERWISE) >= MOSTLY or how == "trains"
    policed = over is not None and over.policer
    if over is not None and not policed and (held or how != "full"):
        words = "the rate at which the queue emptied that dropped packets"
        return about(over.rate, EMPTIED, "bps", words)
    if (policed and how != "full") or (limited and not lost and not held):
        most = _reached(seen, held) * scale or FULL * capacity * scale
        return bound(most, "bps", "the largest rate in a round trip: something else limited the sender")
    if how != "reached" and not policed:
        if stood.rate is not None and (held or how == "full"):
            middle, off = stood.rate * scale, stood.off * scale
            return Value(middle, middle - off, middle + off, "bps", "what was delivered while a queue stood")
        if stood.shared:
            return _shared_rate(seen, stood)
    if held:
        whole = [r for r in seen.rounds if not meets(r, held) and r["end"] - r["start"] >= 0.01]
        most = max((8 * r["delivered_bytes"] / (r["end"] - r["start"]) for r in whole), default=0.0)
        return bound(
            most * scale,
            "bps",
            "the largest rate in a round trip outside of times in which packets were held",
        )
    if seen.path.get("at_least"):
        capacity = _reached(seen, held) or capacity
        return bound(capacity * scale, "bps", "the largest rate in a round trip: nothing filled the path")
    value = capacity * scale
    if how == "full":
        return about(value, 0.03, "bps", "what came out of a queue")
    # Trains that lost packets are slower than the link, and none is faster.
    return Value(value, 0.9 * value, 1.25 * value, "bps", "how close packets came behind each other")


def _shared_rate(seen: Seen, stood: Standing) -> Value:
    """Where other flows had a part of the link all the while: the capture may have them."""
    scale, capacity = seen.packet / seen.payload, seen.path.get("capacity_bps")
    if capacity and seen.path.get("known_by") == "full" and (seen.path.get("own_share") or 1.0) < ALONE:
        return about(
            capacity * scale, 0.05, "bps", "what this flow and the others of the capture got together"
        )
    return bound(stood.most * scale, "bps", "the largest part of a link that other flows shared")


def _reached(seen: Seen, held: list[tuple[float, float]]) -> float:
    """Payload, bits a second: the most in a round trip of at least 20 ms in which nothing was held, less
    the packet that began before it.
    """
    least = max(seen.base or 0.0, 0.02)
    most, start, delivered = 0.0, None, 0
    for r in seen.rounds:
        if meets(r, held):
            start, delivered = None, 0
            continue
        start = r["start"] if start is None else start
        delivered += r["delivered_bytes"]
        if r["end"] - start >= least:
            most = max(most, 8 * (delivered - seen.payload) / (r["end"] - start))
            start, delivered = None, 0
    return most


def _delay(seen: Seen, rate: Value, shared: bool) -> Value:
    if seen.base is None:
        return unknown("s", "no round trip was measured")
    sending = seen.packet * 8 / rate.value if rate.value and not rate.at_least else 0.0
    # Where no full packet was measured, it is the handshake's.
    full = min((rtt for _, rtt in seen.samples), default=seen.base + sending)
    least = seen.base
    if not seen.row["handshake_s"] and not seen.arriving:
        least = min(seen.base, max(full - sending, 0.5 * full))
    # A SYN is short; a full packet takes its own time to be sent besides.
    low = max(least - (seen.packet * 8 / rate.value if rate.value else 0.0), 0.9 * least)
    if shared:
        words = "the least round trip, in which the packets of other flows may have been ahead"
        return Value(least, None, max(full, least), "s", words)
    return Value(least, low, max(full, least), "s", "the least round trip; each way is taken for half of it")


def _overflow(
    seen: Seen, gone: list[tuple[float, float]], over: Overflow | None, known: bool
) -> tuple[float, float, bool]:
    """The wait in a full queue, the share of packets that waited for nearly as long, and whether it
    dropped any.  known: the rate of the link is, so that an account would have shown a full queue.
    """
    waits = [w for w in map(seen.wait_at, _starts(seen, gone)) if w is not None]
    longest = seen.fullest
    if over is not None and over.behind:
        met = [w for w in map(seen.wait_at, over.behind) if w is not None]
        return median(met), sum(w >= FULL * median(met) for w in seen.waits) / len(seen.waits), True
    if not waits or over is not None or known or longest <= 0:
        return longest, 0.0, False

    ordered = sorted(waits)

    def near(level: float) -> int:
        upto = bisect.bisect_right(ordered, level * (2 - FULL))
        return upto - bisect.bisect_left(ordered, FULL * level)

    # The wait at which most packets were lost; of equals the longest.
    peak = max((w for w in waits if w >= FULL * longest / 2), key=lambda w: (near(w), w), default=0.0)
    met = [w for w in waits if FULL * peak <= w <= peak * (2 - FULL)]
    peak = median(met) if met else 0.0
    share = sum(w >= FULL * peak for w in seen.waits) / max(len(seen.waits), 1)
    by_chance = 1.0 - binomial_below(len(met) - 1, len(waits), min(max(share, 1e-9), 1 - 1e-9))
    stands = peak >= max(0.001, 0.02 * (seen.base or 0.0))
    outside = [b["episode"] for b in seen.bursts if not _within(b["start"], gone)]
    in_a_row = max((outside.count(e) for e in set(outside)), default=0)
    overrun = in_a_row >= max(IN_A_ROW, len(outside) / 2) and bool(met)
    full = stands and peak >= FULL * longest and (by_chance < CHANCE or overrun)
    return (peak if full else longest), (share if full else 0.0), full


def _starts(seen: Seen, gone: list[tuple[float, float]]) -> list[float]:
    return [b["start"] for b in seen.bursts if not _within(b["start"], gone)]


def _within(time: float, spans: list[tuple[float, float]]) -> bool:
    return any(start <= time <= end for start, end in spans)


def _queue(seen: Seen, rate: Value, wait: float, full: bool, shared: bool) -> Value:
    if not rate.value or rate.at_least:
        return unknown("packets", "nothing filled the path, so that no queue shows")
    packets = wait * rate.value / 8 / seen.packet
    if not full:
        words = "the longest wait in it" if shared else "the longest wait in it; it dropped nothing"
        if packets < LEAST_PACKETS:
            return unknown("packets", "no queue built up")
        return bound(packets, "packets", words)
    # Where data arrives, a wait is known to a tick of the sender's clock.
    off = max(1.0, 0.05 * packets, TICK * rate.value / 8 / seen.packet if seen.arriving else 0.0)
    return Value(
        packets, packets - off, packets + off, "packets", "the wait of packets before those that it dropped"
    )
