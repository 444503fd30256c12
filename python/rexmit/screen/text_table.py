"""Rows of text as aligned lines.

Not `rich.table`: lines here are the same on a terminal, in a file and in a test, whatever the width, and cost
no import.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

FIRST = frozenset({0})


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = FIRST) -> list[str]:
    """A line for each row, two spaces between columns: the columns `left` flush left, the others flush right.

    All rows have as many cells as the first.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            f"{cell:<{w}}" if i in left else f"{cell:>{w}}"
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def indented(rows: Sequence[Sequence[str]], left: Collection[int] = FIRST) -> list[str]:
    """The same as lines of a page: two spaces before, none behind."""
    return [f"  {line}".rstrip() for line in aligned(rows, left)]
