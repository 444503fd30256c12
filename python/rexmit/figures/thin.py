"""Fewer points, same picture: what would fall on an already inked spot is left out, extremes are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating[Any]]
Indices = npt.NDArray[np.intp]


def extremes(x: npt.NDArray[Any], y: npt.NDArray[Any], bins: int = 1200) -> Indices:
    """Indices that keep the first, smallest, largest and last y of each of `bins` equal spans of x.

    x: sorted, shape (n,).  Returns sorted indices, at most 4 * bins; all of them if that is no fewer.
    """
    n = len(x)
    if n <= 4 * bins:
        return np.arange(n)
    span = float(x[-1] - x[0]) or 1.0
    which = np.minimum(((x - x[0]) / span * bins).astype(np.intp), bins - 1)
    starts = np.flatnonzero(np.r_[True, np.diff(which) > 0])
    ends = np.r_[starts[1:], n] - 1
    # One stable sort by (bin, y) puts each bin's smallest first and its largest last.
    order = np.lexsort((y, which))
    return np.unique(np.concatenate([starts, ends, order[starts], order[ends]]))


def spans(
    starts: npt.NDArray[Any], ends: npt.NDArray[Any], bins: int = 2000
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Starts and ends of what intervals cover together, where gaps narrower than 1 / bins of the whole close.

    starts: sorted, shape (n,).  Returns at most bins + 1 intervals.
    """
    if not len(starts):
        return starts, ends
    reach = np.maximum.accumulate(ends)
    hair = float(reach[-1] - starts[0]) / bins
    begins = np.flatnonzero(np.r_[True, starts[1:] - reach[:-1] > hair])
    return starts[begins], reach[np.r_[begins[1:], len(starts)] - 1]


def cells(x: npt.NDArray[Any], y: npt.NDArray[Any], columns: int = 1600, rows: int = 1000) -> Indices:
    """Indices of one point for each cell of a grid that holds any: what a print of that size can show.

    x, y: shape (n,).  Returns sorted indices.
    """
    n = len(x)
    if n == 0:
        return np.arange(0)
    column = _bin(x, columns)
    row = _bin(y, rows)
    _, first = np.unique(column * rows + row, return_index=True)
    return np.sort(first)


def _bin(values: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    low, high = float(np.min(values)), float(np.max(values))
    return np.minimum((values - low) / ((high - low) or 1.0) * count, count - 1).astype(np.int64)
