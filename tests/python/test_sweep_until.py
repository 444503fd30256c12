"""What `--until` costs in certainty: whoever looks again and again sees a narrow interval by chance, too."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rexmit import stats
from rexmit.sweeps import making
from rexmit.sweeps.until import Judge
from test_sweep import SCENARIO

ROUND, TRIALS = 10, 300


def test_an_interval_that_was_waited_for_covers_the_mean_in_93_of_100_cases() -> None:
    """Values as widely spread as exponential ones, whose mean is 1, until it is known to 20%."""
    plan = making.make(SCENARIO, {}, runs=ROUND, until=["goodput ±20%"], most=10_000)
    random = np.random.default_rng(1)
    covered, looks = 0, 0
    for _ in range(TRIALS):
        judge, values = Judge(plan), np.empty(0)
        while judge.wide() or not len(values):
            new = random.exponential(1.0, ROUND)
            values = np.append(values, new)
            columns = {"point": [0] * ROUND, "flow": ["up"] * ROUND, "goodput_bps": new}
            judge.add([pa.record_batch(columns)])
            looks += 1
        covered += 1.0 in stats.mean(values)
    assert looks / TRIALS > 7
    assert 0.90 <= covered / TRIALS <= 0.96
