"""Captures at addresses that fsspec knows: found there, and copied to where they are analysed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rexmit.files.address import is_remote
from rexmit.files.passing import folder
from rexmit.sweeps.places import Remote, reached

#: Bytes that are copied at a time, between which whoever waits is asked.
PART = 4_000_000


def files(address: str, is_capture: Callable[[str], bool]) -> list[tuple[str, int, int]]:
    """Files at an address, a pattern of such or a folder: each one's address, bytes and time (ns since 1970;
    0 where the storage tells none). Of a folder those whose names `is_capture` takes, as no file is opened to
    see. Raises ValueError if the storage cannot be reached.
    """
    there = Remote(address)
    with reached(address, "cannot be read"):
        if any(sign in there.path for sign in "*?["):
            names = [name for name in there.files.glob(there.path) if not there.files.isdir(name)]
        elif there.files.isdir(there.path):
            names = [name for name in there.files.find(there.path) if is_capture(name.rpartition("/")[2])]
        else:
            names = [there.path] if there.files.exists(there.path) else []
        return [(there.files.unstrip_protocol(name), *_told(there.files, name)) for name in names]


def _told(files: Any, name: str) -> tuple[int, int]:
    told = files.info(name)
    for key in ("mtime", "LastModified", "last_modified", "updated", "created"):
        when = told.get(key)
        if hasattr(when, "timestamp"):
            when = when.timestamp()
        if isinstance(when, int | float):
            return int(told.get("size") or 0), round(when * 1e9)
    return int(told.get("size") or 0), 0


@contextmanager
def here(paths: Sequence[str], go_on: Callable[[], bool] = lambda: True) -> Iterator[list[str] | None]:
    """The same files under names of this machine: addresses are copied, and the copies go with the context;
    None once `go_on` says no. Raises OSError if one cannot be read.
    """
    if not any(map(is_remote, paths)):
        yield list(paths)
        return
    with folder("capture") as near:
        names: list[str] = []
        for k, path in enumerate(paths):
            if is_remote(path):
                # Its name says how it is compressed.
                path = _copied(path, os.path.join(near, f"{k:06d}-{path.rpartition('/')[2]}"), go_on)
                if not path:
                    yield None
                    return
            names.append(path)
        yield names


def _copied(address: str, name: str, go_on: Callable[[], bool]) -> str:
    there = Remote(address)
    try:
        with (
            open(name, "wb") as near,
            reached(address, "cannot be read"),
            there.files.open(there.path, "rb") as far,
        ):
            while part := far.read(PART):
                near.write(part)
                if not go_on():
                    return ""
    except ValueError as error:
        raise OSError(str(error)) from None
    return name
