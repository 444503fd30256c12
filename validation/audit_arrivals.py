"""Claims that nothing got through, held against packets that are proved to have arrived.

A claim is an interval of one direction. Proof is an ACK or SACK block that covers the first copy of data
before a second copy was sent, a duplicate ACK, or the packet in the capture of the other end.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audit_laws import Broken, Row, Seen

#: Of "From 3.92 s on": its last digit is rounded.
ROUNDED_NS = 5_000_000
FROM = re.compile(
    r"[Ff]rom (-?[\d.]+) s on(?: nothing that the \w+ sent got through)?"
    r"(?:, for at least ([\d.]+) (µs|ms|s))?"
)
#: Whose packets are meant.
SENT_BY = re.compile(r"nothing that the (client|server) sent got through")
#: Flows whose packets are read for a claim, at most.
MOST_FLOWS = 50
TO_NS = {"µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
SYN, FIN, RST = 2, 1, 4


@dataclass(frozen=True)
class Claim:
    """Nothing of a direction that was sent from `start` to `end` arrived, ns since the capture's start."""

    flow: int
    start: int
    end: int
    what: str
    is_known: bool = False
    #: Of a burst: the first sequence number of its first copy.
    seq: int | None = None

    def holds(self, row: Row) -> bool:
        """Whether it is about this packet. Others may have the time of a burst's first or last copy."""
        is_first = self.seq is not None and (row["time"], row["seq"]) == (self.start, self.seq)
        return is_first or self.start < row["time"] < self.end


def ns(seconds: Decimal | float | int) -> int:
    return int(seconds * 1_000_000_000)


def claims(seen: Seen) -> Iterator[Claim]:
    """All that is claimed where data is seen as it leaves."""
    for flow in seen.json["flows"]:
        if flow["vantage"] not in ("sender", "both"):
            continue
        number, slack = flow["flow"], ns((flow.get("path") or {}).get("largest_rtt_s") or 0)
        for each in (flow.get("outages") or {}).get("each") or []:
            begin, end = each["begin_latest_s"], each["end_earliest_s"]
            if begin is not None and end is not None and ns(begin) < ns(end) - slack:
                # The bounds hold at the link, which is a part of a round trip away from the sender.
                said = f"an outage from {begin} s at the latest to {end} s at the earliest"
                what, known = f"{said} ({each['certainty']})", each["certainty"] == "known"
                yield Claim(number, ns(begin), ns(end) - slack, what, is_known=known)
        if not flow["limits"].get("super_packets"):
            for burst in flow.get("bursts") or []:
                start, last = ns(burst["start_s"]), ns(burst["last_s"])
                what = f"a burst of {burst['lost_copies']} from {burst['start_s']} s"
                yield Claim(number, start, last, what, seq=burst["seq_start"])
    for number, answer in seen.answers.items():
        for c in answer["causes"]:
            if c["cause"] in ("outage", "path-died"):
                yield from of_sentence(seen, number, answer, c)


def of_sentence(seen: Seen, number: int, answer: Row, cause: Row) -> Iterator[Claim]:
    """`From 3.92 s on nothing that the client sent got through`. The client's flows have even numbers."""
    found, by = FROM.search(cause["text"]), SENT_BY.search(cause["text"])
    if not found or not by:
        return
    start = ns(Decimal(found[1])) + ROUNDED_NS
    if cause["cause"] == "path-died":
        end = max(ns(flow["observed_until_s"]) for flow in seen.flows[number])
    elif found[2]:
        digits = len(found[2].partition(".")[2])
        # A length is rounded to its last digit.
        least = (Decimal(found[2]) - Decimal(10) ** -digits) * TO_NS[found[3]]
        end = start - 2 * ROUNDED_NS + int(least)
    else:
        return
    for flow in seen.flows[number]:
        of_side = flow["flow"] % 2 == (by[1] == "server")
        if of_side and start < end and flow["vantage"] in ("sender", "both"):
            what = f"{cause['cause']} ({cause['certainty']}): {cause['text']}"
            known = cause["certainty"] == "known"
            yield Claim(flow["flow"], start, end, what, is_known=known)


def vanished(seen: Seen) -> Iterator[Broken]:
    """Claims against what the capture itself proves."""
    all_claims = list(claims(seen))
    wanted = sorted({c.flow for c in all_claims})[:MOST_FLOWS]
    arrived = {flow: proved(seen.packets.get(flow, [])) for flow in wanted}
    lacks = {f["flow"] for f in seen.json["flows"] if f["limits"].get("missing_bytes")}
    for claim in all_claims:
        # Of a capture that lacks packets, a copy that was sent only once may have been sent again.
        if claim.flow not in arrived or claim.flow in lacks:
            continue
        for row, proof in arrived[claim.flow]:
            if claim.holds(row):
                at = f"packet {row['packet']}, sent at {row['time'] / 1e9:.6f} s, arrived: {proof}"
                yield law_of(claim), f"flow {claim.flow}: {claim.what}, and {at}"
                break
        yield from echoed(seen, claim)


def echoed(seen: Seen, claim: Claim) -> Iterator[Broken]:
    """A duplicate ACK answers a packet that was sent a round trip before."""
    flow = next(f for f in seen.json["flows"] if f["flow"] == claim.flow)
    path = flow.get("path") or {}
    if claim.seq is not None or path.get("base_rtt_s") is None or path.get("largest_rtt_s") is None:
        return
    first, last = ns(path["base_rtt_s"]), ns(path["largest_rtt_s"])
    for row in duplicates(seen.packets.get(claim.flow, [])):
        if claim.start < row["time"] - last and row["time"] - first < claim.end:
            at = f"packet {row['packet']} at {row['time'] / 1e9:.6f} s is a duplicate ACK for one sent then"
            yield f"{law_of(claim)}, duplicate ACK", f"flow {claim.flow}: {claim.what}, and {at}"
            return


def duplicates(rows: list[Row]) -> Iterator[Row]:
    """Duplicate ACKs (RFC 5681, section 2): no data, the same number and window, and data is outstanding."""
    sent, ack, window = -1, None, None
    for row in rows:
        if row["data"]:
            sent = max(sent, row["seq"] + row["len"])
            continue
        same = (row["ack"], row["window_bytes"]) == (ack, window) and row["len"] == 0
        if same and ack is not None and ack < sent and not row["flags"] & (SYN | FIN | RST):
            yield row
        ack, window = row["ack"], row["window_bytes"]


def law_of(claim: Claim) -> str:
    kind = claim.what.split()
    return f"vanished: {kind[1] if kind[0] in ('a', 'an') else kind[0]}"


def proved(rows: list[Row]) -> list[tuple[Row, str]]:
    """Data packets of a flow that an ACK or a SACK block proves to have arrived, and that proof."""
    copies: dict[tuple[int, int], list[Row]] = {}
    data = [r for r in rows if r["data"] and r["len"] > 0]
    for row in data:
        copies.setdefault((row["seq"], row["seq"] + row["len"]), []).append(row)
    # Only packets whose bytes no other packet repeats in another cut: which copy it was is certain.
    edges = sorted(copies)
    alone = []
    furthest = -1
    for at, (start, end) in enumerate(edges):
        follows = at + 1 < len(edges) and edges[at + 1][0] < end
        if start >= furthest and not follows:
            alone.append((start, end))
        furthest = max(furthest, end)
    found = []
    for (start, end), acked, how in covered(alone, [r for r in rows if not r["data"]]):
        sent = copies[start, end]
        first = sent[0]
        if first["time"] < acked and (len(sent) == 1 or acked < sent[1]["time"]):
            found.append((first, f"{how} at {acked / 1e9:.6f} s covers it"))
    return sorted(found, key=lambda f: int(f[0]["packet"]))


def covered(ranges: list[tuple[int, int]], acks: Iterable[Row]) -> Iterator[tuple[tuple[int, int], int, str]]:
    """When each range was first acknowledged or selectively acknowledged."""
    left = dict.fromkeys(ranges)
    order, at = list(left), 0
    reach: dict[int, int] = {}
    for row in acks:
        if row["flags"] & RST:
            continue
        if row["ack"] is not None:
            while at < len(order) and order[at][1] <= row["ack"]:
                if order[at] in left:
                    del left[order[at]]
                    yield order[at], row["time"], "an ACK"
                at += 1
        for k in range(1, 5):
            start, end = row[f"sack{k}_start"], row[f"sack{k}_end"]
            if start is None or end is None or (row["ack"] is not None and start < row["ack"]):
                continue
            # A block that grew covers what is new of it.
            new = reach.get(start, int(start))
            reach[start] = max(end, new)
            for one in [r for r in between(order, at, new, end) if r in left]:
                del left[one]
                yield one, row["time"], "a SACK block"


def between(order: list[tuple[int, int]], at: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    # A packet that the block covers in part is looked at again when the block has grown.
    first = max(at, bisect_left(order, (start, 0)) - 1)
    for k in range(first, len(order)):
        if order[k][1] > end:
            break
        if order[k][0] >= start or order[k][1] > start:
            yield order[k]


@dataclass(frozen=True)
class Fates:
    """What the capture of the other end shows of the packets of this one, by their numbers."""

    #: Whether a packet that this end sent is in the other capture.
    arrived: dict[int, bool]
    #: When the other end sent a packet that arrived here, ns since 1970.
    sent: dict[int, int]


def beside_the_other_capture(seen: Seen, fates: Fates, parity: int) -> Iterator[Broken]:
    """Claims about what this end sent, against the capture of the other end.

    parity: 0 where this end opened the connection, else 1: whose flows are its own. What one end alone shows
    may allow a claim that the other capture refutes, unless it is known; both together allow none.
    """
    for claim in claims(seen):
        rows = seen.packets.get(claim.flow, [])
        if claim.flow % 2 != parity or not (seen.capture.receiver or claim.is_known):
            continue
        came = (r for r in rows if r["data"] and r["len"] > 0 and claim.holds(r))
        for row in came:
            if fates.arrived.get(row["packet"]):
                at = f"packet {row['packet']}, sent at {row['time'] / 1e9:.6f} s, is in the other capture"
                yield f"{law_of(claim)}, other end", f"flow {claim.flow}: {claim.what}, and {at}"
                break
