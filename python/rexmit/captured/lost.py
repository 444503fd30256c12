"""Which packets of a sender's capture were lost: those that the bursts tell of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rexmit import _core
from rexmit.frame import Frame

#: Above every sequence number.
ABOVE = 2**62


def copies(packets: Frame, bursts: Iterable[Mapping[str, Any]]) -> bytearray:
    """1 for each packet that belongs to a burst, else 0. bursts: rows, times in s as those of the packets."""
    time_ns = list(map(_ns, packets.plain("time")))
    data, seq, length = (packets.plain(name) for name in ("data", "seq", "len"))
    return bytearray(_core.lost_copies(time_ns, data, seq, length, list(map(_burst, bursts))))


def _burst(row: Mapping[str, Any]) -> tuple[int, int, int, int, int]:
    """A burst as the core takes it. What is not known is None or not there."""
    first = _ns(row["start"])
    last = first if row.get("last") is None else _ns(row["last"])
    return first, last, row.get("seq_start", 0), row.get("seq_end", ABOVE), row.get("lost_copies") or 0


def _ns(seconds: float) -> int:
    return round(float(seconds) * 1e9)
