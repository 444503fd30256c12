"""What may go to a terminal: names of files are anybody's, and must not move its cursor or colour it."""

from __future__ import annotations

import sys
from typing import TextIO

#: Control characters as Unicode draws them (␛ for escape); those above 127 have no picture.
_DRAWN = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}


def visible(text: str) -> str:
    """The text with every control character but line breaks and tabs drawn instead of obeyed."""
    return text.translate(_DRAWN)


def tell(text: object, to: TextIO | None = None) -> None:
    """Prints a line for a person; on stderr if nothing else is said."""
    print(visible(str(text)), file=to or sys.stderr)
