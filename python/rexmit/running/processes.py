"""Blocks of runs in processes of their own: of stacks with rules in Python, which one interpreter asks in
turn.

Whether threads or processes make them, the rows are the same.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from rexmit.sweeps.block import Files, run_block

if TYPE_CHECKING:
    from rexmit.sweeps.engine import Make

#: How often the caller is asked, if nothing ends meanwhile.
ASK_EVERY_S = 0.1


class Processes:
    """Blocks of a sweep whose runs ask Python, in several processes (an `Engine` of rexmit.sweeps.engine).

    threads: processes of one thread, default one a core.  max_memory: bytes, for all of them together.
    """

    def __init__(self, threads: int | None = None, max_memory: int | None = None) -> None:
        from rexmit.sweeps.engine import cores

        self.threads = threads or cores()
        self._memory = None if max_memory is None else max_memory // self.threads

    def made(
        self, plan_json: str, blocks: Iterable[Any], ask: Callable[[int], bool], make: Make = run_block
    ) -> Iterator[tuple[Any, Files]]:
        """As `Engine` says."""
        todo = iter(blocks)
        waiting: dict[Future[Files], Any] = {}
        with _pool(self.threads) as pool:
            while True:
                with without_main():
                    for number in islice(todo, 2 * self.threads - len(waiting)):
                        waiting[pool.submit(make, plan_json, number, None, self._memory)] = number
                if not waiting or not ask(0):
                    return
                for future in wait(waiting, timeout=ASK_EVERY_S, return_when=FIRST_COMPLETED)[0]:
                    number = waiting.pop(future)
                    with _told():
                        files = future.result()
                    yield number, files


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        raise RuntimeError("a process of the runs was killed from outside, or ran out of memory") from None


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with this block, whatever they are about."""
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_begin)
    try:
        yield pool
    finally:
        started = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in started:
            process.terminate()
        for process in started:
            process.join()


@contextmanager
def without_main() -> Iterator[None]:
    """A program's own file is not run again in each process: nothing of it is asked for there."""
    main = sys.modules["__main__"]
    names = vars(main)
    hidden: dict[str, Any] = {name: names.pop(name) for name in ("__file__", "__spec__") if name in names}
    names["__spec__"] = None
    try:
        yield
    finally:
        names.update(hidden)


def _begin() -> None:
    """Ctrl-C is for whoever waits for the runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
