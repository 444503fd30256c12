"""Who makes the blocks of a plan. An engine takes their numbers and hands back their files as they are done.

Another one, on a cluster say, is one more class with `made`: it calls `run_block` wherever it likes.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from rexmit.sweeps.block import Files, StoppedError, run_block

#: How often the caller is asked, if nothing ends meanwhile.
ASK_EVERY_S = 0.1
#: Hears how many runs are under way and done in blocks that are not; whether to go on.
Ask = Callable[[int], bool]


class Engine(Protocol):
    """Makes blocks. `blocks` is read as there is room, and what is handed back may be in any order."""

    def made(self, plan_json: str, blocks: Iterable[int], ask: Ask) -> Iterator[tuple[int, Files]]:
        """Each block's number and files. Ends early once `ask` says no: blocks under way are left out."""


class Threads:
    """All cores of this process: a block for each thread, so that no thread waits for another's run.

    threads: default one a core.  max_memory: bytes, for all of them together.
    """

    def __init__(self, threads: int | None = None, max_memory: int | None = None) -> None:
        self.threads = threads or cores()
        self._memory = None if max_memory is None else max_memory // self.threads

    def made(self, plan_json: str, blocks: Iterable[int], ask: Ask) -> Iterator[tuple[int, Files]]:
        """As `Engine` says, on threads of this process."""
        todo, taking = iter(blocks), threading.Lock()
        done: queue.Queue[tuple[int, Files] | BaseException | None] = queue.Queue(self.threads)
        stop = threading.Event()
        under_way: dict[int, int] = {}

        def put(what: tuple[int, Files] | BaseException | None) -> None:
            while True:
                try:
                    return done.put(what, timeout=ASK_EVERY_S)
                except queue.Full:
                    if stop.is_set():
                        return None

        def work() -> None:
            try:
                while not stop.is_set():
                    with taking:
                        number = next(todo, None)
                    if number is None:
                        break

                    def watch(runs: int, number: int = number) -> bool:
                        under_way[number] = runs
                        return not stop.is_set()

                    try:
                        files = run_block(plan_json, number, watch, self._memory)
                    finally:
                        under_way.pop(number, None)
                    put((number, files))
            except StoppedError:
                pass
            except BaseException as error:
                put(error)
            put(None)

        workers = [threading.Thread(target=work, daemon=True) for _ in range(self.threads)]
        for worker in workers:
            worker.start()
        left = len(workers)
        try:
            while left:
                if not ask(sum(list(under_way.values()))):
                    return
                try:
                    found = done.get(timeout=ASK_EVERY_S)
                except queue.Empty:
                    continue
                if found is None:
                    left -= 1
                elif isinstance(found, BaseException):
                    raise found
                else:
                    yield found
        finally:
            stop.set()
            for worker in workers:
                worker.join()


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1
