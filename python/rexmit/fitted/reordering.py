"""Packets that came behind later ones, and how late they came."""

from __future__ import annotations

import bisect
from dataclasses import dataclass

from rexmit.fitted.scoreboard import Board, sacked_by, segments
from rexmit.fitted.seen import Json, Seen
from rexmit.fitted.value import Value, median, proportion, quantile, unknown

#: So many packets that came late show how late they come.
OFTEN = 3


@dataclass(frozen=True)
class Reordering:
    """share: of packets.  by: how long behind a later packet they came, s; None where none did."""

    share: Value
    by: Value | None


def of(seen: Seen) -> Reordering:
    """Where data arrives, packets show it. At the sender, ACKs with SACK blocks do: a hole was filled that
    nobody had repaired.
    """
    if seen.arriving:
        late, source = _late_packets(seen.packets), "packets that came behind later ones"
    elif not seen.row["sack_permitted"]:
        return Reordering(unknown("share", "ACKs have no SACK blocks that would show it"), None)
    else:
        late, source = _filled_holes(seen.packets), "holes in SACK blocks that were filled without a repair"
    # What was repaired although it came was late as well; behind a timer it may have been an ACK that was.
    more = 0 if seen.row["timeouts"] or seen.arriving else int(seen.row["needless"] or 0)
    packets = max(int(seen.row["packets"]), len(late) + more, 1)
    count = len(late) + more
    low, high = proportion(count, packets)
    share = Value(count / packets, low, high, "share", source)
    if len(late) < OFTEN:
        return Reordering(share, None)
    ordered = sorted(late)
    words = f"{len(late):,} packets, the median and the middle nine tenths"
    return Reordering(
        share, Value(median(late), quantile(ordered, 0.05), quantile(ordered, 0.95), "s", words)
    )


def _late_packets(rows: list[Json]) -> list[float]:
    tops: list[int] = []
    times: list[float] = []
    late: list[float] = []
    for r in rows:
        if not r["data"]:
            continue
        end = r["seq"] + r["len"]
        if r["class"] == "reordered" and tops:
            # The first packet that came and lies above it.
            late.append(r["time"] - times[min(bisect.bisect_left(tops, end), len(tops) - 1)])
        if not tops or end > tops[-1]:
            tops.append(end)
            times.append(r["time"])
    return late


def _filled_holes(rows: list[Json]) -> list[float]:
    board, again = Board(), set[int]()
    sizes: dict[int, int] = {}
    late: list[float] = []
    for r in rows:
        if r["data"]:
            if r["class"] == "ordinary":
                sizes[r["seq"]] = r["len"]
            else:
                again.add(r["seq"])
            continue
        sacked = sacked_by(r)
        if r["ack"] is not None and (board.starts or sacked):
            sacked.append((board.first or r["ack"], r["ack"]))
        for a, b in sorted(sacked):
            for start, end in board.cover(a, b):
                since = board.above_since(end - 1)
                if since is None or since >= r["time"]:
                    continue
                late += [r["time"] - since] * sum(s not in again for s in segments(sizes, start, end))
        for _, end in sacked:
            board.reached(end, r["time"])
        board.forget_below(r["ack"] or 0)
    return late
