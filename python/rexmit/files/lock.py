"""A lock on a folder: a file in it, locked by the kernel, so that a process that is killed leaves no lock."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from rexmit.files.not_written import NotWrittenError
from rexmit.files.reading import contents

#: Errors of file systems without locks, such as NFS without its lock service: there nothing is locked.
NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class Lock:
    """Held from its making until `release`. Raises NotWrittenError, with the process, if another holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = FileLock(path, timeout=0, thread_local=False, fallback_to_soft=False)
        try:
            self._lock.acquire()
        except Timeout:
            raise NotWrittenError(
                f"{path.parent}: {_holder(path)} writes there; name another folder, or wait for its end"
            ) from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        with suppress(OSError):  # a full disk: then the message of the process that is refused names nobody
            fd = os.open(path, os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0))
            with open(fd, "w") as file:
                file.write(f"{os.getpid()}\n")

    def release(self) -> None:
        """Gives it up, and removes the file before: the library takes no lock on a file that was removed."""
        with suppress(OSError):
            self._path.unlink()
        self._lock.release()


def _holder(path: Path) -> str:
    """The process that a lock's file names."""
    with suppress(OSError, ValueError):
        if (pid := contents(path).decode("ascii", "replace").strip()).isdecimal():
            return f"process {pid}"
    return "another process"
