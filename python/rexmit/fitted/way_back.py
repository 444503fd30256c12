"""The way of the ACKs: what it carried, whether it lost some, and how they came together."""

from __future__ import annotations

from dataclasses import dataclass

from rexmit.fitted.seen import HEADERS, TIMESTAMPS, Seen
from rexmit.fitted.value import Value, bound, proportion, unknown

#: A rate is that of so long a stretch at least, s.
LONG = 0.02


@dataclass(frozen=True)
class WayBack:
    """rate: bits a second, headers included.  ack_loss, together: shares of ACKs.

    acks_per_packet: of data that came.
    """

    rate: Value
    ack_loss: Value
    acks_per_packet: Value
    together: Value


def of(seen: Seen) -> WayBack:
    """Of the direction against the data."""
    return WayBack(_rate(seen), _loss(seen), _per_packet(seen), _together(seen))


def _rate(seen: Seen) -> Value:
    header = HEADERS + (TIMESTAMPS if seen.row["timestamps"] else 0)
    came = sorted(
        [(t, header) for t in seen.acks] + [(r["time"], r["len"] + header) for r in seen.others_sends]
    )
    most, least = 0.0, max(seen.base or 0.0, LONG)
    first, size = 0, 0
    for time, more in came:
        size += more
        # The packet that opens the stretch came before its time.
        while time - came[first][0] >= least and first < len(came) - 1:
            size -= came[first][1]
            most = max(most, 8 * size / (time - came[first][0]))
            first += 1
    if not most:
        return unknown("bps", "too little came back")
    return bound(most, "bps", "the most that came back in a round trip; nothing filled the way back")


def _loss(seen: Seen) -> Value:
    lost, acks = seen.row["acks_lost"], int(seen.row["acks"] or 0)
    if lost is None or not acks:
        return unknown("share", "one capture does not tell a lost ACK from one that was not sent")
    sent = acks + int(lost) if seen.row["vantage"] != "receiver" else acks
    low, high = proportion(int(lost), max(sent, int(lost)))
    return Value(int(lost) / sent, low, high, "share", f"{lost:,} of {sent:,} ACKs, by both captures")


def _per_packet(seen: Seen) -> Value:
    acks, packets = seen.row["acks"], seen.row["packets"]
    if acks is None or not packets:
        return unknown("share", "the capture does not show it")
    share = acks / packets
    low, high = proportion(acks, packets) if acks <= packets else (share, share)
    return Value(share, low, high, "share", "ACKs without data for each packet of data")


def _together(seen: Seen) -> Value:
    acks = int(seen.row["acks"] or 0)
    if seen.arriving:
        return unknown("share", "ACKs are seen as they leave")
    if not seen.row["timestamps"] or not acks:
        return unknown("share", "ACKs have no timestamps that would show when they were sent")
    held = min(int(seen.row["acks_held"] or 0), acks)
    low, high = proportion(held, acks)
    words = "ACKs that were sent apart (timestamps, 4 ms at least) and came together"
    return Value(held / acks, low, high, "share", words)
