"""The page of `rexmit report` as a value: a notebook shows it in a cell."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rexmit.files.destination import check_file
from rexmit.files.whole import write
from rexmit.report import document, make
from rexmit.report.source import sources
from rexmit.screen.say import markup, one_line, whole_page

if TYPE_CHECKING:
    from rexmit.api import Capture

#: Of a cell, pixels.
HEIGHT = 820


class Report:
    """A page that is complete: nothing is loaded from elsewhere. Made by `Capture.report`."""

    def __init__(self, capture: Capture, *, anonymize: bool = False) -> None:
        hide = make.hidden([capture]).apply if anonymize else make.shown
        page = make.of_capture(sources(capture), capture.command, hide)
        self.html = b"".join(document.document(page.meta, page.blobs.items()))
        #: Sentences about what it does not show.
        self.notes = page.notes
        self._title = str(page.meta["title"])

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes it, whole or not at all.

        Raises ValueError where a file is that rexmit did not write, unless `overwrite`, and NotWrittenError.
        """
        check_file(path, document.is_ours, overwrite)
        write(Path(path), [self.html])

    def __repr__(self) -> str:
        return f"<{one_line(f'report of {self._title}: {len(self.html):,} bytes')}>"

    def _repr_html_(self) -> str:
        # Apart from the notebook: its script sees nothing of it.
        page, title = whole_page(self.html.decode()), markup(one_line(self._title))
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" title="{title}" '
            f'style="width: 100%; height: {HEIGHT}px; border: 0" srcdoc="{page}"></iframe>'
        )
