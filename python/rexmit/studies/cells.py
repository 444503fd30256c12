"""A row's figures as people read them: the paper's digits as printed, ours with about as many."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rexmit.studies import paper

if TYPE_CHECKING:
    from rexmit.stats import Estimate, Test
    from rexmit.studies.study import Row, Value
    from rexmit.studies.verdict import Judged

#: Significant digits: of a mean at least, of anything at most.
LEAST, MOST = 3, 6


def groups(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Rows by their definition, in the order in which definitions come up: it is read once."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.definition, []).append(row)
    return list(found.items())


def short(key: str) -> str:
    """The key without the study's name."""
    return key.partition(".")[2]


def as_printed(row: Row) -> str:
    """The paper's figure with its digits, and its unit."""
    return _with_unit(_grouped(paper.printed(row.key).text, row.paper), row.unit)


def found(row: Row) -> str:
    """rexmit's figure: a mean with half its interval, or the value."""
    if row.rexmit is None:
        return "none"
    digits = _digits(row.key)
    if row.mean is not None and isinstance(row.rexmit, int | float):
        half = (row.mean.high - row.mean.low) / 2
        text = number(row.rexmit, digits)
        if math.isfinite(half) and half > 0:
            text += f" ± {number(half, 2)}"
        return text
    return value(row.rexmit, digits + 1)


def ratio(row: Row) -> str:
    """rexmit's over the paper's, where that means something."""
    share = ratio_of(row)
    return "" if share is None else number(share, 3)


def ratio_of(row: Row) -> float | None:
    """The same as a number."""
    ours, theirs = row.rexmit, row.paper
    if isinstance(ours, str | tuple | None) or isinstance(theirs, str | tuple):
        return None
    if isinstance(theirs, bool) or not theirs or not math.isfinite(ours):
        return None
    return float(ours) / float(theirs)


def interval(row: Row) -> str:
    """Where 95% of the runs lie."""
    if row.interval is None:
        return ""
    digits = _digits(row.key)
    return between(*row.interval, digits)


def between(low: float, high: float, digits: int = LEAST) -> str:
    """`0.21 to 0.43`."""
    return f"{number(low, digits)} to {number(high, digits)}"


def value(what: Value, digits: int = MOST) -> str:
    """Any value of a row."""
    if isinstance(what, tuple | list):
        return ", ".join(value(one, digits) for one in what)
    if isinstance(what, str):
        return what
    if isinstance(what, bool):
        return "yes" if what else "no"
    return number(what, digits)


def number(what: float, digits: int = LEAST) -> str:
    """Digits that count, thousands apart, no exponent above 1e-5: 39,339, 4.2009, 0.000042."""
    if isinstance(what, int) or (hasattr(what, "dtype") and what.dtype.kind in "iu"):
        return f"{what:,}" if abs(what) >= 10_000 else str(what)
    what = float(what)
    if not math.isfinite(what):
        return "none"
    if what == 0:
        return "0"
    before = math.floor(math.log10(abs(what))) + 1
    if before < -4:
        return f"{what:.{digits - 1}e}"
    decimals = max(0, min(digits, MOST) - before)
    text = f"{what:,.{decimals}f}"
    # A whole number says so.
    if what.is_integer() and "." in text:
        text = text.split(".")[0]
    return text if abs(what) >= 9999.5 else text.replace(",", "")


def effect(test: Test) -> str:
    """`Reno less Tahoe: +0.32 Mbps (0.21 to 0.43), n 100`."""
    sign = "+" if test.effect > 0 else ""
    unit = f" {test.unit}" if test.unit else ""
    margin = "" if test.margin is None else f", alike within {number(test.margin)}"
    low, high = test.interval
    told = f" ({between(low, high)})" if math.isfinite(low) else ""
    return f"{test.what}: {sign}{number(test.effect)}{unit}{told}{margin}, n {test.n}"


def p_value(p: float) -> str:
    """`p 0.012`, `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}" if p < 0.0995 else f"p {p:.2f}"


def reasons(rows: Iterable[Row]) -> dict[str, int]:
    """Why rows are not reproduced, each reason numbered once."""
    return {why: place for place, why in enumerate(dict.fromkeys(r.why for r in rows if not r.reproduced), 1)}


def tested(judged: Judged) -> list[str]:
    """A line for each test of a claim, with its corrected p."""
    return [f"{effect(t)}, {p_value(p)}" for t, p in zip(judged.claim.tests, judged.p, strict=True)]


def plain(number: Any) -> Any:
    """What JSON can say: NaN is null, numpy's numbers are Python's, tuples are lists."""
    if hasattr(number, "item") and not isinstance(number, str):
        number = number.item()
    if isinstance(number, float) and not math.isfinite(number):
        return None
    if isinstance(number, tuple | list):
        return [plain(one) for one in number]
    return number


def estimate(known: Estimate | None) -> list[Any] | None:
    """The interval of a mean as JSON has it."""
    return None if known is None else plain((known.low, known.high))


def _digits(key: str) -> int:
    """Significant digits that the paper prints of a figure, within bounds."""
    text = paper.printed(key).text.split(",")[0].replace(".", "").lstrip("0-")
    return min(MOST - 1, max(LEAST, len(text) if text.isdecimal() else LEAST))


def _grouped(text: str, what: Value) -> str:
    if isinstance(what, int) and not isinstance(what, bool) and abs(what) >= 10_000:
        return f"{what:,}"
    return text


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text
