"""Files of folders that anybody may have changed: a sentence for what is no file of rexmit's."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from rexmit.files.not_written import sentence
from rexmit.files.reach import WITHIN, placed


def contents(path: Path) -> bytes:
    """What is in a regular file: pipes and devices may never end. Raises ValueError, with its name, for
    another, for one that cannot be read and for one that may not be (`rexmit.files.reach`).
    """
    check(path)
    reach = WITHIN.get()
    try:
        return path.read_bytes() if reach is None else reach.read(path)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {sentence(error)}") from None


def check(path: Path) -> None:
    """Raises ValueError, with its name, for what is no regular file."""
    try:
        kind = placed(path).stat().st_mode
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {sentence(error)}") from None
    if not stat.S_ISREG(kind):
        raise ValueError(f"{path}: is {'a directory' if stat.S_ISDIR(kind) else 'no regular file'}")


def within(folder: Path, name: str) -> Path:
    """The path of a file of a folder. Raises ValueError if links lead it out of the folder, which may be a
    stranger's.
    """
    path = folder / name
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None
    if not inside:
        raise ValueError(f"{path}: leads out of {folder}, and a folder of results holds its own files")
    return path


def json_of(path: Path, fix: str = "") -> Any:
    """The value in a JSON file. Raises ValueError, with its name and the fix, for a file that is none."""
    try:
        return json.loads(contents(path).decode("utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise ValueError(f"{path}: is no JSON, or cut off{fix and '; ' + fix}") from None
