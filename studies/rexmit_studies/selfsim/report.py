"""The Hurst parameter of one series by five estimators, and what to think of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rexmit_studies.selfsim.estimate import HurstEstimate, series
from rexmit_studies.selfsim.frequency import hurst_local_whittle
from rexmit_studies.selfsim.time_domain import hurst_kettani_gubner, hurst_rs, hurst_variance_time
from rexmit_studies.selfsim.wavelets import hurst_abry_veitch

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rexmit_studies.selfsim.estimate import Floats

#: With fewer bins the intervals are wider than what is asked of them.
FEW = 512
#: Fewer packets a bin: most bins hold none or one.
SPARSE = 0.5
#: How many standard errors apart two stretches are when the series has moved.
_FAR = 3.5


@dataclass(frozen=True)
class Hurst:
    """Five estimates of one series. warnings: why not to believe them, each a sentence."""

    estimates: tuple[HurstEstimate, ...]
    warnings: tuple[str, ...] = field(default=())

    @property
    def agree(self) -> bool:
        """Whether some H lies in all five intervals."""
        return max(e.low for e in self.estimates) <= min(e.high for e in self.estimates)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest of the five."""
        return min(e.value for e in self.estimates), max(e.value for e in self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """As `--json` prints it."""
        rows = [
            {"method": e.method, "hurst": e.value, "low": e.low, "high": e.high, "n": e.n, "note": e.note}
            for e in self.estimates
        ]
        return {"estimates": rows, "agree": self.agree, "warnings": list(self.warnings)}


def hurst(x: ArrayLike) -> Hurst:
    """The Hurst parameter by R/S, variance–time plot, wavelets, correlations and local Whittle.

    x: counts per bin, shape (n,), n >= 128, any unit. Two of the five look at long times only (local Whittle;
    wavelets, from the octave on where the log-scale diagram is straight), two at all, one (Kettani–Gubner)
    believes that the series is fractional Gaussian noise: where they disagree, it is not, and the first two
    are nearer the truth. Raises ValueError if x is constant or too short.
    """
    row = series(x)
    found = (
        hurst_rs(row),
        hurst_variance_time(row),
        hurst_abry_veitch(row),
        hurst_kettani_gubner(row),
        hurst_local_whittle(row),
    )
    return Hurst(found, tuple(_warnings(row, found)))


def _warnings(x: Floats, found: tuple[HurstEstimate, ...]) -> list[str]:
    said = []
    n, mean = len(x), float(x.mean())
    if n < FEW:
        said.append(f"{n} bins are few: the intervals are wide; {FEW} or more tell something")
    if float((x == 0).mean()) > 1 - SPARSE:
        said.append(f"{(x == 0).mean():.0%} of the bins are empty: choose longer bins")
    moved = _moved(x)
    if moved is not None:
        said.append(
            f"the series is not stationary: quarter {moved[0] + 1} has a mean of {moved[1]:.3g}, the whole "
            f"{mean:.3g}; a level that moves looks like long memory"
        )
    if found[4].value > 1 or found[2].value > 1:
        said.append("H above 1: the series is not stationary, and no estimate of H is meant for that")
    low, high = max(found, key=lambda e: e.low), min(found, key=lambda e: e.high)
    if low.low > high.high:
        ordered = sorted(found, key=lambda e: e.value)
        said.append(
            f"the estimators disagree ({ordered[0].value:.2f} by {ordered[0].method} to "
            f"{ordered[-1].value:.2f} by {ordered[-1].method}): the series is no fractional Gaussian noise; "
            "trust wavelets and local Whittle, which leave short times out"
        )
    return said


def _moved(x: Floats) -> tuple[int, float] | None:
    """The quarter whose mean is farther from the others' than long memory of such strength explains.

    The variance of a mean over k bins under fractional Gaussian noise of variance s²: s² k^(2H−2). H is that
    of the wavelets, which a step or trend between the quarters hardly changes; the variance that within them.
    """
    import numpy as np

    quarters = np.array_split(x, 4)
    h = min(max(hurst_abry_veitch(x).value, 0.5), 0.95)
    k = len(x) / 4
    within = float(np.mean([q.var() for q in quarters])) / (1 - k ** (2 * h - 2))
    means = np.array([q.mean() for q in quarters])
    # Correlation of the four means at distance d, and with it the covariance of each less the mean of all.
    gap = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
    r = 0.5 * ((gap + 1) ** (2 * h) - 2 * gap ** (2 * h) + np.abs(gap - 1) ** (2 * h))
    centre = np.eye(4) - 0.25
    errors = np.sqrt(np.diag(centre @ r @ centre) * within * k ** (2 * h - 2))
    away = np.abs(means - means.mean()) / np.maximum(errors, 1e-300)
    worst = int(np.argmax(away))
    return (worst, float(means[worst])) if away[worst] > _FAR else None
