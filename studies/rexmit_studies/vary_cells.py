"""The cells of a variation: what stands at each value, and which figures make curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rexmit_studies import cells, grades, paper

if TYPE_CHECKING:
    from rexmit_studies.study import Row, Statement
    from rexmit_studies.vary import Line, Variation
    from rexmit_studies.verdict import Judged

#: What is left out at a value.
NONE = "–"


def heads(found: Variation) -> list[str]:
    """The columns of values; the paper's experiment is marked."""
    return [f"{head} *" if found.of_paper(k) else head for k, head in enumerate(found.heads())]


#: Below a table that has such a column.
STAR = "* the paper's value: the column is the paper's own experiment"


def line(found: Line) -> list[str]:
    """The paper's figure, and rexmit's at each value."""
    return [cells.as_printed(found.first), *(NONE if row is None else cells.found(row) for row in found.rows)]


def by_section(lines: Sequence[Line]) -> dict[str, dict[str, list[Line]]]:
    """Lines by their part of the study, then by their definition."""
    found: dict[str, dict[str, list[Line]]] = {}
    for one in lines:
        found.setdefault(one.section, {}).setdefault(one.definition, []).append(one)
    return found


def agrees(one: Statement | None) -> str:
    """A statement at a value."""
    return NONE if one is None else grades.agrees(one)


def verdict(judged: Judged | None) -> str:
    """A claim at a value."""
    return NONE if judged is None else judged.told


def effect(judged: Judged) -> str:
    """What its verdict rests on."""
    if judged.claim.effect:
        return judged.claim.effect
    if judged.deciding is None:
        return judged.claim.evidence
    p = judged.p[list(judged.claim.tests).index(judged.deciding)]
    return f"{cells.effect(judged.deciding)}, {cells.p_value(p)}"


def belongs(found: Variation) -> str:
    """The names of what does not depend on the axis: a whole table by its own name."""
    keys, every = found.belong(), found.keys()
    if not keys:
        return ""
    named: list[str] = []
    # A table as a whole, or else a line of it as a whole (`table1.3`), or else each figure.
    wholes = {
        key: next((name for name in _groups(key) if _whole(name, keys, every)), cells.short(key))
        for key in keys
    }
    for name in dict.fromkeys(wholes.values()):
        n = list(wholes.values()).count(name)
        named.append(f"{name} (all {n})" if n > 1 else name)
    return f"these belong to the paper's value of {found.axis.name} and are left out: {', '.join(named)}"


def _groups(key: str) -> list[str]:
    """`table1` and `table1.5_ms` of `ns3.table1.5_ms.mbps`."""
    parts = key.split(".")[1:]
    return [".".join(parts[:n]) for n in (1, 2) if n < len(parts)]


def _whole(group: str, keys: Sequence[str], every: Sequence[str]) -> bool:
    """Whether all figures of a group are among the keys, and more than one is."""
    here, there = (sum(group in _groups(key) for key in some) for some in (keys, every))
    return here > 1 and here == there


def claim_text(key: str) -> str:
    """The claim in the paper's words."""
    return paper.claims(key.partition(".")[0])[key].rstrip(".")


def measured(row: Row | None) -> tuple[float, float] | None:
    """A figure as a point with half of its interval; of a pattern the share of runs that have it, in
    percent; None: no number, or nothing there.
    """
    if row is None:
        return None
    if isinstance(row.rexmit, str) and row.share is not None:
        return 100 * row.share, 0.0
    plain = cells.plain(row.rexmit)
    if not isinstance(plain, int | float) or isinstance(plain, bool):
        return None
    half = (row.mean.high - row.mean.low) / 2 if row.mean else 0.0
    return float(plain), half if half == half else 0.0


def unit(row: Row) -> str:
    """The unit of its curve."""
    return "% of runs" if isinstance(row.rexmit, str) else row.unit


@dataclass(frozen=True)
class Kind:
    """What one panel of the figure shows: lines of one part of the study, with one definition and unit."""

    section: str
    definition: str
    unit: str


def curves(found: Variation) -> dict[Kind, list[Line]]:
    """Lines that make a curve: numbers with a unit or an interval, and shares of runs, that are there at two
    values at least and are not the same at all of them.
    """
    kept: dict[Kind, list[Line]] = {}
    for one in found.lines():
        row = one.first
        points = [point for point in map(measured, one.rows) if point]
        useful = unit(row) or row.mean is not None
        if row.grade == "set" or not useful or len(points) < 2 or len(set(points)) < 2:
            continue
        # Each pattern has a definition of its own.
        definition = "runs that show it" if isinstance(row.rexmit, str) else one.definition
        kept.setdefault(Kind(one.section, definition, unit(row)), []).append(one)
    return kept
