"""Whether a fuzzed call opens or changes what it must not, and what it logs."""

from __future__ import annotations

import ctypes
import logging
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fuzzing import FaultError

ROOT = Path(__file__).resolve().parents[1]


class Watched:
    """Whether anything outside is opened: by the core as inotify tells, by Python as audit events tell."""

    #: IN_OPEN, IN_ACCESS, IN_MODIFY, IN_CREATE, IN_DELETE, IN_MOVED_FROM, IN_MOVED_TO.
    MASK = 0x20 | 0x1 | 0x2 | 0x100 | 0x200 | 0x40 | 0x80
    #: What Python itself, its packages and the system may be read for.
    OTHERS = (
        "/proc/self",
        "/proc/meminfo",
        "/sys/fs/cgroup",
        "/dev/null",
        "/dev/urandom",
        "/etc",
        "/usr",
        "/lib",
    )
    FILES = (
        "open",
        "os.listdir",
        "os.scandir",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "os.symlink",
        "os.rmdir",
    )
    STARTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.fork", "socket.connect")

    def __init__(self) -> None:
        self.inside: tuple[str, ...] = ()
        self.seen: list[str] = []
        self.on = False
        homes = (sys.prefix, sys.base_prefix, *(f"{ROOT}/{name}" for name in ("python", "fuzz", "stacks")))
        kept = (os.path.expanduser("~/.cache"), os.path.expanduser("~/.config/matplotlib"))
        self._known = (*self.OTHERS, f"/proc/{os.getpid()}", *homes, *kept)
        sys.addaudithook(self._hear)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_NONBLOCK)

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event in self.STARTS:
            self.seen.append(f"{event} {given!r}"[:300])
        # A relative name counts from a folder that is open, and was looked at then.
        if (
            event in self.FILES
            and isinstance(given[0], (str, bytes, os.PathLike))
            and os.path.isabs(given[0])
        ):
            path = os.path.realpath(os.fsdecode(given[0]))
            if not path.startswith((*self.inside, *self._known)):
                self.seen.append(f"{event} {path}")

    @contextmanager
    def over(self, read: Path, results: Path, out: Path) -> Iterator[None]:
        """While calls are made: files of `read` may be read, `results` written, and `out` is outside."""
        self.inside = (str(read), str(results))
        watch = self._libc.inotify_add_watch(self._fd, os.fsencode(out), self.MASK)
        assert watch >= 0, os.strerror(ctypes.get_errno())
        before = listing(read)
        try:
            yield
        finally:
            self._libc.inotify_rm_watch(self._fd, watch)
            changed = set(listing(read)) ^ set(before)
        if changed:
            raise FaultError("outside", f"changed where only reading is allowed: {sorted(changed)[:5]}")

    @contextmanager
    def call(self, python: bool = True) -> Iterator[None]:
        """Raises FaultError for what was opened in the block; python: as audit events tell, too."""
        self.on = python
        try:
            yield
        finally:
            self.on = False
            found, self.seen[:] = [*self.seen, *self._told()], []
        if found:
            raise FaultError("outside", "\n".join(found[:10]))

    def _told(self) -> Iterator[str]:
        try:
            events = os.read(self._fd, 1 << 16)
        except BlockingIOError:
            return
        while events:
            _, mask, _, length = struct.unpack_from("iIII", events)
            name = events[16 : 16 + length].rstrip(b"\0").decode("utf-8", "replace")
            events = events[16 + length :]
            if mask & self.MASK:
                yield f"inotify {mask & 0xFFF:#x} {name or 'the folder itself'}"


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """All that is below a folder; no link is followed."""
    found = []
    for base, folders, files in os.walk(folder):
        for name in (*folders, *files):
            told = os.lstat(os.path.join(base, name))
            found.append((os.path.join(base, name), told.st_size, told.st_mtime_ns))
    return found


class Log(logging.Handler):
    """What the server logs with a traceback."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(logging.Formatter().format(record))
