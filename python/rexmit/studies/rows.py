"""Rows: the paper's figure, looked up by its key, beside what was found here."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, Decimal
from typing import TYPE_CHECKING

from rexmit import stats
from rexmit.studies import paper
from rexmit.studies.study import Row

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rexmit.studies.study import Value

#: With fewer runs an interval is a guess.
FEW = 20


def exact(
    key: str, value: Value | None, definition: str, unit: str = "", truncated: bool = False, why: str = ""
) -> Row:
    """A figure that is not random: reproduced if it has the paper's printed digits.

    truncated: the paper cut its digits off where others round. why: the reason if it is not reproduced.
    """
    printed = paper.printed(key)
    same = value is not None and _same(value, printed, truncated)
    return Row(key, definition, printed.value, value, same, "" if same else why, unit)


def sampled(key: str, values: ArrayLike, definition: str, unit: str = "", why: str = "") -> Row:
    """A figure that differs from run to run: reproduced if the paper's, which is one run, lies (within its
    printed digits) where 95% of the runs do. Runs that have none (None, NaN) are left out.
    """
    printed = paper.printed(key)
    if not isinstance(printed.value, int | float):
        raise ValueError(f"{key} is no single number: a sample has nothing to compare with")
    found, (low, high) = stats.mean(values), stats.central(values)
    half = 0.5 * 10.0 ** -printed.decimals[0] * (1 + 1e-9)
    same = low - half <= printed.value <= high + half
    if not same and not why:
        why = _unexplained(found.n)
    value = None if found.n == 0 else found.value
    return Row(
        key, definition, printed.value, value, same, "" if same else why, unit,
        None if found.n == 0 else (low, high), None if found.n == 0 else found, found.n,
    )  # fmt: skip


def stated(key: str, value: Value, same: bool, definition: str, why: str = "") -> Row:
    """A fact that the paper states in words: the study itself says whether it is the same here."""
    return Row(key, definition, paper.printed(key).value, value, same, "" if same else why)


def setup(key: str, value: Value, definition: str = "set in the scenario", why: str = "") -> Row:
    """A parameter: what the scenario sets, or why it differs."""
    return exact(key, value, definition, why=why)


def _unexplained(n: int) -> str:
    if n == 0:
        return "no run has such a figure"
    if n < FEW:
        return f"the interval is of {n} runs, too few to say"
    return f"outside where 95% of {n} runs lie; the reason is not known"


def _same(value: Value, printed: paper.Printed, truncated: bool) -> bool:
    there = printed.value if isinstance(printed.value, tuple) else (printed.value,)
    here = value if isinstance(value, tuple | list) else (value,)
    if len(there) != len(here):
        return False
    return all(
        _digits_agree(a, b, decimals, truncated)
        for a, b, decimals in zip(here, there, printed.decimals, strict=True)
    )


def _digits_agree(here: float | str, there: float | str, decimals: int, truncated: bool) -> bool:
    if isinstance(here, str) or isinstance(there, str):
        return here == there
    if not math.isfinite(here):
        return False
    step = Decimal(1).scaleb(-decimals)
    # numpy's numbers print their type too.
    exact_value, printed = Decimal(repr(float(here))), Decimal(repr(float(there)))
    if truncated:
        # 4.2 computed in floats may be 4.199999999999999.
        close = exact_value + Decimal("1e-9") * step
        return close.quantize(step, ROUND_DOWN) == printed.quantize(step)
    return abs(exact_value - printed) <= step / 2 * (1 + Decimal("1e-9"))
