"""What may stand in each medium. Names of files, comments and texts of captures and scenarios are anybody's:
they move no cursor, turn no line around, and are no markup.

`visible` and `one_line` are for a terminal, `as_json` for JSON, `markdown`, `code`, `cell` and `fenced` for
Markdown, `markup` for HTML, `figure` for figures.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePath
from typing import Any, TextIO

from rexmit.screen.streams import printing

#: Control characters as Unicode draws them (␛ for escape); those above 127 have no picture.
_DRAWN: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}
#: What turns text around (bidirectional controls), breaks lines or is not seen: written as an escape.
_HIDDEN = (
    0xAD,
    0x61C,
    0x180E,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
)
_DRAWN |= {code: f"\\u{code:04x}" for code in _HIDDEN}
_DRAWN |= {code: f"\\U{code:08x}" for code in range(0xE0000, 0xE0080)}
#: Bytes of a name that are not UTF-8, as Python keeps them, and other halves of a pair.
_DRAWN |= {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}
_DRAWN |= {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)}
#: What JSON leaves as it is (it escapes control characters itself), as an escape of JSON's own.
_IN_JSON = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *_HIDDEN)}
_IN_JSON |= {code: f"\\udb40\\u{0xDC00 + code - 0xE0000:04x}" for code in range(0xE0000, 0xE0080)}
_IN_JSON |= {code: f"\\{drawn}" for code, drawn in _DRAWN.items() if 0xD800 <= code < 0xE000}
_IN_A_FIGURE: dict[int, int | str] = _DRAWN | {
    code: f"\\x{code:02x}" for code in (*range(32), *range(0x7F, 0xA0))
}
_IN_A_LINE = _DRAWN | {ord(c): 0x2400 + ord(c) for c in "\n\t"}

#: What begins markup in Markdown, wherever it stands.
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|&~$])")

#: A bar, with the backslashes before it.
_BARS = re.compile(r"(\\*)\|")


def visible(text: str) -> str:
    """The text with every control character but line breaks and tabs drawn instead of obeyed, and bytes that
    are not UTF-8 as `\\xNN`.
    """
    return text.translate(_DRAWN)


def without_folders(text: str, paths: Iterable[str]) -> str:
    """The text with each of the paths as the name of its file alone: whoever reads it has not the folders."""
    for path in filter(None, paths):
        text = text.replace(path, PurePath(path).name)
    return text


def one_line(text: str) -> str:
    """The same for a name, or whatever else has to stay in its line."""
    return text.translate(_IN_A_LINE)


def as_json(value: Any, indent: int | None = None, compact: bool = False) -> str:
    """As JSON in which nothing is obeyed. Who reads it gets each text as it was, but for bytes that are not
    UTF-8, which JSON cannot say: they are there as `\\xNN`, as the core writes them. compact: without blanks.
    """
    import json

    separators = (",", ":") if compact else None
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=False)
    return text.translate(_IN_JSON)


def json_pieces(value: Mapping[str, Any]) -> Iterator[str]:
    """`as_json(value, 1)` piece by piece. An iterator becomes a list, whose elements are never all in
    memory.
    """
    before = "{"
    for key, one in value.items():
        yield f"{before}\n {as_json(key)}: "
        before = ","
        if isinstance(one, Iterator):
            inner = "["
            for element in one:
                yield f"{inner}\n  " + as_json(element, 1).replace("\n", "\n  ")
                inner = ","
            yield "[]" if inner == "[" else "\n ]"
        else:
            yield as_json(one, 1).replace("\n", "\n ")
    yield "\n}"


def markdown(text: str) -> str:
    """As plain words within a line of Markdown, or a cell of a table."""
    return _MARKS.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """As code within a line of Markdown, or a cell of a table."""
    text = one_line(text)
    ticks = "`" * (_longest(text) + 1)
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    # In a table even code is cut at a bar; elsewhere the backslash is seen.
    return f"{ticks}{pad}{text}{pad}{ticks}".replace("|", "\\|")


def cell(source: str) -> str:
    """What is Markdown already, as a cell of a table: bars and line breaks would end it."""
    return _BARS.sub(lambda m: m[1] + ("|" if len(m[1]) % 2 else "\\|"), one_line(source))


def fenced(text: str) -> list[str]:
    """As lines of a block of code in Markdown."""
    fence = "`" * max(3, _longest(text) + 1)
    return [fence, *visible(text).split("\n"), fence]


def _longest(text: str) -> int:
    """The longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def markup(text: str) -> str:
    """As text or the value of an attribute in HTML."""
    return whole_page(visible(text))


def whole_page(page: str) -> str:
    """A page of ours as the value of an attribute; nothing in it changes: its script is known by its hash."""
    import html

    return html.escape(page, quote=True)


def figure(text: str) -> str:
    """As a label in a figure, where matplotlib takes what is between dollars for a formula. What its font has
    no picture of, those of control characters among it, is written as an escape.
    """
    known = _glyphs()
    text = text.translate(_IN_A_FIGURE)
    return "".join(c if ord(c) in known else _escape(ord(c)) for c in text).replace("$", r"\$")


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


@functools.cache
def _glyphs() -> frozenset[int]:
    """What the font of figures can draw."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return frozenset(get_font(findfont(FontProperties(family=["sans-serif"]))).get_charmap())


def tell(text: object, to: TextIO | None = None) -> None:
    """Prints one line for a person; on stderr if nothing else is said. Nobody has to be able to read that."""
    if to is not None:
        with printing():
            print(one_line(str(text)), file=to)
        return
    with suppress(OSError, ValueError):
        print(one_line(str(text)), file=sys.stderr, flush=True)
