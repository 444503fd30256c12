"""`--report` beside `--out`: the page of what was found, into its folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.report import make
from rexmit.report.document import document
from rexmit.report.source import sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit.api import Capture
    from rexmit.report.make import Made
    from rexmit.report.source import Row

#: Its name in the folder.
NAME = "report.html"


def of_capture(capture: Capture, path: Path) -> None:
    """Writes the page of a capture or a run."""
    _write(make.of_capture(sources(capture), capture.command), path)


def of_comparison(captures: Sequence[Capture], command: str, path: Path) -> None:
    """Writes the page of two captures or runs beside each other."""
    _write(make.of_comparison(captures, command), path)


def of_study(answer: Row, command: str, path: Path) -> None:
    """Writes the page of a study. answer: with its figures."""
    _write(make.of_study(answer, command), path)


def _write(page: Made, path: Path) -> None:
    with open(path, "wb") as out:
        out.writelines(document(page.meta, page.blobs.items()))
