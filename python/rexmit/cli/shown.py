"""Lines of an answer on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rexmit.cli.ending import ended
from rexmit.screen.say import visible
from rexmit.screen.streams import printing

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


def answer(lines: Sequence[str], failure: str | None) -> int:
    """Prints an answer, and says why it is not whole, if it is not; returns the exit code."""
    show(lines)
    return ended(failure)


def show(lines: Sequence[str]) -> None:
    """Prints lines of an answer, in what characters standard output has."""
    if lines:
        show_pieces(["\n".join(lines) + "\n"])


def show_pieces(pieces: Iterable[str]) -> None:
    """The same for text that comes piece by piece."""
    for piece in pieces:
        _show(visible(piece))


def _show(text: str) -> None:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        text = text.translate(ASCII).encode("ascii", "replace").decode("ascii")
    with printing():
        sys.stdout.write(text)
