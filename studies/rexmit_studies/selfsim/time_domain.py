"""Estimators that look at the series itself: rescaled range, variance against time, correlation.

Those that end in `_of` take many series at once, shape (paths, n), and give one value each.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from rexmit_studies.selfsim.calibration import interval
from rexmit_studies.selfsim.estimate import HurstEstimate, least_on_grid, series
from rexmit_studies.selfsim.fgn import correlation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rexmit_studies.selfsim.estimate import Floats

#: The lags over which Kettani and Gubner's optimisation looks.
LAGS = 50
#: Block sizes a factor of √2 apart.
_STEP = 0.5
#: R/S: the smallest block, below which it rises faster than it should, and how weights fall with size.
_SMALLEST = 2**4.5
_FALL = 1.25


def _sizes(least: float, most: float) -> list[int]:
    import numpy as np

    powers = np.arange(np.log2(least), np.log2(most) + 1e-9, _STEP)
    return sorted({round(2.0**p) for p in powers})


def _blocks(x: Floats, size: int) -> Floats:
    """Shape (paths, blocks, size); what does not fill a block is left out."""
    paths, n = x.shape
    count = n // size
    return x[:, : count * size].reshape(paths, count, size)


def rescaled_ranges(x: Floats) -> tuple[list[int], Floats]:
    """Block sizes, and the root mean square R/S over the blocks of each, shape (paths, sizes).

    Blocks overlap by half, which steadies the large ones, of which there are few.
    """
    import numpy as np

    sizes = _sizes(_SMALLEST, x.shape[1] // 2)
    found = np.empty((len(x), len(sizes)))
    for i, size in enumerate(sizes):
        blocks = np.lib.stride_tricks.sliding_window_view(x, size, axis=1)[:, :: size // 2]
        away = blocks - blocks.mean(axis=2, keepdims=True)
        spread = np.mean(away**2, axis=2)
        walk = np.cumsum(away, axis=2, out=away)
        # The walk starts at 0.
        reach = np.maximum(walk.max(axis=2), 0) - np.minimum(walk.min(axis=2), 0)
        # Blocks in which nothing changes have no R/S.
        moved = spread > 0
        ratios = np.where(moved, reach**2 / np.where(moved, spread, 1.0), 0.0)
        found[:, i] = np.sqrt(ratios.sum(axis=1) / np.maximum(moved.sum(axis=1), 1))
    return sizes, found


def rs_of(x: Floats) -> Floats:
    """The slope of log(R/S) against log(size), small blocks weighing more: there are more of them."""
    import numpy as np

    sizes, ranges = rescaled_ranges(x)
    at = np.log(np.array(sizes, dtype=np.float64))
    weights = np.exp(-_FALL * at)
    away = at - (weights @ at) / weights.sum()
    found: Floats = np.log(np.maximum(ranges, 1e-300)) @ (weights * away) / (weights @ away**2)
    return found


def hurst_rs(x: ArrayLike) -> HurstEstimate:
    """Hurst parameter by the rescaled range (Hurst 1951, Mandelbrot and Wallis 1969).

    x: counts per bin, shape (n,), n >= 128, any unit. The slope of log(R/S) against log(block size), block
    sizes from 23 to n/2. It is biased towards 0.7; the 95% interval, by simulation of exact fractional
    Gaussian noise, allows for that. Raises ValueError if x is constant or too short.
    """
    row = series(x)
    value = float(rs_of(row[None, :])[0])
    low, high = interval(rs_of, len(row), value, "rs")
    return HurstEstimate(
        value, low, high, "R/S", len(row), f"blocks of {_SMALLEST:.0f} to {len(row) // 2} bins"
    )


def aggregated_variances(x: Floats) -> tuple[list[int], Floats]:
    """Block sizes, and the variance of the block means for each, shape (paths, sizes)."""
    import numpy as np

    sizes = _sizes(1, x.shape[1] // 8)
    found = [np.var(_blocks(x, size).mean(axis=2), axis=1) for size in sizes]
    return sizes, np.stack(found, axis=1)


def variance_time_of(x: Floats) -> Floats:
    import numpy as np

    sizes, variances = aggregated_variances(x)
    grid, shapes, weights = _decays(x.shape[1], tuple(sizes))
    logs = np.log(np.maximum(variances, 1e-300))
    # Least squares with a free level: what a shape leaves of the logarithms, weighted by the blocks.
    logs -= (logs * weights).sum(axis=1, keepdims=True)
    cost = (logs**2 * weights).sum(axis=1, keepdims=True) - 2 * (logs * weights) @ shapes.T
    return least_on_grid(grid, cost + (shapes**2 * weights).sum(axis=1))


@lru_cache(maxsize=16)
def _decays(n: int, sizes: tuple[int, ...]) -> tuple[Floats, Floats, Floats]:
    """Grid of H, for each the expected logarithm of each size's variance less its mean, and the weights.

    The variance of the n/m block means about *their own* mean is short by the variance of that mean:
    m^(2H−2) (1 − k^(2H−2)) for k blocks (Beran 1994, §4.4).
    """
    import numpy as np

    grid = np.arange(0.01, 1.0, 0.002)
    m = np.array(sizes, dtype=np.float64)
    blocks = np.floor(n / m)
    power = 2 * grid[:, None] - 2
    weights = np.sqrt(blocks) / np.sqrt(blocks).sum()
    shapes = power * np.log(m) + np.log1p(-(blocks**power))
    return grid, shapes - (shapes * weights).sum(axis=1, keepdims=True), weights


def hurst_variance_time(x: ArrayLike) -> HurstEstimate:
    """Hurst parameter by the variance–time plot: how slowly means over longer blocks steady.

    x: as for `hurst_rs`. The decay m^(2H−2) is fitted to the variance of block means, with the variance that
    their own mean takes away; blocks of 1 to n/8 bins. The 95% interval is by simulation of exact fractional
    Gaussian noise. Raises ValueError if x is constant or too short.
    """
    row = series(x)
    value = float(variance_time_of(row[None, :])[0])
    low, high = interval(variance_time_of, len(row), value, "variance_time")
    return HurstEstimate(value, low, high, "variance–time", len(row), f"blocks of 1 to {len(row) // 8} bins")


def correlations(x: Floats, lags: int) -> Floats:
    """Sample autocorrelations at lags 1 to `lags`, shape (paths, lags): the usual ones, biased."""
    import numpy as np

    away = x - x.mean(axis=1, keepdims=True)
    n = x.shape[1]
    power = np.einsum("ij,ij->i", away, away)
    products = [np.einsum("ij,ij->i", away[:, : n - k], away[:, k:]) for k in range(1, lags + 1)]
    found: Floats = np.stack(products, axis=1) / power[:, None]
    return found


@lru_cache(maxsize=16)
def _expected(n: int, lags: int, cure: bool) -> tuple[Floats, Floats]:
    """Grid of H, and the autocorrelations at lags 1 to `lags` that a sample of n shows on average."""
    import numpy as np

    grid = np.arange(0.002, 1.0, 0.002)
    k = np.arange(1, lags + 1)
    table = np.stack([correlation(h, k) for h in grid])
    if cure:
        # Removing the mean takes its variance, n^(2H−2), from every product. The sum at lag k has n − k of n.
        mean = n ** (2 * grid[:, None] - 2)
        table = (table - mean) / (1 - mean) * (1 - k / n)
    return grid, table


def kettani_gubner_1_of(x: Floats, cure: bool = True) -> Floats:
    import numpy as np

    grid, table = _expected(x.shape[1], 1, cure)
    return np.interp(correlations(x, 1)[:, 0], table[:, 0], grid)


def kettani_gubner_of(x: Floats, lags: int = LAGS, cure: bool = True) -> Floats:
    grid, table = _expected(x.shape[1], lags, cure)
    seen = correlations(x, lags)
    cost = (table**2).sum(axis=1) - 2 * seen @ table.T
    return least_on_grid(grid, cost)


def hurst_kettani_gubner(x: ArrayLike, lags: int = LAGS, cure: bool = True) -> HurstEstimate:
    """Hurst parameter by Kettani and Gubner's optimisation (2002): the H whose correlations fit best.

    x: as for `hurst_rs`. lags: over how many lags of the autocorrelation; 1 solves for H directly.  cure:
    whether to compare with what a sample's correlations are on average (its mean is removed, which lowers
    them all), or with the true ones as the authors do. The 95% interval is by simulation of exact fractional
    Gaussian noise. The method believes that the series *is* such noise: short-range correlation, which packet
    counts have, misleads it. Raises ValueError if x is constant or too short.
    """
    row = series(x)
    if not 1 <= lags < len(row):
        raise ValueError(f"lags = {lags}: from 1 to {len(row) - 1}")
    estimator = _kettani_gubner(lags, cure)
    value = float(estimator(row[None, :])[0])
    usual = {(1, True): "kettani_gubner_1", (LAGS, True): "kettani_gubner"}
    low, high = interval(estimator, len(row), value, usual.get((lags, cure), ""))
    method = f"Kettani–Gubner, {'lag 1' if lags == 1 else f'{lags} lags'}"
    return HurstEstimate(value, low, high, method, len(row), "" if cure else "mean removed, not cured")


@lru_cache(maxsize=16)
def _kettani_gubner(lags: int, cure: bool) -> Callable[[Floats], Floats]:
    """One function for each choice, so that what was simulated for it is found again."""
    if lags == 1:
        return partial(kettani_gubner_1_of, cure=cure)
    return partial(kettani_gubner_of, lags=lags, cure=cure)
