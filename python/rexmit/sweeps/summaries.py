"""Each measure at each point: its mean with intervals, and where single runs lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rexmit.sweeps.block import RUNS
from rexmit.sweeps.measures import EVERY
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.store import Store

#: By point and flow, columns of `runs` as arrays of float64.
Values = dict[tuple[int, str], dict[str, Any]]
#: Quantiles of single runs that a summary has.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def table(plan: Plan, store: Store) -> Any:
    """As an Arrow table."""
    ends = [f"{name}_{end}" for name in ("t", "bootstrap") for end in ("low", "high")]
    return as_table(
        plan, rows(plan, read(store)), ["mean", *ends, *(f"q{round(q * 100):02d}" for q in QUANTILES)]
    )


def as_table(
    plan: Plan, rows: list[dict[str, Any]], numbers: Sequence[str], texts: Sequence[str] = ()
) -> Any:
    """Rows about points and flows as an Arrow table that has these columns besides."""
    import pyarrow as pa

    columns = {"point": pa.int64()}
    for name, numeric in plan.columns.values():
        columns[name] = pa.string()
        if numeric:
            columns[numeric] = pa.float64()
    columns |= dict.fromkeys([*texts, "flow", "measure"], pa.string()) | {"n": pa.int64()}
    columns |= dict.fromkeys(numbers, pa.float64())
    return pa.Table.from_pylist(rows, schema=pa.schema(columns))


def rows(plan: Plan, values: Values) -> list[dict[str, Any]]:
    """The same as dictionaries, in the order of points, flows and measures."""
    import numpy as np

    from rexmit import stats

    found = []
    for (point, flow), figures in sorted(values.items()):
        which = {"point": point, **plan.told(point), "flow": flow}
        for measure in EVERY:
            x = figures[measure.column]
            # Values of a damaged file may be so large that their sum is none.
            with np.errstate(over="ignore", invalid="ignore"):
                mean, boot = stats.mean(x), stats.bootstrap_mean(x)
            found.append(
                which
                | {"measure": measure.column, "n": mean.n, "mean": _number(mean.value)}
                | {"t_low": _number(mean.low), "t_high": _number(mean.high)}
                | {"bootstrap_low": _number(boot.low), "bootstrap_high": _number(boot.high)}
                | dict(zip((f"q{round(q * 100):02d}" for q in QUANTILES), _quantiles(x), strict=True))
            )
    return found


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _quantiles(values: Any) -> list[float | None]:
    import numpy as np

    finite = values[np.isfinite(values)]
    return [None] * len(QUANTILES) if not len(finite) else [float(q) for q in np.quantile(finite, QUANTILES)]


def read(store: Store) -> Values:
    """Each measure's values, and the replications that they are of; NaN where there is none."""
    import numpy as np
    import pyarrow as pa

    columns = ["replication", *(measure.column for measure in EVERY)]
    batches = list(store.rows(RUNS, columns=["point", "flow", *columns]))
    if not batches:
        return {}
    whole = pa.Table.from_batches(batches)
    flows = whole.column("flow").combine_chunks().dictionary_encode()
    points = whole.column("point").to_numpy()
    codes = flows.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    numbers = {name: whole.column(name).cast(pa.float64()).to_numpy() for name in columns}
    order = np.lexsort((np.arange(len(points)), codes, points))
    keys = np.stack([points[order], codes[order]])
    starts = np.flatnonzero(np.r_[True, (np.diff(keys) != 0).any(axis=0)])
    ends = np.r_[starts[1:], len(order)]
    found = {}
    for begin, end in zip(starts, ends, strict=True):
        chosen = order[begin:end]
        code = int(codes[chosen[0]])
        if code >= 0:
            which = (int(points[chosen[0]]), flows.dictionary[code].as_py())
            found[which] = {name: numbers[name][chosen] for name in columns}
    return found
