"""What a worker of a cluster does for an engine: it makes one block, by the plan's text and its number."""

from __future__ import annotations

import signal
import zlib
from functools import lru_cache
from typing import Any

from rexmit.sweeps.block import Files
from rexmit.sweeps.engine import Make

#: Of what a worker may take: as of what is free.
SHARE = 0.75


class OtherVersionError(Exception):
    """The worker has another rexmit than the client."""


def work(make: Make, packed: bytes, number: Any, version: str, max_memory: int | None) -> Files:
    """The files of a block. packed: the plan's text, compressed.  max_memory: bytes for all threads of the
    worker.

    Ends early once the task is cancelled: a thread cannot be ended from outside.
    """
    from distributed import get_worker

    from rexmit import _core

    worker = get_worker()
    if _core.__version__ != version:
        raise OtherVersionError(other_version(worker.address, _core.__version__, version))
    tasks, key = worker.state.tasks, worker.get_current_task()

    def watch(done: int) -> bool:
        task = tasks.get(key)
        return task is not None and task.state != "cancelled"

    return make(_unpacked(packed), number, watch, _memory(worker, max_memory))


def other_version(worker: str, found: str, expected: str) -> str:
    """The sentence for a worker that has another version."""
    return f"the worker {worker} has rexmit {found}, and here is {expected}: install {expected} there"


@lru_cache(maxsize=2)
def _unpacked(packed: bytes) -> str:
    return zlib.decompress(packed).decode()


def _memory(worker: Any, max_memory: int | None) -> int | None:
    """Bytes that one run may take: the share of a thread."""
    from rexmit.memory import limit

    if max_memory is None:
        most = worker.memory_manager.memory_limit
        max_memory = int(most * SHARE) if most else limit()
    return None if max_memory is None else max_memory // worker.state.nthreads


def dask_setup(worker: Any) -> None:
    """Of worker processes that a command starts itself. Ctrl-C reaches the whole group of a terminal, and is
    the command's to mind.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
