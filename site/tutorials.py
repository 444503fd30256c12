"""Tutorials are run as the site is built: what a block prints follows it, what it draws is the page's own.

Each block of commands is run in a folder like a reader's; blocks of Python are run in order, in one
program. A command that fails, or a picture that no block wrote, ends the build.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "validation"))
import documents  # noqa: E402

#: Folders of docs/ whose pages are run.
FOLDERS = ("tutorials", "questions")
#: Lines of what a command prints that a page shows; more are counted.
LINES = 70
#: What a block may write that its page shows: drawn into it, or beside it.
PICTURES, PAGES = (".svg", ".png"), (".html",)
ENVIRONMENT = Path(sys.prefix)
FACTS = documents.facts()


class FailedError(RuntimeError):
    """A page cannot be made; the message says which, where and why."""


def play(document: str, work: Path, pictures: Path, extra: Path) -> str:
    """A page with what its blocks printed.

    document: from the root of the checkout on. pictures, extra: the folders for what is drawn into the page,
    and for pages that it shows.
    """
    markdown = (ROOT / document).read_text(encoding="utf-8")
    place = documents.prepared(document, ENVIRONMENT, work / document.replace("/", "-"), FACTS)
    lines = markdown.splitlines()
    for end, printed in reversed(list(_run(markdown, document, place))):
        lines[end:end] = ["", "```text", *printed, "```", ""] if printed else []
    text = "\n".join(lines) + "\n"
    _collect(text, document, place, pictures, extra)
    return text


def _run(markdown: str, document: str, place: Path) -> Iterator[tuple[int, list[str]]]:
    """Runs every block in order; gives the line behind each and what it printed."""
    from markdown_it import MarkdownIt

    names: dict[str, Any] = {"__name__": "__main__"}
    for token in MarkdownIt().parse(markdown):
        if token.type != "fence" or token.info not in ("", "python"):
            continue
        piece = documents.Piece(document, token.map[0] + 2, token.content, python=token.info == "python")
        printed = _python(piece, place, names) if piece.python else _commands(piece, place)
        yield token.map[1], _cut(printed, place)


def _commands(block: documents.Piece, place: Path) -> list[str]:
    printed: list[str] = []
    for piece in documents.pieces(block.document, f"```\n{block.code}```\n", FACTS):
        entry = documents.entry_of(piece, FACTS) or {}
        if entry.get("apart") or documents.kind_of(piece, entry) == "live":
            continue
        done = documents.execute(["bash", "-e", "-c", entry.get("instead", piece.code)], place, ENVIRONMENT)
        if done.returncode:
            raise FailedError(f"{block.document}:{block.line}: {piece.code}: {done.stderr.strip()}")
        printed += done.stdout.splitlines()
    return printed


def _python(piece: documents.Piece, place: Path, names: dict[str, Any]) -> list[str]:
    out = io.StringIO()
    where = f"{piece.document}:{piece.line}"
    with contextlib.chdir(place), contextlib.redirect_stdout(out):
        try:
            exec(compile(piece.code, where, "exec"), names)
        except Exception as error:
            raise FailedError(f"{where}: {type(error).__name__}: {error}") from error
    return out.getvalue().splitlines()


def _cut(printed: list[str], place: Path) -> list[str]:
    lines = [line.replace(f"{place}/", "").rstrip() for line in printed]
    return lines if len(lines) <= LINES else [*lines[:LINES], f"… {len(lines) - LINES} more lines"]


def _collect(text: str, document: str, place: Path, pictures: Path, extra: Path) -> None:
    """What the page shows and a block has written."""
    for name in dict.fromkeys(re.findall(r"(?:\]\(|src=\")([\w.-]+)", text)):
        if not name.endswith(PICTURES + PAGES):
            continue
        if not (place / name).is_file():
            raise FailedError(f"{document}: no block wrote {name}")
        target = (pictures if name.endswith(PICTURES) else extra) / name
        if target.exists():
            raise FailedError(f"{document}: another page has a {name} already")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((place / name).read_bytes())
