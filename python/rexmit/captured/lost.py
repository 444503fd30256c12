"""Which packets of a sender's capture were lost: those that the bursts tell of."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from rexmit.frame import Frame

#: Times of tables are doubles of seconds: what left in one instant differs by less.
INSTANT_S = 1e-9


def copies(packets: Frame, bursts: Iterable[Mapping[str, Any]]) -> bytearray:
    """1 for each packet that belongs to a burst, else 0. bursts: rows, times in s as those of the packets."""
    return among({name: packets.plain(name) for name in ("time", "data", "seq", "len")}, bursts)


def among(packets: Mapping[str, Sequence[Any]], bursts: Iterable[Mapping[str, Any]]) -> bytearray:
    """1 for each packet that belongs to a burst, else 0.

    packets: time (s), data, seq, len.  bursts: start, last (s), seq_start, seq_end, lost_copies; what is not
    known is None or not there. A burst is a maximal run of lost copies: all that was sent from its first to
    its last. Others may have left in the same instant as these two.
    """
    time, seq, length = packets["time"], packets["seq"], packets["len"]
    sent = [place for place, data in enumerate(packets["data"]) if data and length[place] > 0]
    if any(time[a] > time[b] for a, b in pairwise(sent)):
        sent.sort(key=time.__getitem__)
    at = [time[place] for place in sent]
    lost = bytearray(len(time))
    for burst in bursts:
        start = float(burst["start"])
        last = start if burst.get("last") is None else float(burst["last"])
        low, high = burst.get("seq_start", 0), burst.get("seq_end", math.inf)
        begin = bisect_left(at, start - INSTANT_S)
        run = sent[begin : bisect_right(at, last + INSTANT_S)]
        known = burst.get("lost_copies") or 0
        if 0 < known < len(run):
            # It begins with one of those that left in its first instant.
            firsts = min(bisect_right(at, start + INSTANT_S) - begin, len(run) - known + 1)
            parts = (run[first : first + known] for first in range(firsts))
            exact = (part for part in parts if _span(part, seq, length) == (low, high))
            if (part := next(exact, None)) is not None:
                for place in part:
                    lost[place] = 1
                continue
        # Else what lies within the range of sequence numbers that was lost.
        for place in run:
            if low <= seq[place] < high:
                lost[place] = 1
    return lost


def _span(part: Sequence[int], seq: Sequence[int], length: Sequence[int]) -> tuple[int, int]:
    return min(seq[place] for place in part), max(seq[place] + length[place] for place in part)
