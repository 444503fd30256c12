"""What an estimator of the Hurst parameter gives, and what it asks of a series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

#: Fewer bins say nothing about long memory.
LEAST = 128
#: Two-sided 95% of a normal distribution.
Z95 = 1.959964


@dataclass(frozen=True)
class HurstEstimate:
    """A Hurst parameter with its 95% interval.

    value: the estimate. low, high: the interval. method: which estimator. n: bins behind it. note: what the
    method chose, or what limits it (octaves, lags, frequencies; an estimate at the edge of what it can give).
    """

    value: float
    low: float
    high: float
    method: str
    n: int
    note: str = ""

    def __contains__(self, hurst: float) -> bool:
        return self.low <= hurst <= self.high

    def __format__(self, spec: str) -> str:
        digits = spec or ".2f"
        return f"{self.value:{digits}} ({self.low:{digits}} to {self.high:{digits}})"


def series(x: ArrayLike, least: int = LEAST) -> Floats:
    """The series as a row of floats. Raises ValueError if it is constant, too short, or not finite."""
    import numpy as np

    row: Floats = np.asarray(x, dtype=np.float64)
    if row.ndim != 1:
        raise ValueError(f"a series has one dimension, this has {row.ndim}")
    if len(row) < least:
        raise ValueError(
            f"a series of {len(row)} bins is too short to tell its Hurst parameter: {least} or more"
        )
    if not np.isfinite(row).all():
        raise ValueError("the series holds values that are no numbers")
    if np.ptp(row) == 0:
        raise ValueError(f"the series is constant ({row[0]:g} in every bin): it has no Hurst parameter")
    return row


def least_on_grid(grid: Floats, cost: Any) -> Floats:
    """Where each row of `cost` (one column a grid point) is least, by a parabola through the three lowest.

    At the edges of the grid the edge itself is given.
    """
    import numpy as np

    at = np.argmin(cost, axis=1)
    inner = np.clip(at, 1, len(grid) - 2)
    rows = np.arange(len(cost))
    left, mid, right = (cost[rows, inner + k] for k in (-1, 0, 1))
    curve = left - 2 * mid + right
    shift = np.where(curve > 0, 0.5 * (left - right) / np.where(curve > 0, curve, 1.0), 0.0)
    step = grid[1] - grid[0]
    fine = grid[inner] + np.clip(shift, -1, 1) * step
    found: Floats = np.where(at == inner, fine, grid[at])
    return found
