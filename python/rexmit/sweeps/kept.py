"""Listed runs that a folder keeps while they are made: whoever is killed loses the blocks under way, and the
same call goes on with the rest.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rexmit.sweeps.numbered import Numbered
from rexmit.sweeps.places import Local, Unnamed

if TYPE_CHECKING:
    from rexmit import _core
    from rexmit.sweeps.block import Files

#: Says how the runs are cut into blocks.
CUT = "cut.json"


class Kept(Local):
    """A folder; what is not to stay is beside it, for this process only."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.aside = Unnamed()

    def read(self, name: str) -> bytes | None:
        content = self.aside.read(name)
        return super().read(name) if content is None else content

    def names(self, folder: str) -> list[str]:
        return sorted({*super().names(folder), *self.aside.names(folder)})

    def open(self, name: str) -> Any:
        return super().open(name) if self.aside.read(name) is None else self.aside.open(name)


class Blocks(Numbered):
    """Blocks of listed runs: in memory or, if a folder is named, kept there."""

    def __init__(self, folder: str | None, last: str, size: int) -> None:
        self._kept = None if folder is None else Kept(folder)
        super().__init__(self._kept or Unnamed(), last)
        #: Runs of a block: as they were cut when the first of them was made.
        self.size = size
        if self._kept:
            cut = self._kept.read(CUT)
            self.size = size if cut is None else _size(cut, f"{folder}/{CUT}")
            if cut is None:
                self._kept.write(CUT, json.dumps({"size": size}).encode())

    def keep_block(self, number: int, files: Files, runs: int) -> None:
        """Puts the files of a block there; where it lacks something, for this process only: it is made again
        later. Raises NotWrittenError.
        """
        if self._kept is None or self._is_whole(files, runs):
            self.keep(number, files)
        else:
            Numbered(self._kept.aside, self._last).keep(number, files)

    def _is_whole(self, files: Files, runs: int) -> bool:
        """One that was stopped has some of its runs; one for which there was no room lacks rows."""
        told = json.loads(files[self._last])
        return len(told["runs"]) == runs and not told["warnings"]


def _size(cut: bytes, name: str) -> int:
    """Raises ValueError, with the file, for what says no size."""
    try:
        size = json.loads(cut)["size"]
    except (ValueError, TypeError, KeyError, RecursionError):
        size = None
    if type(size) is not int or size < 1:
        raise ValueError(f"{name}: does not say how runs are cut into blocks; remove the folder of that file")
    return size


def folder_of(
    into: str | os.PathLike[str],
    variants: Sequence[_core.Variant],
    plan: Sequence[tuple[int, int | None]],
    options: dict[str, Any],
) -> str:
    """The folder of these very runs within `into`, by a digest of all that they come of: others may lie
    beside them. Raises ScenarioError.
    """
    from rexmit import _core

    whole = [_core.__version__, options, list(plan), [_core.resolve(variant) for variant in variants]]
    told = json.dumps(whole, sort_keys=True, default=list)
    return os.path.join(os.fspath(into), hashlib.sha256(told.encode()).hexdigest()[:16])
