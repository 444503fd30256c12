"""Lines of an answer on standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rexmit.say import visible
from rexmit.streams import printing

#: For terminals and pipes that cannot carry these.
ASCII = str.maketrans(
    {
        "→": "->",
        "…": "...",
        "─": "-",
        "═": "=",
        "▶": ">",
        "◀": "<",
        "✕": "X",
        "·": "-",
        "µ": "u",
        "×": "x",
        "≠": "!=",
        "±": "+-",
    }
)


def show(lines: Sequence[str]) -> None:
    """Prints lines of an answer, in what characters standard output has."""
    if not lines:
        return
    text = visible("\n".join(lines) + "\n")
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        text = text.translate(ASCII).encode("ascii", "replace").decode("ascii")
    with printing():
        sys.stdout.write(text)
