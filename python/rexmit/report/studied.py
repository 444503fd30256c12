"""The folder that `rexmit study run --out` wrote, as a page tells it: answers, and rexmit's own figures."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from rexmit.files.reading import contents, json_of, within
from rexmit.report.grades import GRADES

Row = dict[str, Any]

RESULTS = "results.json"
AGAIN = "write it again: rexmit study run NAME --out DIR"
FORMAT = 1


def is_study(folder: Path) -> bool:
    """Whether this is such a folder."""
    return (folder / RESULTS).is_file()


def name(folder: Path) -> str:
    """What the study in it is called. Raises ValueError as `read` does."""
    return str(_answer(folder)["study"])


def read(folder: Path) -> Row:
    """The answer of the study in it (docs/studies.md), with its `figures` as SVG.

    Raises ValueError, with the file, for one that `rexmit study` did not write, and for several.
    """
    answer = _answer(folder)
    answer["grade_words"] = dict(GRADES)
    answer["figures"] = figures(folder, f"{answer['study']}/figures")
    return answer


def _answer(folder: Path) -> Row:
    found = json_of(folder / RESULTS, AGAIN)
    answers = found.get("studies", [found]) if isinstance(found, dict) else None
    wanted = ("study", "title", "rows", "claims", "statements", "grades")
    if not isinstance(answers, list) or not answers:
        raise ValueError(f"{folder / RESULTS}: is no answer of rexmit study; {AGAIN}")
    for answer in answers:
        if not isinstance(answer, dict) or any(key not in answer for key in wanted):
            raise ValueError(f"{folder / RESULTS}: is no answer of rexmit study; {AGAIN}")
        if answer.get("format", FORMAT) != FORMAT:
            raise ValueError(f"{folder / RESULTS}: format is not {FORMAT}: another version wrote it; {AGAIN}")
    if len(answers) > 1:
        names = ", ".join(str(answer["study"]) for answer in answers)
        raise ValueError(f"{folder}: holds several studies ({names}); run one of them into a folder")
    return dict(answers[0])


def figures(folder: Path, place: str) -> list[Row]:
    """The figures at a place in a folder, by name. Raises ValueError for one that lies elsewhere."""
    if not within(folder, place).is_dir():
        return []
    there = sorted((folder / place).iterdir())
    found = [
        within(folder, f"{place}/{path.name}")
        for path in there
        if path.suffix in (".svg", ".png") and path.is_file()
    ]
    return [{"name": path.stem, "svg": _svg(path)} for path in found]


def _svg(path: Path) -> str:
    """A figure as SVG; a bitmap is put into one."""
    data = contents(path)
    if path.suffix == ".svg":
        return data.decode("utf-8", "replace")
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
        raise ValueError(f"{path}: is no PNG; {AGAIN}")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    held = base64.b64encode(data).decode("ascii")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}"><image width="{width}" height="{height}" '
        f'href="data:image/png;base64,{held}"/></svg>'
    )
