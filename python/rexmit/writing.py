"""Files that are there whole or not at all, and what is said of those that are not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path


class NotWrittenError(Exception):
    """Files that could not be written; the message names each and says why. The others are there."""


class Writing:
    """Writes files one by one: each is there whole or not at all, and what fails spares the others."""

    def __init__(self) -> None:
        #: Why, and the files.
        self.lacking: dict[str, list[str]] = {}

    @contextmanager
    def whole(self, *paths: Path) -> Iterator[None]:
        """What happens inside writes these files."""
        try:
            yield
        except OSError as error:
            self.lacking.setdefault(sentence(error), []).extend(map(str, paths))
            remove(paths)
        except BaseException:
            remove(paths)
            raise

    def lacks(self, path: Path) -> bool:
        """Whether this file was not written."""
        return any(str(path) in files for files in self.lacking.values())

    def done(self) -> None:
        """Raises NotWrittenError if anything is lacking."""
        if self.lacking:
            told = (f"{', '.join(files)}: {why}" for why, files in self.lacking.items())
            raise NotWrittenError("not written: " + "; ".join(told))


def sentence(error: OSError) -> str:
    """What the system says of an error, without the number that the core's errors have in their words."""
    told = os.strerror(error.errno) if error.errno else error.strerror or str(error)
    return told.partition(" (os error")[0].lower()


def remove(paths: Sequence[Path]) -> None:
    """Removes what there is of these files."""
    for path in paths:
        with suppress(OSError):
            path.unlink()
