"""Estimates with intervals, and tests whose sign says what they speak for. The statistics are scipy's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

#: What intervals cover, and the risk of a false verdict over all tests of a study.
COVERAGE = 0.95
ALPHA = 0.05


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval, and how many observations are behind it. NaN: it cannot be known."""

    value: float
    low: float
    high: float
    n: int

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def mean(values: ArrayLike) -> Estimate:
    """The mean with Student's t interval. NaN is left out; one value has no interval."""
    x = _finite(values)
    n = len(x)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    value = float(x.mean())
    if n == 1:
        return Estimate(value, math.nan, math.nan, 1)
    half = student(n) * float(x.std(ddof=1)) / math.sqrt(n)
    return Estimate(value, value - half, value + half, n)


def known_mean(values: ArrayLike) -> float:
    """The mean of the values that are known. NaN, as for a value that cannot be known, if none is."""
    x = np.asarray(values, dtype=float)
    x = x[np.isfinite(x)]
    return float(x.mean()) if len(x) else math.nan


def ratio(a: ArrayLike, b: ArrayLike) -> Floats:
    """a / b, value by value. NaN where b is 0: beside nothing there is no ratio."""
    above, below = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    found: Floats = np.divide(above, below, out=np.full(above.shape, math.nan), where=below != 0)
    return found


def paired(a: ArrayLike, b: ArrayLike) -> Estimate:
    """The mean of a - b, pair by pair: a[k] and b[k] are of the same seed. Pairs with a NaN are left out."""
    return mean(_differences(a, b))


def proportion(hits: int, n: int) -> Estimate:
    """A share with Wilson's interval, which holds for small numbers and near 0 and 1."""
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    from scipy.stats import binomtest

    found = binomtest(hits, n).proportion_ci(COVERAGE, method="wilson")
    return Estimate(hits / n, float(found.low), float(found.high), n)


def central(values: ArrayLike, share: float = COVERAGE) -> tuple[float, float]:
    """Where the central share of single runs lies: a further run lies in it with about this probability.

    Between the order statistics (n + 1) p; of fewer than 2 / (1 - share) - 1 runs (39 at 95%), their least
    and largest value.
    """
    x = _finite(values)
    if len(x) == 0:
        return math.nan, math.nan
    low, high = np.quantile(x, [(1 - share) / 2, (1 + share) / 2], method="weibull")
    return float(low), float(high)


def quantile(values: ArrayLike, q: float = 0.5) -> Estimate:
    """A quantile (default the median) with the interval between two order statistics (binomial)."""
    x = _finite(values)
    if len(x) == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    from scipy.stats import quantile_test

    found = quantile_test(x, p=q).confidence_interval(COVERAGE)
    return Estimate(float(np.quantile(x, q)), float(found.low), float(found.high), len(x))


def bootstrap(values: ArrayLike, statistic: Callable[[Floats], float], seed: int = 1) -> Estimate:
    """Any statistic of a sample with its percentile bootstrap interval (2,000 resamples, always the same)."""
    x = _finite(values)
    if len(x) < 2:
        return Estimate(float(statistic(x)) if len(x) else math.nan, math.nan, math.nan, len(x))
    draws = np.random.default_rng(seed).integers(0, len(x), (2000, len(x)))
    found = np.array([statistic(x[draw]) for draw in draws])
    low, high = np.quantile(found, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return Estimate(float(statistic(x)), float(low), float(high), len(x))


def bootstrap_mean(values: ArrayLike, most: int = 20_000) -> Estimate:
    """The mean with scipy's percentile bootstrap interval (2,000 resamples, always the same).

    Of more than `most` values it has no interval: there Student's t gives the same one, in no time.
    """
    x = _finite(values)
    if len(x) < 2 or len(x) > most:
        return Estimate(float(x.mean()) if len(x) else math.nan, math.nan, math.nan, len(x))
    from scipy.stats import bootstrap as resampled

    found = resampled(
        (x,),
        np.mean,
        n_resamples=2000,
        batch=max(1, 1_000_000 // len(x)),
        vectorized=True,
        confidence_level=COVERAGE,
        method="percentile",
        random_state=np.random.default_rng(1),
    ).confidence_interval
    return Estimate(float(x.mean()), float(found.low), float(found.high), len(x))


@dataclass(frozen=True)
class Test:
    """One test of a claim.

    what: a phrase that names the effect ("Reno less Tahoe"). effect: signed so that a positive one speaks for
    the claim, in `unit`. interval: its 95% interval, uncorrected. p: two-sided, of the side on which the
    effect lies. margin: what still counts as alike; then within it speaks for the claim, beyond it against.
    """

    #: Not a test of pytest's.
    __test__ = False

    what: str
    effect: float
    interval: tuple[float, float]
    p: float
    n: int
    unit: str = ""
    margin: float | None = None

    @classmethod
    def paired(cls, what: str, a: ArrayLike, b: ArrayLike, unit: str = "") -> Test:
        """That mean(a - b) > 0, pair by pair (Student's t)."""
        return cls.mean(what, _differences(a, b), unit=unit)

    @classmethod
    def mean(cls, what: str, values: ArrayLike, above: float = 0.0, unit: str = "") -> Test:
        """That the mean of a sample is more than `above` (Student's t)."""
        x = _finite(values) - above
        return cls(what, *_effect(x), _two_sided(x), len(x), unit)

    @classmethod
    def alike(cls, what: str, a: ArrayLike, b: ArrayLike, margin: float, unit: str = "") -> Test:
        """That mean(a - b) lies within ± margin, pair by pair (two one-sided t tests); or, if it does not,
        that it lies beyond.
        """
        x = _differences(a, b)
        within = max(_above(x + margin), _above(margin - x))
        beyond = min(_above(x - margin), _above(-margin - x))
        p = min(1.0, 2 * min(within, beyond))
        return cls(what, *_effect(x), p, len(x), unit, margin)

    @classmethod
    def share(cls, what: str, hits: int, n: int, against: float = 0.5) -> Test:
        """That more than a share `against` of the runs show it (binomial); the effect is share - against."""
        if n == 0:
            return cls(what, math.nan, (math.nan, math.nan), 1.0, 0)
        from scipy.stats import binomtest

        found = proportion(hits, n)
        p = float(binomtest(hits, n, against).pvalue)
        return cls(what, found.value - against, (found.low - against, found.high - against), p, n)

    def speaks(self, p: float) -> int:
        """1 for the claim, -1 against it, 0 neither, with a p that is corrected for what else was tested."""
        if not p < ALPHA:
            return 0
        favour = self.effect if self.margin is None else self.margin - abs(self.effect)
        return 1 if favour > 0 else -1 if favour < 0 else 0


def holm(ps: Sequence[float]) -> list[float]:
    """P values corrected by Holm's step-down method, in the order given."""
    order = sorted(range(len(ps)), key=lambda k: ps[k])
    adjusted, largest = [1.0] * len(ps), 0.0
    for rank, k in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[k]))
        adjusted[k] = largest
    return adjusted


def _effect(x: Floats) -> tuple[float, tuple[float, float]]:
    found = mean(x)
    return found.value, (found.low, found.high)


def _two_sided(x: Floats) -> float:
    if len(x) < 2:
        return 1.0
    if np.ptp(x) == 0:
        # Without any spread t says nothing: as many signs alike, then.
        return 1.0 if x[0] == 0 else 2 * 0.5 ** len(x)
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(x, 0).pvalue)


def _above(x: Floats) -> float:
    """One-sided p of mean(x) > 0."""
    if len(x) < 2:
        return 1.0
    if np.ptp(x) == 0:
        return 0.5 ** len(x) if x[0] > 0 else 1.0
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(x, 0, alternative="greater").pvalue)


def student(n: int) -> float:
    """How many standard errors of the mean of n values its interval reaches to either side."""
    from scipy.special import stdtrit

    return float(stdtrit(n - 1, (1 + COVERAGE) / 2))


def _floats(values: Any) -> Floats:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy(zero_copy_only=False)
    return np.asarray([math.nan if v is None else v for v in values], dtype=float)


def _finite(values: ArrayLike) -> Floats:
    x = _floats(values)
    kept: Floats = x[np.isfinite(x)]
    return kept


def _differences(a: ArrayLike, b: ArrayLike) -> Floats:
    left, right = _floats(a), _floats(b)
    if len(left) != len(right):
        raise ValueError(f"{len(left)} values cannot be paired with {len(right)}")
    return _finite(left - right)
