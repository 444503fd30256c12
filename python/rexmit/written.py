"""What was written into a folder: a list in it, so that the next answer there leaves nothing of this one."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

#: One path a line, as seen from the folder.
LIST = ".rexmit-files"


def renew(folder: Path, files: Iterable[Path], inputs: Iterable[str] = ()) -> int:
    """Removes what the folder's list names and `files` does not, and folders that are empty then.

    Lists `files` instead; returns how many went. What is not on the list is somebody else's, and stays; so do
    `inputs`, which this answer is about.
    """
    before, read = _listed(folder), {Path(name).resolve() for name in inputs}
    kept = {name for name in before if (folder / name).resolve() in read}
    now = {path.relative_to(folder).as_posix() for path in files} | kept
    gone = 0
    for name in sorted(before - now):
        path = folder / name
        with suppress(FileNotFoundError):
            path.unlink()
            gone += 1
        _remove_empty(path.parent, folder)
    (folder / LIST).write_text("".join(f"{name}\n" for name in sorted(now)), encoding="utf-8")
    return gone


def _listed(folder: Path) -> set[str]:
    """The names on the list that lie in the folder, whatever somebody wrote there."""
    try:
        lines = (folder / LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    inside = folder.resolve()
    return {line for line in lines if line and inside in (folder / line).resolve().parents}


def _remove_empty(place: Path, top: Path) -> None:
    while place != top:
        try:
            place.rmdir()
        except OSError:
            return
        place = place.parent
