"""The wavelet estimator of Abry and Veitch: energy against octave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rexmit_studies.selfsim.estimate import Z95, HurstEstimate, series

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rexmit_studies.selfsim.estimate import Floats

#: The first octave that is chosen, if all octaves from there on lie on a line this well.
_FITS = 0.05


@dataclass(frozen=True)
class LogScale:
    """A log-scale diagram: the mean energy of wavelet coefficients, octave by octave.

    octaves: 1 is two bins long. energies: log2 of the mean square, freed of its bias, shape (…, octaves).
    errors: standard error of each. counts: coefficients behind each.
    """

    octaves: Floats
    energies: Floats
    errors: Floats
    counts: Floats


def log_scale(x: Floats, wavelet: str = "db3") -> LogScale:
    """The log-scale diagram of each series, shape (paths, n), without coefficients that an edge touches."""
    import numpy as np
    import pywt
    from scipy.special import polygamma, psi

    shape = pywt.Wavelet(wavelet)
    rest, energies, counts = x, [], []
    while rest.shape[1] >= 2 * shape.dec_len:
        # So many coefficients reach beyond the ends: at the right one more of a row of odd length.
        left = shape.dec_len // 2 - 1
        right = left + rest.shape[1] % 2
        both = pywt.dwt(rest, shape, mode="zero", axis=1)
        rest, details = (part[:, left : part.shape[1] - right] for part in both)
        if details.shape[1] < 4:
            break
        energies.append(np.mean(details**2, axis=1))
        counts.append(details.shape[1])
    n = np.array(counts, dtype=np.float64)
    # The mean of log2 of a mean of n squares, less log2 of its expectation (Veitch and Abry 1999).
    bias = psi(n / 2) / np.log(2) - np.log2(n / 2)
    errors = np.sqrt(polygamma(1, n / 2)) / np.log(2)
    logs = np.log2(np.maximum(np.stack(energies, axis=1), 1e-300)) - bias
    return LogScale(np.arange(1.0, len(n) + 1), logs, errors, n)


def _lines(seen: LogScale, first: int, last: int | None) -> tuple[Floats, float, Floats]:
    """Weighted least squares over these octaves: H of each row, its error, and what is left (chi²)."""
    import numpy as np

    part = slice(first - 1, last)
    j, w = seen.octaves[part], seen.errors[part] ** -2.0
    away = j - (w @ j) / w.sum()
    y = seen.energies[:, part]
    curvature = float((w * away) @ away)
    slope = y @ (w * away) / curvature
    level = (y @ w) / w.sum()
    left = ((y - level[:, None] - np.outer(slope, away)) ** 2) @ w
    return (slope + 1) / 2, 0.5 / float(np.sqrt(curvature)), left


def abry_veitch_of(x: Floats, first: int = 2, last: int | None = None, wavelet: str = "db3") -> Floats:
    return _lines(log_scale(x, wavelet), first, last)[0]


def choose(seen: LogScale, row: int = 0) -> int:
    """The first octave from which on the diagram is straight (Veitch, Abry and Taqqu 2003, in short).

    Of octaves from 2 on that leave three or more, the first from which the fit is not surprising (5%); if
    there is none, the one that fits best. Octave 1 suffers from the series being taken for its own integral.
    """
    from scipy.stats import chi2

    most = len(seen.octaves)
    best, best_p = min(2, max(1, most - 2)), -1.0
    for first in range(2, most - 1):
        left = float(_lines(seen, first, None)[2][row])
        p = float(chi2.sf(left, most - first - 1))
        if p > _FITS:
            return first
        if p > best_p:
            best, best_p = first, p
    return best


def hurst_abry_veitch(
    x: ArrayLike,
    first: int | Literal["auto"] = "auto",
    last: int | None = None,
    wavelet: str = "db3",
) -> HurstEstimate:
    """Hurst parameter by wavelets (Abry and Veitch 1998, Veitch and Abry 1999).

    x: counts per bin, shape (n,), n >= 128, any unit.  first, last: the octaves whose energies a line is
    fitted through, weighted by what each can tell; octave j is 2^j bins long. "auto": from the first octave
    on that all lie on a line, which leaves short-range structure out.  wavelet: PyWavelets' name; db3 is
    blind to trends up to a parabola.  Returns the estimate with the 95% interval of the weighted fit. Raises
    ValueError if x is constant, too short, or if the octaves are fewer than two.
    """
    row = series(x)
    seen = log_scale(row[None, :], wavelet)
    most = len(seen.octaves)
    begin = choose(seen) if first == "auto" else first
    end = min(last or most, most)
    if not 1 <= begin < end:
        raise ValueError(
            f"octaves {begin} to {end}: {len(row)} bins have octaves 1 to {most}, and two are needed"
        )
    values, error, _ = _lines(seen, begin, end)
    value = float(values[0])
    note = f"octaves {begin} to {end}"
    return HurstEstimate(value, value - Z95 * error, value + Z95 * error, "Abry–Veitch", len(row), note)
