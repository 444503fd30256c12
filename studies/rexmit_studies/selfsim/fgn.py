"""Fractional Gaussian noise: its correlation, its spectrum, and exact samples of it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from rexmit_studies.selfsim.estimate import Floats


def correlation(hurst: float, lags: ArrayLike) -> Floats:
    """Autocorrelation of fractional Gaussian noise at `lags`: ½(|k+1|^2H − 2|k|^2H + |k−1|^2H)."""
    import numpy as np

    k = np.abs(np.asarray(lags, dtype=np.float64))
    power = 2.0 * hurst
    found: Floats = 0.5 * ((k + 1) ** power - 2 * k**power + np.abs(k - 1) ** power)
    return found


def log_spectrum(hurst: float, frequencies: ArrayLike) -> Floats:
    """Logarithm of the spectral density of fractional Gaussian noise of variance 1.

    frequencies: radians a bin, in (0, π].  f(λ) = (sin πH · Γ(2H+1) / π)(1 − cos λ) Σ_j |λ + 2πj|^(−2H−1),
    and the sum over all j is a pair of Hurwitz zeta functions, so nothing is cut off.
    """
    import numpy as np
    from scipy.special import gammaln, zeta

    turns = np.asarray(frequencies, dtype=np.float64) / (2 * np.pi)
    s = 2.0 * hurst + 1.0
    aliases = np.log(zeta(s, turns) + zeta(s, 1.0 - turns)) - s * np.log(2 * np.pi)
    scale = np.log(np.sin(np.pi * hurst)) + gammaln(s) - np.log(np.pi)
    # 1 − cos λ without cancellation
    found: Floats = scale + np.log(2.0) + 2 * np.log(np.sin(np.pi * turns)) + aliases
    return found


@lru_cache(maxsize=64)
def _amplitudes(n: int, hurst: float) -> Floats:
    """Square roots of the eigenvalues of the circulant matrix that holds the covariances of n values."""
    import numpy as np

    half = correlation(hurst, np.arange(n + 1))
    row = np.concatenate([half, half[-2:0:-1]])
    eigenvalues = np.fft.rfft(row).real
    # All are positive for fractional Gaussian noise (Craigmile 2003); rounding may leave −1e-16.
    return np.sqrt(np.maximum(eigenvalues, 0.0))


def fgn(
    n: int,
    hurst: float,
    seed: int | np.random.Generator | None = None,
    paths: int | None = None,
) -> Floats:
    """Exact fractional Gaussian noise of mean 0 and variance 1 (Davies and Harte 1987).

    n: values.  hurst: in (0, 1).  seed: a number, or a generator to draw on.  paths: how many independent
    series; the answer then has shape (paths, n) instead of (n,). Circulant embedding: the covariances are
    exact at every lag, and n values cost two FFTs of 2n.
    """
    import numpy as np

    if n < 1:
        raise ValueError(f"n = {n}: at least one value")
    if not 0.0 < hurst < 1.0:
        raise ValueError(f"hurst = {hurst}: must lie between 0 and 1")
    rng = np.random.default_rng(seed)
    size, count = 2 * n, 1 if paths is None else paths
    # The spectrum of white noise, coloured. Its real input makes it symmetric, so half of it is enough.
    white = np.fft.rfft(rng.standard_normal((count, size)), axis=1)
    found = np.fft.irfft(white * _amplitudes(n, float(hurst)), n=size, axis=1)[:, :n]
    return found if paths is not None else found[0]
