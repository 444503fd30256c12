"""How many figures of a paper came out, and how well: the count that a study leads with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rexmit.report.grades import GRADES, Grade
from rexmit.screen.units import count
from rexmit_studies.cells import p_value

if TYPE_CHECKING:
    from rexmit_studies.study import Row, Statement, Together

REPRODUCED: tuple[Grade, ...] = ("exact", "mean", "scatter")

#: What a row shows of its grade, where nothing else is to be said.
MARKS: dict[Grade, str] = {
    "exact": "=",
    "mean": "= mean",
    "scatter": "= scatter",
    "no": "≠",
    "fitted": "fitted",
    "set": "set",
}


def counted(rows: Sequence[Row]) -> dict[Grade, int]:
    """Rows by their grade, all grades in order."""
    return {grade: sum(row.grade == grade for row in rows) for grade in GRADES}


def mark(row: Row) -> str:
    """The grade as a cell: `= scatter 6%` where 6% of the runs are as far out as the paper's figure."""
    if row.grade == "scatter" and row.share is not None:
        return f"= {row.share:.0%}" if row.share >= 0.005 else "= <1%"
    return MARKS[row.grade]


#: Whether what the paper says of a figure is so here.
AGREES = {True: "=", False: "≠", None: "open"}


def agrees(one: Statement) -> str:
    """How a statement of the paper stands beside what ours shows."""
    return "scripted" if one.scripted and one.agrees else AGREES[one.agrees]


def told(rows: Sequence[Row]) -> str:
    """`Of the 30 figures that could have come out otherwise 12 are reproduced (…) and 18 are not.`"""
    found = counted(rows)
    same, free = sum(found[grade] for grade in REPRODUCED), len(rows) - found["set"] - found["fitted"]
    parts = ", ".join(f"{found[grade]} {GRADES[grade]}" for grade in REPRODUCED)
    return (
        f"Of the {count(free, 'figure')} that could have come out otherwise {same} are reproduced ({parts}) "
        "and "
        f"{found['no']} are not. Others say nothing: {found['fitted']} fitted or scripted, {found['set']} set"
    )


def statements_told(statements: Sequence[Statement]) -> str:
    """What the paper says of its figures, counted; what a run was told to show says nothing."""
    free = [one for one in statements if not one.scripted]
    agree, not_ = (sum(one.agrees is sign for one in free) for sign in (True, False))
    open_ = len(free) - agree - not_
    more = f", {open_} cannot be told" if open_ else ""
    more += (
        f"; scripted, and not counted: {len(statements) - len(free)}" if len(free) < len(statements) else ""
    )
    said = count(len(free), "statement")
    return f"of {said} of the paper on its figures {agree} agree with ours, {not_} do not{more}"


def together_told(group: Together) -> str:
    """One group of rows that was judged at once."""
    size = count(len(group.keys), "figure")
    if group.share is None or group.p is None:
        return f"{group.name}: too few runs, or figures that stand alone, to say whether they stand together"
    verdict = {
        True: "stand together too",
        False: "do not stand together",
        None: "may stand together: the runs are too few to refuse any of so many groups",
    }[group.reproduced]
    as_far = f"{group.share:.0%} of {group.n} runs are as far from the others, {p_value(group.p)}"
    return f"{group.name}: {size} that stand alone {verdict} ({as_far})"
