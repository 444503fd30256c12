"""Idle times: the threshold that the paper does not give, fitted to test 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import own
from rexmit_studies.paper import figures
from rexmit_studies.rto.measured import Sample, Values, tests
from rexmit_studies.rto.setting import SHORTEST_GAP

if TYPE_CHECKING:
    from rexmit_studies.study import Results

#: The test whose idle time no timer made: its longest gap is below the least RTO.
FITTED = 3
#: What the fit gives with the paper's values, s (docs/studies/rto.md).
PAPERS_S = 0.0082


@dataclass(frozen=True)
class Threshold:
    """The fitted threshold, s. low, high: where 95% of single transfers put it."""

    s: float
    low: float
    high: float

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{1e3 * self.s:.1f} ms"
        return f"{1e3 * self.s:.1f} ms (single transfers: {1e3 * self.low:.1f} to {1e3 * self.high:.1f} ms)"


def threshold(results: Results) -> Threshold:
    """The threshold above which the gaps of test 3 add up, on average, to the paper's total. Where the user's
    values change test 3 itself it is the one of the paper's: a threshold fitted to another experiment would
    give the paper's total there, too.
    """
    if kept():
        return Threshold(PAPERS_S, PAPERS_S, PAPERS_S)
    if "threshold" not in results:
        paper: Any = figures("rto")
        sample = tests(results)[FITTED]
        results["threshold"] = fit(sample, float(paper[f"rto.table1.{FITTED}.total_idle_s"]))
    found: Threshold = results["threshold"]
    return found


def kept() -> bool:
    """Whether the threshold is the one of the paper's values."""
    mine = own.current()
    return bool(mine.pairs) or any(axis.name in ("stack", "rate", "tries") for axis, _ in mine.axes)


def fit(sample: Sample, total_s: float) -> Threshold:
    """Where the mean total of a sample's runs is `total_s`; single runs say how sure that is."""
    runs = len(sample["throughput_mbps"])
    each = [crossing(sample.gap_s[sample.gap_run == run], total_s) for run in range(runs)]
    low, high = stats.central(each)
    return Threshold(crossing(sample.gap_s, total_s * runs), low, high)


def crossing(gaps: Values, total_s: float) -> float:
    """The threshold above which gaps add up to `total_s`; the shortest that was kept, if they never do."""
    longest_first = np.sort(gaps)[::-1]
    count = int(np.searchsorted(np.cumsum(longest_first), total_s))
    return float(longest_first[count]) if count < len(longest_first) else SHORTEST_GAP


def curve(sample: Sample, thresholds: Values) -> Values:
    """Mean total idle time of a sample's runs for each threshold."""
    ascending = np.sort(sample.gap_s)
    upto = np.concatenate([[0.0], np.cumsum(ascending)])
    above: Values = upto[-1] - upto[np.searchsorted(ascending, thresholds, side="right")]
    return above / len(sample["throughput_mbps"])
