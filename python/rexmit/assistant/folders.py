"""Which files an assistant may name: below some folders to read, below one to write."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rexmit.screen.say import one_line

#: Keys of a scenario that name a stack: one of rexmit's own, or a file.
STACKS = ("stack", "receiver", "based_on")


class RefusedError(ValueError):
    """What was asked for is outside of what the server was given; the message says what it was given."""


class Folders:
    """Folders that were named as the server began. Links are followed: what counts is where they end."""

    def __init__(self, read: list[str], write: str | None = None) -> None:
        self.read = [_folder(name) for name in read]
        self.write = _folder(write) if write is not None else None
        self._below = [*self.read, *([self.write] if self.write else [])]

    def to_read(self, name: str, beside: Path | None = None) -> Path:
        """A file or folder that may be read. A relative name counts from `beside`, else from the first folder
        in which it is.

        Raises RefusedError if it is outside, or is not there.
        """
        if "\0" in name or not name:
            raise RefusedError(f"{name!r} is no name of a file")
        given = Path(name).expanduser() if name.startswith("~/") else Path(name)
        bases = [beside] if beside is not None else self._below
        tried = [given] if given.is_absolute() else [base / given for base in bases]
        inside = [path for path in (_resolved(t) for t in tried) if self._is_below(path)]
        if not inside:
            raise RefusedError(f"{one_line(name)} is outside the folders that may be read: {self.listed()}")
        found = next((path for path in inside if path.exists()), None)
        if found is None:
            raise RefusedError(f"there is no {one_line(name)} below {self.listed()}")
        return found

    def to_write(self, name: str) -> Path:
        """A new folder below the one for results. Raises RefusedError if there is none, or it is outside."""
        if self.write is None:
            raise RefusedError("nothing can be written: the server was started without --write DIR")
        path = _resolved(self.write / name) if name and "\0" not in name else self.write
        if path == self.write or not path.is_relative_to(self.write):
            raise RefusedError(f"{one_line(name)} is not below {self.write}, where results are written")
        return path

    def check_scenario(self, text: str, folder: Path, overrides: Mapping[str, str]) -> None:
        """A scenario names no file that may not be read: traces, and stacks in files of their own.

        Raises RefusedError for the first that does. What is no TOML is left to whoever reads it for good.
        """
        said = list(_texts("", _read(text)))
        for key, value in overrides.items():
            # As TOML where it is, else as text, like `--set`.
            said += _texts(key.rpartition(".")[2], _read(f"value = {value}").get("value", value))
        for key, value in said:
            if _names_file(key, value):
                self.to_read(value, beside=folder)

    def listed(self) -> str:
        """The folders, in words."""
        return ", ".join(one_line(str(folder)) for folder in self._below)

    def shown(self, path: Path) -> str:
        """A path as an assistant names it: from the folder in which it is."""
        base = next((folder for folder in self._below if path.is_relative_to(folder)), None)
        return str(path.relative_to(base)) if base else str(path)

    def _is_below(self, path: Path) -> bool:
        return any(path.is_relative_to(folder) for folder in self._below)


def _folder(name: str) -> Path:
    path = Path(name).resolve()
    if not path.is_dir():
        raise RefusedError(f"{one_line(name)} is no folder")
    return path


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise RefusedError(f"{one_line(str(path))}: {error}") from None


def _read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _texts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Every text of a scenario with the last part of its key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _texts(name, part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(key, part)


def _names_file(key: str, value: str) -> bool:
    """Whether a text is taken for the name of a file: of a trace, or of a stack where it looks like one."""
    return key == "file" or (key in STACKS and (value.endswith(".toml") or "/" in value or "\\" in value))
