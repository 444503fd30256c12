"""Intervals of estimators that have no usable formula: what they say of exact fractional Gaussian noise.

For the usual choices mean and spread stand in calibration.json (made by `benches/hurst.py --calibrate`); for
others they are simulated when first asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit_studies.selfsim.estimate import Z95
from rexmit_studies.selfsim.fgn import fgn

if TYPE_CHECKING:
    from rexmit_studies.selfsim.estimate import Floats

    Estimator = Callable[[Floats], Floats]

#: The H at which series are simulated.
GRID = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 0.96)
#: Of each length; longer series take the interval of the last, which is wider than theirs would be.
LENGTHS = tuple(2**k for k in range(7, 15))
#: Series for each H and length, where there is no table.
PATHS = 100
_SEED = 1951
_FILE = Path(__file__).with_name("calibration.json")


def interval(estimator: Estimator, n: int, value: float, name: str = "") -> tuple[float, float]:
    """95% interval of an estimate: every H under which an estimate like this one is not surprising.

    estimator: many series, shape (paths, n), to one estimate each.  name: of a row of the table, if it has
    one. The estimator's mean and spread at each H are interpolated, so that its bias is allowed for. The
    estimate itself is always inside.
    """
    import numpy as np

    means, spreads = _tabled(name, n) if name else _simulated(estimator, n)
    fine = np.linspace(0.01, 0.999, 990)
    # Beyond the grid the outermost bias goes on.
    bias = np.interp(fine, GRID, means - np.array(GRID))
    likely = np.abs(value - fine - bias) <= Z95 * np.interp(fine, GRID, spreads)
    inside = fine[likely]
    if not len(inside):
        return (value, value)
    return float(min(inside[0], value)), float(max(inside[-1], value))


@lru_cache(maxsize=64)
def _tabled(name: str, n: int) -> tuple[Floats, Floats]:
    """Between the lengths of the table: bias and spread change with the logarithm of the length."""
    import numpy as np

    rows = np.array(table()[name])
    at = np.log([min(max(n, LENGTHS[0]), LENGTHS[-1])])
    means, spreads = (
        np.array([np.interp(at, np.log(LENGTHS), rows[:, h, k])[0] for h in range(len(GRID))]) for k in (0, 1)
    )
    return means, spreads


@cache
def table() -> dict[str, Any]:
    """Of each estimator, for each length and each H: the mean of its estimates, and their spread."""
    found: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return found


@lru_cache(maxsize=64)
def _simulated(estimator: Estimator, n: int) -> tuple[Floats, Floats]:
    import numpy as np

    # The nearest length below, so that series that hardly differ share the work.
    length = max((length for length in LENGTHS[:4] if length <= n), default=LENGTHS[0])
    found = np.array([cell(estimator, length, hurst, PATHS) for hurst in GRID])
    return found[:, 0], found[:, 1]


def cell(estimator: Estimator, n: int, hurst: float, paths: int) -> tuple[float, float]:
    """Mean and standard deviation of the estimates of so many simulated series."""
    rng = [_SEED, n, round(1000 * hurst)]
    import numpy as np

    found = estimator(fgn(n, hurst, np.random.default_rng(rng), paths=paths))
    return float(found.mean()), float(found.std(ddof=1))
