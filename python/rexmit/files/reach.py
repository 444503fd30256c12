"""Which files may be read now: any, or those below some folders, whatever names them (`rexmit mcp`).

The core opens the files and decides (crates/reach); here stands what is handed to it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from rexmit import _core

#: None: any file.
WITHIN: ContextVar[_core.Reach | None] = ContextVar("WITHIN", default=None)


@contextmanager
def within(reach: _core.Reach | None) -> Iterator[None]:
    """Only files within `reach` are read in the block; None: any file is."""
    before = WITHIN.set(reach)
    try:
        yield
    finally:
        WITHIN.reset(before)


def placed(path: Path) -> Path:
    """The path; without links where not every file may be read.

    Raises ValueError for one that is outside, and OSError where there is none: in that order, so that nobody
    learns what there is outside.
    """
    reach = WITHIN.get()
    return path if reach is None else Path(reach.place(path))


def lexists(path: Path) -> bool:
    """Whether there is such a file, folder or link, wherever it leads. Raises ValueError as `exists` does."""
    try:
        return os.path.lexists(placed(path.parent) / path.name)
    except OSError:
        return False


def exists(path: Path) -> bool:
    """Whether there is such a file or folder. Raises ValueError for one that may not be read."""
    try:
        return placed(path).exists()
    except OSError:
        return False
