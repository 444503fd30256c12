"""A fitted value with its interval and where it comes from; and intervals of counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

#: Share of captures of one path in which an interval should hold the true value.
COVERAGE = 0.9
#: With more hits and more misses than this, Wilson's interval serves.
MANY = 300


@dataclass(frozen=True)
class Value:
    """A figure of the path.

    value: None where the capture cannot tell; `source` says why.  low, high: the interval; a bound that the
    capture does not give is None.  unit: of all three.  source: the rows that it comes from.
    at_least: the value is a lower bound, no estimate.
    """

    value: float | None
    low: float | None
    high: float | None
    unit: str
    source: str
    at_least: bool = False

    def to_dict(self) -> dict[str, Any]:
        """As `rexmit fit --json` prints it."""
        known = {"value": self.value, "low": self.low, "high": self.high, "unit": self.unit}
        return known | {"at_least": self.at_least, "source": self.source}


def unknown(unit: str, why: str) -> Value:
    """What the capture cannot tell."""
    return Value(None, None, None, unit, why)


def about(value: float, part: float, unit: str, source: str) -> Value:
    """A value whose interval is a share of it to both sides."""
    return Value(value, value * (1 - part), value * (1 + part), unit, source)


def bound(value: float, unit: str, source: str) -> Value:
    """A lower bound."""
    return Value(value, value, None, unit, source, at_least=True)


def quantile(ordered: Sequence[float], q: float) -> float:
    """Of values in ascending order the one below which the share q lies. Raises ValueError if there are
    none.
    """
    if not ordered:
        raise ValueError("there are no values")
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def median(values: Sequence[float]) -> float:
    """The middle one of some values."""
    return quantile(sorted(values), 0.5)


def binomial_below(k: int, n: int, p: float) -> float:
    """The probability of at most k hits in n."""
    if k >= n or p <= 0.0:
        return 1.0
    if k < 0 or p >= 1.0:
        return 0.0
    odds = math.log(p) - math.log1p(-p)
    term = n * math.log1p(-p)
    total = 0.0
    for i in range(k + 1):
        total += math.exp(term)
        term += math.log(n - i) - math.log(i + 1) + odds
    return min(total, 1.0)


def proportion(k: int, n: int, coverage: float = COVERAGE) -> tuple[float, float]:
    """The interval of a probability after k hits in n (Clopper and Pearson 1934, with mid-P as Lancaster
    1961 has it); of many hits that of Wilson (1927), which is the same then and takes no sum.
    """
    tail = (1 - coverage) / 2
    if min(k, n - k) > MANY:
        return _wilson(k, n, NormalDist().inv_cdf(1 - tail))

    def middle(p: float) -> float:
        return 0.5 * (binomial_below(k, n, p) + binomial_below(k - 1, n, p))

    low = 0.0 if k == 0 else _root(lambda p: middle(p) - (1 - tail))
    high = 1.0 if k >= n else _root(lambda p: middle(p) - tail)
    return low, high


def _wilson(k: int, n: int, z: float) -> tuple[float, float]:
    middle = (k + z * z / 2) / (n + z * z)
    off = z / (n + z * z) * (k * (n - k) / n + z * z / 4) ** 0.5
    return middle - off, middle + off


def _root(falling: Callable[[float], float]) -> float:
    """Where a falling function of a probability is zero."""
    low, high = 0.0, 1.0
    for _ in range(60):
        at = (low + high) / 2
        low, high = (at, high) if falling(at) > 0 else (low, at)
    return (low + high) / 2
