"""How many columns a page has."""

from __future__ import annotations

import shutil
import sys
from textwrap import wrap

#: Of a page that is not printed on a terminal, and of one on a wider terminal.
MOST = 100
#: On a narrower terminal a page is as wide as this.
LEAST = 40


def page_width() -> int:
    """Columns of the terminal that the page is printed on, from LEAST to MOST; else MOST."""
    if sys.stdout is None or sys.stdout.closed or not sys.stdout.isatty():
        return MOST
    return min(max(shutil.get_terminal_size((MOST, 40)).columns, LEAST), MOST)


def hanging(head: str, text: str, at: int | None = None) -> list[str]:
    """A text behind a head, broken where it would leave the page. Further lines begin below the text.

    Where less than half of the page is left for the text, it begins on a line of its own.

    at: the column at which the text begins, if that is not where the head ends.
    """
    columns, at = page_width(), len(head) if at is None else at
    if at <= columns // 2:
        first = f"{head:<{at}}"
        return wrap(text, columns, initial_indent=first, subsequent_indent=" " * at, break_on_hyphens=False)
    indent = " " * (len(head) - len(head.lstrip()) + 4)
    return [
        head.rstrip(),
        *wrap(text, columns, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False),
    ]
