"""Rows: the paper's figure, looked up by its key, beside what was found here."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import ROUND_DOWN, Decimal
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rexmit import stats
from rexmit_studies import own, paper
from rexmit_studies.study import Claim, Missing, Row, Statement, Unfinished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from rexmit.report.grades import Grade
    from rexmit_studies.study import Value

One = TypeVar("One", Row, Statement, Claim)
Given = TypeVar("Given")
#: A pattern counts where more than this share of the runs have it.
MOST = 0.5
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
    return Row(key, definition, printed.value, value, "exact" if same else "no", "" if same else why, unit)


def sampled(
    key: str, values: ArrayLike, definition: str, unit: str = "", why: str = "", together: str = ""
) -> Row:
    """A figure that differs from run to run. The paper's is one run: it is reproduced if it lies (within its
    printed digits) where 95% of the runs do, and better if it lies in the interval of their mean. Runs that
    have none (None, NaN) are left out.

    together: the name of what it is judged together with; the values of all these come in the same seeds'
    order.
    """
    printed = paper.printed(key)
    if not isinstance(printed.value, int | float):
        raise ValueError(f"{key} is no single number: a sample has nothing to compare with")
    found, (low, high) = stats.mean(values), stats.central(values)
    half = 0.5 * 10.0 ** -printed.decimals[0] * (1 + 1e-9)
    at = float(printed.value)
    grade: Grade = "no"
    if low - half <= at <= high + half:
        # An interval as wide as the mean itself does not say where the mean is.
        known = found.high - found.low <= abs(found.value)
        grade = "mean" if known and found.low - half <= at <= found.high + half else "scatter"
    if grade == "no" and not why:
        why = _unexplained(found.n)
    none = found.n == 0
    return Row(
        key, definition, printed.value, None if none else found.value, grade, why if grade == "no" else "",
        unit, None if none else (low, high), None if none else found, found.n,
        share=None if none else _as_far(values, at, half, found.value), together=together,
        values=tuple(np.asarray(values, dtype=float)),
    )  # fmt: skip


def _as_far(values: ArrayLike, at: float, half: float, mean: float) -> float:
    """The share of runs at least as far from the mean as the paper's figure, on its side."""
    x = np.asarray(values, dtype=float)
    x = x[np.isfinite(x)]
    return float(((x <= at + half) if at < mean else (x >= at - half)).mean())


def tried(key: str, make: Callable[[], One], why: str) -> One | Missing:
    """A row, a statement or a claim about something that the paper's run has, and the user's need not have.

    why: what is not there, a phrase. With the paper's values an error stays an error.
    """
    if not own.current():
        return make()
    try:
        return make()
    except Unfinished as missing:
        return Missing(key, str(missing))
    except (IndexError, KeyError, StopIteration, ValueError, ZeroDivisionError):
        return Missing(key, why)


def each_tried(
    stem: str, makes: Mapping[str, Callable[[Given], One]], given: Given, why: str
) -> Iterator[One | Missing]:
    """Several that are made from the same, each tried by itself.

    makes: by what follows the stem in the key of each.
    """
    for key, make in makes.items():
        yield tried(stem + key, partial(make, given), why)


def all_tried(
    keys: Iterable[str], make: Callable[[], Iterable[One | Missing]], why: str
) -> Iterator[One | Missing]:
    """The same for several that are made together. keys: of those there are with the paper's values."""
    if not own.current():
        yield from make()
        return
    left = list(keys)
    found: list[One | Missing] = []
    try:
        for one in make():
            found.append(one)
            if one.key in left:
                left.remove(one.key)
        left = []
    except Unfinished as missing:
        why = str(missing)
    except (IndexError, KeyError, StopIteration, ValueError, ZeroDivisionError):
        pass
    yield from found
    for key in left:
        yield Missing(key, why)


def shown(key: str, hits: int, n: int, definition: str, why: str = "") -> Row:
    """A pattern that the paper's one run has: reproduced if most runs have it, and how many do."""
    same = n > 0 and hits > MOST * n
    said = f"in {hits} of {n} runs"
    printed = paper.printed(key).value
    why = "" if same else _how_often(hits, n).capitalize() + (why or _unexplained(n))
    return Row(
        key, definition, printed, said, "scatter" if same else "no", why, n=n, share=hits / n if n else 0.0
    )


def seen(
    key: str,
    hits: int,
    n: int,
    found: str,
    rows: Sequence[str] = (),
    drawing: str = "",
    effect: tuple[float, float] | None = None,
    of: str = "runs",
) -> Statement:
    """What the paper says of a figure that shows one run: it agrees if most of ours show it.

    effect: how large it is on average, and the least that counts, as shares; a smaller one agrees with
    nothing that a reader of the paper's figure could have seen. of: what there are n of.
    """
    told = f"{found} ({_how_often(hits, n)}so in {hits} of {n} {of})"
    agrees = hits > MOST * n if n else None
    if agrees and effect is not None and effect[0] < effect[1]:
        told += f"; by {effect[0]:.2%} on average, and less than {effect[1]:.0%} counts as no difference"
        agrees = False
    return Statement(key, told, agrees, rows, drawing)


def _how_often(hits: int, n: int) -> str:
    """Of a pattern that some runs have, and not most."""
    return "sometimes: " if n and (1 - stats.COVERAGE) * n < hits <= MOST * n else ""


def stated(key: str, value: Value, same: bool, definition: str, why: str = "") -> Row:
    """A fact that the paper states in words: the study itself says whether it is the same here."""
    return Row(
        key, definition, paper.printed(key).value, value, "exact" if same else "no", "" if same else why
    )


def setup(key: str, value: Value, definition: str = "set in the scenario", why: str = "") -> Row:
    """A parameter: what the scenario sets, or why it differs."""
    return given(exact(key, value, definition, why=why))


def given(row: Row) -> Row:
    """The same row for what the scenario is told: where it has the paper's value, that says nothing."""
    return replace(row, grade="set") if row.reproduced else row


def fitted(row: Row) -> Row:
    """The same row for a figure that something was chosen by, a parameter, a reading or a script. With the
    user's values nothing was: what was chosen is for the paper's.
    """
    return replace(row, grade="fitted") if row.reproduced and not own.current().depends(row.key) else row


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
