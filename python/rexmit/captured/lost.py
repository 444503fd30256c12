"""Which packets of a sender's capture were lost: those that the bursts tell of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rexmit.frame import Frame

#: Times of tables are doubles of seconds: what left in one instant differs by less.
INSTANT_S = 1e-9

Columns = Mapping[str, npt.NDArray[Any]]


def copies(packets: Frame, bursts: Sequence[dict[str, Any]]) -> npt.NDArray[np.bool_]:
    """True for each packet that belongs to a burst. bursts: rows, times in s as those of the packets."""
    told = {
        "start": [float(b["start"]) for b in bursts],
        "last": [float(b.get("last") or b["start"]) for b in bursts],
        "seq_start": [b.get("seq_start", 0) for b in bursts],
        "seq_end": [b.get("seq_end", np.inf) for b in bursts],
        "lost_copies": [-1 if b.get("lost_copies") is None else int(b["lost_copies"]) for b in bursts],
    }
    names = ("time", "data", "seq", "len")
    return among(
        {name: packets[name] for name in names}, {name: np.array(values) for name, values in told.items()}
    )


def among(packets: Columns, bursts: Columns) -> npt.NDArray[np.bool_]:
    """True for each packet that belongs to a burst.

    packets: time (s), data, seq, len.  bursts: start, last (s), seq_start, seq_end, lost_copies (below 0: not
    known). A burst is a maximal run of lost copies: all that was sent from its first to its last. Others may
    have left in the same instant as these two.
    """
    time, seq, length = packets["time"], packets["seq"], packets["len"]
    sent = np.flatnonzero(packets["data"].astype(bool) & (length > 0))
    sent = sent[np.argsort(time[sent], kind="stable")]
    at, starts, ends = time[sent], seq[sent], seq[sent] + length[sent]
    lost = np.zeros(len(time), dtype=bool)
    begin = np.searchsorted(at, bursts["start"] - INSTANT_S)
    end = np.searchsorted(at, bursts["last"] + INSTANT_S, side="right")
    instant = np.searchsorted(at, bursts["start"] + INSTANT_S, side="right")
    low, high, known = bursts["seq_start"], bursts["seq_end"], bursts["lost_copies"]
    narrower = (known > 0) & (known < end - begin)
    for k in np.flatnonzero(narrower):
        a, z, n = int(begin[k]), int(end[k]), int(known[k])
        for i in range(a, min(int(instant[k]), z - n + 1)):
            part = slice(i, i + n)
            if starts[part].min() == low[k] and ends[part].max() == high[k]:
                lost[sent[part]] = True
                break
        else:
            narrower[k] = False
    # Of all others what lies within the range of sequence numbers that was lost.
    rest = np.flatnonzero(~narrower & (end > begin))
    size = end[rest] - begin[rest]
    run = np.repeat(rest, size)
    place = np.arange(len(run)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(begin[rest], size)
    within = (starts[place] >= low[run]) & (starts[place] < high[run])
    lost[sent[place[within]]] = True
    return lost
