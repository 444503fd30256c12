"""Estimators that look at the periodogram: local Whittle, and Whittle with the spectrum of the noise."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from rexmit_studies.selfsim.estimate import Z95, HurstEstimate, least_on_grid, series
from rexmit_studies.selfsim.fgn import log_spectrum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rexmit_studies.selfsim.estimate import Floats

#: Frequencies beyond which the full Whittle estimate is looked for step by step instead of on a grid.
_ON_GRID = 4096


def periodogram(x: Floats) -> tuple[Floats, Floats]:
    """Frequencies in (0, π), radians a bin, and the periodogram at them, shape (paths, frequencies)."""
    import numpy as np

    n = x.shape[1]
    count = (n - 1) // 2
    transform = np.fft.rfft(x - x.mean(axis=1, keepdims=True), axis=1)[:, 1 : count + 1]
    frequencies = 2 * np.pi * np.arange(1, count + 1) / n
    return frequencies, np.abs(transform) ** 2 / (2 * np.pi * n)


def local_whittle_of(x: Floats, bandwidth: float = 0.65) -> Floats:
    import numpy as np

    _, power = periodogram(x)
    m = _frequencies(x.shape[1], bandwidth)
    grid, tilt, level = _tilts(x.shape[1], m)
    with np.errstate(divide="ignore"):
        cost = np.log(power[:, :m] @ tilt) - level
    return least_on_grid(grid, cost)


def _frequencies(n: int, bandwidth: float) -> int:
    return max(8, min((n - 1) // 2, int(n**bandwidth)))


@lru_cache(maxsize=8)
def _tilts(n: int, m: int) -> tuple[Floats, Floats, Floats]:
    """Grid of H; λ^(2H−1) for each frequency and H; (2H−1) mean log λ for each H."""
    import numpy as np

    grid = np.linspace(0.01, 1.2, 240)
    logs = np.log(2 * np.pi * np.arange(1, m + 1) / n)
    power = 2 * grid - 1
    return grid, np.exp(np.outer(logs, power)) / m, power * logs.mean()


def hurst_local_whittle(x: ArrayLike, bandwidth: float = 0.65) -> HurstEstimate:
    """Hurst parameter by the local Whittle method (Robinson 1995).

    x: counts per bin, shape (n,), n >= 128, any unit.  bandwidth: m = n**bandwidth Fourier frequencies, the
    lowest ones, so that what happens within a short time does not count.
    Returns the estimate with its asymptotic 95% interval. The standard error is 1/(2 sqrt(Σν²)), ν the
    logarithms of the frequencies less their mean: 1/(2 sqrt(m)) for large m, and nearer the truth for small.
    Above 1 the series is not stationary. Raises ValueError if x is constant or too short.
    """
    import numpy as np

    row = series(x)
    if not 0.0 < bandwidth < 1.0:
        raise ValueError(f"bandwidth = {bandwidth}: between 0 and 1")
    m = _frequencies(len(row), bandwidth)
    value = float(local_whittle_of(row[None, :], bandwidth)[0])
    logs = np.log(np.arange(1, m + 1))
    error = Z95 / (2 * float(np.sqrt(((logs - logs.mean()) ** 2).sum())))
    return HurstEstimate(value, value - error, value + error, "local Whittle", len(row), f"{m} frequencies")


def whittle_of(x: Floats) -> Floats:
    import numpy as np

    frequencies, power = periodogram(x)
    if len(frequencies) > _ON_GRID:
        return np.array([_whittle_by_steps(frequencies, row) for row in power])
    grid, inverse, level = _spectra(x.shape[1])
    return least_on_grid(grid, np.log(power @ inverse) + level)


@lru_cache(maxsize=8)
def _spectra(n: int) -> tuple[Floats, Floats, Floats]:
    """Grid of H, 1/f for each frequency and H, and the mean log f."""
    import numpy as np

    grid = np.linspace(0.01, 0.999, 200)
    frequencies = 2 * np.pi * np.arange(1, (n - 1) // 2 + 1) / n
    logs = np.stack([log_spectrum(h, frequencies) for h in grid])
    return grid, np.exp(-logs).T / len(frequencies), logs.mean(axis=1)


def _whittle_by_steps(frequencies: Floats, power: Floats) -> float:
    import numpy as np
    from scipy.optimize import minimize_scalar

    def cost(hurst: float) -> float:
        logs = log_spectrum(hurst, frequencies)
        return float(np.log(np.mean(power * np.exp(-logs))) + logs.mean())

    return float(minimize_scalar(cost, bounds=(0.01, 0.999), method="bounded", options={"xatol": 1e-4}).x)


def hurst_whittle(x: ArrayLike) -> HurstEstimate:
    """Hurst parameter by Whittle's likelihood with the spectrum of fractional Gaussian noise (Beran 1994).

    x: as for `hurst_local_whittle`. Best there is where the series is such noise, and wrong where it has
    short-range correlation: all frequencies count. The 95% interval is asymptotic (Fox and Taqqu 1986).
    Raises ValueError if x is constant or too short.
    """
    row = series(x)
    value = float(whittle_of(row[None, :])[0])
    error = Z95 * _whittle_error(round(min(max(value, 0.02), 0.98), 2)) / len(row) ** 0.5
    return HurstEstimate(value, value - error, value + error, "Whittle, fGn spectrum", len(row))


@lru_cache(maxsize=128)
def _whittle_error(hurst: float) -> float:
    """Standard error of H times sqrt(n): 1/sqrt((1/4π)∫(∂ log f/∂H less its mean)²)."""
    import numpy as np

    # Midpoints, dense towards 0 where the slope has a logarithmic pole.
    edge = np.linspace(0, 1, 4001)[1:] ** 3
    middles = np.pi * (edge - np.diff(edge, prepend=0) / 2)
    widths = np.pi * np.diff(edge, prepend=0)
    slope = (log_spectrum(hurst + 0.005, middles) - log_spectrum(hurst - 0.005, middles)) / 0.01
    mean = (slope * widths).sum() / np.pi
    information = ((slope - mean) ** 2 * widths).sum() / (2 * np.pi)
    return float(1 / np.sqrt(information))
