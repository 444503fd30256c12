"""Which packets of a sender's capture were lost: those that the bursts tell of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rexmit.frame import Frame

#: Times of tables are doubles of seconds: what left in one instant differs by less.
INSTANT_S = 1e-9


def copies(packets: Frame, bursts: Sequence[dict[str, Any]]) -> npt.NDArray[np.bool_]:
    """True for each packet that belongs to a burst.

    A burst is a maximal run of lost copies: all that was sent from its first to its last. Others may have
    left in the same instant as these two.
    """
    time, seq, length = packets["time"], packets["seq"], packets["len"]
    sent = np.flatnonzero(packets["data"] & (length > 0))
    sent = sent[np.argsort(time[sent], kind="stable")]
    at = time[sent]
    lost = np.zeros(len(packets), dtype=bool)
    for burst in bursts:
        first = float(burst["start"])
        last = float(burst.get("last") or first)
        a = int(np.searchsorted(at, first - INSTANT_S))
        z = int(np.searchsorted(at, last + INSTANT_S, side="right"))
        run = sent[a:z]
        begins = int(np.searchsorted(at, first + INSTANT_S, side="right")) - a
        lost[_of(burst, run, begins, seq, seq + length)] = True
    return lost


def _of(
    burst: dict[str, Any],
    run: npt.NDArray[np.intp],
    begins: int,
    starts: npt.NDArray[Any],
    ends: npt.NDArray[Any],
) -> npt.NDArray[np.intp]:
    """Those of `run` that are the burst's. begins: how many left in the instant of its first."""
    low, high = burst.get("seq_start", 0), burst.get("seq_end", np.inf)
    n = burst.get("lost_copies")
    if n is not None and 0 < int(n) < len(run):
        for i in range(min(begins, len(run) - int(n) + 1)):
            part: npt.NDArray[np.intp] = run[i : i + int(n)]
            if starts[part].min() == low and ends[part].max() == high:
                return part
    within: npt.NDArray[np.intp] = run[(starts[run] >= low) & (starts[run] < high)]
    return within
