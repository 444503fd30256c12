"""A lock on a folder: a file in it, locked by the kernel, so that who is killed leaves no lock."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from rexmit.files.not_written import NotWrittenError

try:
    import fcntl
except ImportError:  # Windows, which has no such locks: the last one wins
    fcntl = None  # type: ignore[assignment]


class Lock:
    """Held from its making until `release`. Raises NotWrittenError, with the process, if another holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = self._take()
        with suppress(OSError):  # a full disk: then nobody learns who
            os.ftruncate(self._fd, 0)
            os.write(self._fd, f"{os.getpid()}\n".encode())

    def _take(self) -> int:
        while True:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            fd = os.open(self._path, flags, 0o644)
            try:
                if fcntl is not None:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.read(fd, 32).decode("ascii", "replace").strip()
                os.close(fd)
                who = f"process {holder}" if holder.isdecimal() else "another process"
                raise NotWrittenError(
                    f"{self._path.parent}: {who} writes there; name another folder, or wait for its end"
                ) from None
            except OSError:
                return fd  # a file system without locks
            # Whoever held it may have removed the file between opening and locking it.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(fd), os.stat(self._path, follow_symlinks=False)):
                    return fd
            os.close(fd)

    def release(self) -> None:
        """Gives it up, and removes the file while it is still locked."""
        with suppress(OSError):
            self._path.unlink()
        os.close(self._fd)
