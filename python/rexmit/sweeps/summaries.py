"""Each measure at each point: its mean with intervals, and where single runs lie."""

from __future__ import annotations

import math
from typing import Any

from rexmit.sweeps.block import RUNS, column, number_column
from rexmit.sweeps.measures import EVERY
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.store import Store

#: Quantiles of single runs that a summary has.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def table(plan: Plan, store: Store) -> Any:
    """As an Arrow table."""
    import pyarrow as pa

    of_values = {column(key): pa.string() for key in plan.keys}
    of_numbers = {name: pa.float64() for key in plan.keys if (name := number_column(plan, key))}
    told = {
        "mean": pa.float64(),
        **{f"{name}_{end}": pa.float64() for name in ("t", "bootstrap") for end in ("low", "high")},
    }
    told |= {f"q{round(q * 100):02d}": pa.float64() for q in QUANTILES}
    schema = pa.schema(
        {
            "point": pa.int64(),
            **of_values,
            **of_numbers,
            "flow": pa.string(),
            "measure": pa.string(),
            "n": pa.int64(),
        }
        | told
    )
    return pa.Table.from_pylist(rows(plan, store), schema=schema)


def rows(plan: Plan, store: Store) -> list[dict[str, Any]]:
    """The same as dictionaries, in the order of points, flows and measures."""
    from rexmit import stats

    found = []
    for (point, flow), values in sorted(_values(store).items()):
        which = {"point": point, **_which(plan, point), "flow": flow}
        for measure in EVERY:
            x = values[measure.column]
            mean, boot = stats.mean(x), stats.bootstrap_mean(x)
            found.append(
                which
                | {"measure": measure.column, "n": mean.n, "mean": _number(mean.value)}
                | {"t_low": _number(mean.low), "t_high": _number(mean.high)}
                | {"bootstrap_low": _number(boot.low), "bootstrap_high": _number(boot.high)}
                | dict(zip((f"q{round(q * 100):02d}" for q in QUANTILES), _quantiles(x), strict=True))
            )
    return found


def _which(plan: Plan, point: int) -> dict[str, Any]:
    from rexmit.sweeps.block import number

    told: dict[str, Any] = {}
    for key, text in plan.values(point).items():
        told[column(key)] = text
        if name := number_column(plan, key):
            told[name] = number(text)
    return told


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def _quantiles(values: Any) -> list[float | None]:
    import numpy as np

    finite = values[np.isfinite(values)]
    return [None] * len(QUANTILES) if not len(finite) else [float(q) for q in np.quantile(finite, QUANTILES)]


def _values(store: Store) -> dict[tuple[int, str], dict[str, Any]]:
    """By point and flow: each measure's values, in the order of the runs; NaN where there is none."""
    import numpy as np
    import pyarrow as pa

    columns = [measure.column for measure in EVERY]
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
