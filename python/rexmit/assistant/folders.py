"""Which files an assistant may name: below some folders to read, below one to write.

The core opens the files that are read. It follows names and links, and refuses what is outside.
"""

from __future__ import annotations

import os
from pathlib import Path

from rexmit import _core
from rexmit.files.not_written import sentence
from rexmit.screen.say import one_line


class RefusedError(ValueError):
    """What was asked for is outside of what the server was given; the message says what it was given."""


class Folders:
    """Folders that were named as the server began. Links are followed: what counts is where they end."""

    def __init__(self, read: list[str], write: str | None = None) -> None:
        self.read = [_folder(name) for name in read]
        self.write = _folder(write) if write is not None else None
        self._below = [*self.read, *([self.write] if self.write else [])]
        #: The folders again, for another process.
        self.named = [str(folder) for folder in self.read], None if write is None else str(self.write)
        #: What the core may open while it works for an assistant.
        self.reach = _core.Reach(self._below)

    def to_read(self, name: str) -> Path:
        """A file or folder that may be read, without links. A relative name counts from the first folder in
        which it is.

        Raises RefusedError if it is outside, or is not there.
        """
        given = _named(name)
        if name.startswith("~/"):
            given = given.expanduser()
        tried = [given] if given.is_absolute() else [base / given for base in self._below]
        inside = False
        for path in tried:
            try:
                return Path(self.reach.place(path))
            except _core.OutsideError:
                continue
            except (FileNotFoundError, NotADirectoryError):
                inside = True
            except OSError as error:
                raise RefusedError(f"{one_line(name)} cannot be read: {sentence(error)}") from None
        if not inside:
            raise RefusedError(f"{one_line(name)} is outside the folders that may be read: {self.listed()}")
        raise RefusedError(f"there is no {one_line(name)} below {self.listed()}")

    def to_write(self, name: str) -> Path:
        """A new folder below the one for results. Raises RefusedError if there is none, or it is outside."""
        if self.write is None:
            raise RefusedError("nothing can be written: the server was started without --write DIR")
        outside = f"{one_line(name)} is not below {self.write}, where results are written"
        path = self.write / _named(name)
        if path == self.write or ".." in path.parts or not path.is_relative_to(self.write):
            raise RefusedError(outside)
        # The deepest part that is there already, maybe by a link.
        there = next(one for one in (path, *path.parents) if os.path.lexists(one))
        try:
            place = Path(_core.Reach([self.write]).place(there))
        except (_core.OutsideError, OSError):
            raise RefusedError(outside) from None
        return place / path.relative_to(there)

    def listed(self) -> str:
        """The folders, in words."""
        return ", ".join(one_line(str(folder)) for folder in self._below)

    def shown(self, path: Path) -> str:
        """A path as an assistant names it: from the folder in which it is."""
        base = next((folder for folder in self._below if path.is_relative_to(folder)), None)
        return str(path.relative_to(base)) if base else str(path)


def _named(name: str) -> Path:
    """Raises RefusedError for what no file is called."""
    try:
        if name and "\0" not in name:
            os.fsencode(name)
            return Path(name)
    except UnicodeEncodeError:
        pass
    raise RefusedError(f"{one_line(repr(name))} is no name of a file")


def _folder(name: str) -> Path:
    path = Path(name).resolve()
    if not path.is_dir():
        raise RefusedError(f"{one_line(name)} is no folder")
    return path
