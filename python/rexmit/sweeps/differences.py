"""Paired differences: each value of what is paired against the first one, replication by replication."""

from __future__ import annotations

import math
from typing import Any

from rexmit.sweeps.measures import EVERY
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.store import Store
from rexmit.sweeps.summaries import Values, as_table, read


def table(plan: Plan, store: Store) -> Any:
    """As an Arrow table."""
    numbers = ["difference", "t_low", "t_high", "p", "p_holm"]
    return as_table(plan, rows(plan, read(store)), numbers, ["against"])


def rows(plan: Plan, values: Values) -> list[dict[str, Any]]:
    """A row for each point that is not the first of its pair, flow and measure. p: of no difference,
    two-sided (Student's t); p_holm: corrected by Holm's method for all rows. Fewer than two pairs have none.
    """
    import numpy as np

    from rexmit import stats

    found: list[dict[str, Any]] = []
    for (point, flow), mine in sorted(values.items()):
        first = first_of_pair(plan, point)
        its = values.get((first, flow))
        if first == point or its is None:
            continue
        against = ", ".join(f"{key}={value}" for key, value in plan.values(first).items() if key in plan.pair)
        which = {"point": point, **plan.told(point), "against": against, "flow": flow}
        for measure in EVERY:
            a, b = _aligned(mine, its, measure.column)
            with np.errstate(over="ignore", invalid="ignore"):
                test = stats.Test.paired(measure.words, a, b)
            if test.n >= 2:
                low, high = test.interval
                found.append(
                    which
                    | {"measure": measure.column, "n": test.n, "difference": test.effect}
                    | {"t_low": low, "t_high": high, "p": test.p}
                )
    for row, p in zip(found, stats.holm([row["p"] for row in found]), strict=True):
        row["p_holm"] = p
    return [{key: None if _is_none(value) else value for key, value in row.items()} for row in found]


def first_of_pair(plan: Plan, point: int) -> int:
    """The point that has the first value of all that is paired, and else the same."""
    first = 0
    for axis, place in zip(plan.axes, plan.places(point), strict=True):
        paired = axis.keys[0] in plan.pair
        first = first * len(axis.values) + (0 if paired else place)
    return first


def _aligned(mine: dict[str, Any], its: dict[str, Any], column: str) -> tuple[Any, Any]:
    """Values of the replications that both have."""
    import numpy as np

    _, a, b = np.intersect1d(mine["replication"], its["replication"], return_indices=True)
    return mine[column][a], its[column][b]


def _is_none(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
