"""A row's figures as people read them: the paper's digits as printed, ours with about as many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rexmit_studies import paper

if TYPE_CHECKING:
    from rexmit.stats import Estimate, Test
    from rexmit_studies.run import Section
    from rexmit_studies.study import Row, Value
    from rexmit_studies.verdict import Judged

#: Significant digits: of a mean at least, of anything at most.
LEAST, MOST = 3, 6
#: An interval that is narrower than this share of its effect is none.
SAME = 1e-6


def groups(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Rows by their definition, in the order in which definitions come up: it is read once."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.definition, []).append(row)
    return list(found.items())


#: Of a claim that does not depend on what the user set.
CLAIM_OF_PAPER = "judged on the paper's values: it does not depend on yours"


def belongs(section: Section) -> str:
    """The sentence on the figures and statements of a section that do not depend on what the user set."""
    every = len(section.rows) + len(section.statements)
    if len(section.papers) == every:
        return "no figure and no statement here depends on your values: all of them belong to the paper's"
    named = [short(key) for key in section.papers]
    more = f" and {len(named) - 8} more" if len(named) > 8 else ""
    return f"these belong to the paper's values, not to yours: {', '.join(named[:8])}{more}"


def short(key: str) -> str:
    """The key without the study's name."""
    return key.partition(".")[2]


def as_printed(row: Row) -> str:
    """The paper's figure with its digits."""
    return _grouped(paper.printed(row.key).text, row.paper)


def found(row: Row) -> str:
    """rexmit's figure: a mean with half its interval, or the value."""
    if row.rexmit is None:
        return "none"
    if row.mean is not None and isinstance(row.rexmit, int | float):
        half = (row.mean.high - row.mean.low) / 2
        if math.isfinite(half) and half > 0:
            # Digits that the interval leaves in doubt are none.
            decimals = min(_finer(half, 2), _finer(abs(row.rexmit), MOST) if row.rexmit else MOST)
            return f"{_fixed(row.rexmit, decimals)} ± {_fixed(half, decimals)}"
    return value(row.rexmit, _digits(row.key) + 1)


def ratio(row: Row) -> str:
    """rexmit's over the paper's, where that means something."""
    share = ratio_of(row)
    return "" if share is None else f"{share:.3f}" if abs(share) < 9.9995 else number(share)


def ratio_of(row: Row) -> float | None:
    """The same as a number."""
    ours, theirs = row.rexmit, row.paper
    if isinstance(ours, str | tuple | None) or isinstance(theirs, str | tuple):
        return None
    if isinstance(theirs, bool) or not theirs or not math.isfinite(ours):
        return None
    return float(ours) / float(theirs)


def interval(row: Row) -> str:
    """Where 95% of the runs lie, with as many digits as show on which side of its ends the paper's lies."""
    if row.interval is None:
        return ""
    low, high = row.interval
    digits = 2
    if isinstance(row.paper, int | float) and math.isfinite(low) and high > low:
        while digits < MOST:
            decimals = _finer(high - low, digits)
            if round(row.paper, decimals) not in (round(low, decimals), round(high, decimals)):
                break
            digits += 1
        else:
            # It lies on an end itself: no digits part them.
            digits = LEAST
    return between(low, high, digits)


def between(low: float, high: float, digits: int = LEAST) -> str:
    """`0.21 to 0.43`, with as many decimals as give its width so many significant digits."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "none"
    if low == high:
        return f"{number(low)} to {number(high)}"
    decimals = _finer(high - low, digits)
    return f"{_fixed(low, decimals)} to {_fixed(high, decimals)}"


def value(what: Value, digits: int = MOST) -> str:
    """Any value of a row."""
    if isinstance(what, tuple | list):
        # Commas between thousands would be taken for those between the numbers.
        return ", ".join(
            one if isinstance(one, str) else f"{one:.9g}" if isinstance(one, int) else f"{one:.{digits}g}"
            for one in what
        )
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
        mantissa, _, exponent = f"{what:.{digits - 1}e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    decimals = max(0, min(digits, MOST) - before)
    text = f"{what:,.{decimals}f}"
    # A whole number says so.
    if what.is_integer() and "." in text:
        text = text.split(".")[0]
    return text if abs(what) >= 9999.5 else text.replace(",", "")


def effect(test: Test) -> str:
    """`Reno less Tahoe: +0.32 Mbps (0.21 to 0.43), n 100`."""
    if not test.n:
        return f"{test.what}: not known, n 0"
    low, high = test.interval
    told, size = "", number(test.effect)
    if math.isfinite(low) and high - low <= SAME * abs(test.effect):
        # Runs that are all alike, but for how floats are added.
        told = f" ({number(low)} to {number(high)})"
    elif math.isfinite(low):
        told = f" ({between(low, high, 2)})"
        size = _fixed(test.effect, _finer(high - low, 2)) if high > low else size
    sign = "+" if test.effect > 0 else ""
    unit = f" {test.unit}" if test.unit else ""
    margin = "" if test.margin is None else f", alike within {number(test.margin)}"
    return f"{test.what}: {sign}{size}{unit}{told}{margin}, n {number(test.n)}"


def p_value(p: float) -> str:
    """`p 0.012`, `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p {p:.3f}" if p < 0.0995 else f"p {p:.2f}"


def reasons(rows: Iterable[Row]) -> dict[str, int]:
    """Why rows are not reproduced, each reason numbered once."""
    return {why: place for place, why in enumerate(dict.fromkeys(r.why for r in rows if r.grade == "no"), 1)}


def tested(judged: Judged) -> list[str]:
    """A line for each test of a claim, with its corrected p."""
    return [f"{effect(t)}, {p_value(p)}" for t, p in zip(judged.claim.tests, judged.p, strict=True)]


def sentence(text: str) -> str:
    """With a capital, unless it begins with a name like ns-3.20, and a full stop."""
    text = text.strip()
    if text.split(" ", 1)[0].isalpha():
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


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


def over(rows: Iterable[Row]) -> str:
    """What the column of intervals is called: with the number of runs, if it is the same for all."""
    numbers = {row.n for row in rows if row.interval is not None}
    return f"95% of {numbers.pop():,} runs" if len(numbers) == 1 else "95% of runs"


def column(values: Sequence[Any]) -> list[str]:
    """A column of a table: as many decimals for all as the finest needs, four digits that count at most."""
    needed = [_decimals(v) for v in values if isinstance(v, float) and math.isfinite(v)]
    decimals = max(needed, default=0)
    if needed and decimals - min(needed) > 4:
        return [_cell(v) for v in values]
    return [f"{v:,.{decimals}f}" if isinstance(v, float) and math.isfinite(v) else _cell(v) for v in values]


def _finer(size: float, digits: int) -> int:
    """Decimals that give a size so many significant digits."""
    return max(0, digits - 1 - math.floor(math.log10(size)))


def _fixed(what: float, decimals: int) -> str:
    text = f"{what:,.{decimals}f}"
    text = text.removeprefix("-") if not text.strip("-0.,") else text
    return text if abs(what) >= 9999.5 else text.replace(",", "")


def _decimals(what: float) -> int:
    """Decimals that four significant digits need, without zeros at the end."""
    text = f"{what:.4g}"
    if "e" in text:
        return max(0, 3 - math.floor(math.log10(abs(what))))
    return len(text.partition(".")[2])


def _cell(what: Any) -> str:
    if what is None or (isinstance(what, float) and math.isnan(what)):
        return ""
    if hasattr(what, "isoformat") or (hasattr(what, "dtype") and what.dtype.kind == "M"):
        return str(what)
    return value(tuple(what) if isinstance(what, list) else what, 4)
