"""Folders that exist as long as they are used, also if the process is killed.

A process that SIGKILL ends removes nothing. A second, small process waits until a pipe from this one is
closed, which the kernel does however this one ends, and then does what this one should have done.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

#: What stands for what killed runs of the live bench and of `rexmit record` leave: no path has this name.
LIVE = "//live"
#: How long an ending process waits for the other, s. That one then has nothing to do.
PATIENCE_S = 1
#: Reads lines of + or - and a name, in bytes that end in 0. At the end of its input it waits until its parent
#: has gone, whose locks are then free, and removes what was added and not taken back.
WATCH = """
import os, shutil, sys, time
parent, names = int(sys.argv[1]), []
for line in sys.stdin.buffer.read().split(b"\\0"):
    if line[:1] == b"+":
        names.append(line[1:])
    elif line[1:] in names:
        names.remove(line[1:])
for _ in range(500):
    if not names or os.getppid() != parent:
        break
    time.sleep(0.01)
for name in names:
    if name != sys.argv[2].encode():
        shutil.rmtree(name, ignore_errors=True)
    else:
        sys.path[:] = sys.argv[3:]
        from rexmit import _core
        _core.live_clean()
"""


class _Watcher:
    """The other process; it is started when the first thing is to be watched."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._owner = 0
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, name: str) -> None:
        """Has it removed if this process is killed."""
        self._say(b"+" + os.fsencode(name))

    def remove(self, name: str) -> None:
        """Takes it back: this process has removed it."""
        self._say(b"-" + os.fsencode(name))

    def _say(self, words: bytes) -> None:
        with self._lock:
            # A forked child starts one of its own.
            if self._owner != os.getpid():
                self._start()
            if self._process is None or self._process.stdin is None:
                return
            try:
                self._process.stdin.write(words + b"\0")
                self._process.stdin.flush()
            except OSError:
                self._process = None

    def _start(self) -> None:
        self._owner, self._process = os.getpid(), None
        # Not for Windows: it removes no folder in which a file is open. Where no process can be started, what
        # a killed one leaves stays until the next run.
        if os.name != "posix" or not sys.executable:
            return
        paths = [os.path.abspath(path) for path in sys.path if path]
        words = [sys.executable, "-I", "-S", "-c", WATCH, str(self._owner), LIVE, *paths]
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                # Ctrl-C and the end of a terminal reach this process only.
                start_new_session=True,
            )
        except OSError:
            return
        atexit.register(self._end, self._process)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        if self._owner != os.getpid() or process.stdin is None:
            return
        try:
            process.stdin.close()
            process.wait(PATIENCE_S)
        except (OSError, subprocess.TimeoutExpired):
            pass


_watcher = _Watcher()


@contextmanager
def folder(what: str = "") -> Iterator[Path]:
    """A temporary folder that only this user can read. what: a word for its name."""
    path = _new(what)
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)
        _watcher.remove(path)


def folder_of_process(what: str) -> str:
    """The same until this process ends."""
    path = _new(what)
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def _new(what: str) -> str:
    path = tempfile.mkdtemp(prefix=f"rexmit-{what}-" if what else "rexmit-")
    _watcher.add(path)
    return path


@contextmanager
def live() -> Iterator[None]:
    """While this lasts, the namespaces, folders and cgroups that the core makes are removed if this process
    is killed, as `rexmit live clean` does.
    """
    _watcher.add(LIVE)
    try:
        yield
    finally:
        _watcher.remove(LIVE)
