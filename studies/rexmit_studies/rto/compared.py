"""A test of Table I beside other readings of its channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit_studies import grades, rows
from rexmit_studies.rto.gaps import threshold
from rexmit_studies.rto.table1 import COLUMNS, Column, is_fitted, paper_value

if TYPE_CHECKING:
    from rexmit_studies.rto.measured import Sample
    from rexmit_studies.study import Results


def _grade(test: int, column: Column, values: Mapping[str, Any]) -> str:
    """How the paper's figure stands among these runs: `= 12%`, `≠`."""
    row = rows.sampled(
        f"rto.table1.{test}.{column.key}", values[column.key], column.definition, why="another"
    )
    return grades.mark(row)


def columns(
    results: Results, test: int, readings: Mapping[str, Sample], fitted: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """A row for each column of Table I: the paper's value, and under each reading the mean, where 95% "
    "lie, and
    the grade of the paper's value there.

    fitted: what the readings besides the first are fitted to, beside what every test is.
    """
    made: dict[str, list[Any]] = {"Table I": [], "paper": []} | {name: [] for name in readings}
    made["fitted"] = []
    at = threshold(results).s
    found = {name: dict(sample) for name, sample in readings.items()}
    for name, sample in readings.items():
        found[name]["total_idle_s"], found[name]["max_idle_s"] = sample.idle(at)
    for column in COLUMNS:
        made["Table I"].append(column.key)
        made["paper"].append(f"{paper_value(test, column.key):g}")
        for name, values in found.items():
            known = values[column.key][~np.isnan(values[column.key])]
            low, high = stats.central(known) if len(known) else (np.nan, np.nan)
            mean = float(np.mean(known)) if len(known) else float("nan")
            made[name].append(f"{mean:.3g} ({low:.3g} to {high:.3g}) {_grade(test, column, values)}")
        made["fitted"].append("yes" if column.key in fitted or is_fitted(test, column.key) else "")
    return made
