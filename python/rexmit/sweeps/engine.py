"""Who makes the blocks of a plan. An engine takes their numbers and hands back their files as they are done.

Another one is one more class with `made`, which calls `make` wherever it likes: `cluster_engine` does so on
Dask's workers.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rexmit.sweeps.block import Files, StoppedError, Watch, run_block

#: Why both are refused.
THREADS_OR_CLUSTER = "--threads are this process's, and --cluster has its own: local:4 is four of them"
#: How often the caller is asked, if nothing ends meanwhile.
ASK_EVERY_S = 0.1
#: Hears how many runs are under way and done in blocks that are not; whether to go on.
Ask = Callable[[int], bool]
#: A function of a module that makes a block as `run_block` does: of a text that all have, and of what the
#: block is, its number or any value.
Make = Callable[[str, Any, Watch | None, int | None], Files]


class Engine(Protocol):
    """Makes blocks. `blocks` is read as there is room, and what is handed back may be in any order."""

    #: Blocks that are made at a time.
    threads: int

    def made(
        self, plan_json: str, blocks: Iterable[Any], ask: Ask, make: Make = run_block
    ) -> Iterator[tuple[Any, Files]]:
        """Each block's number and files. Ends early once `ask` says no: of blocks under way there is what
        `make` gives of one that is stopped, if that is anything.
        """


@contextmanager
def engine_of(
    classes: Collection[str],
    cluster: Any = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
) -> Iterator[Engine]:
    """The engine that somebody asks for: the cluster of a name (`cluster`), or else threads of this process,
    or processes, if stacks have rules in Python. classes: of those rules.

    The classes have to be found by import there, too: those of a program's own `__main__` are not, and such
    runs follow one another here. Raises ValueError, with what to do, if there is no such cluster.
    """
    from rexmit.memory import limit

    if cluster is None:
        most = limit(max_memory)
        if any(name.startswith("__main__:") for name in classes):
            yield Threads(1, most)
        elif classes:
            from rexmit.running.processes import Processes

            yield Processes(threads, most)
        else:
            yield Threads(threads, most)
        return
    if threads is not None:
        raise ValueError(THREADS_OR_CLUSTER)
    from rexmit.sweeps.cluster import connected

    with connected(cluster, max_memory) as engine:
        yield engine


class Threads:
    """All cores of this process: a block for each thread, so that no thread waits for another's run.

    threads: default one a core.  max_memory: bytes, for all of them together.
    """

    def __init__(self, threads: int | None = None, max_memory: int | None = None) -> None:
        self.threads = threads or cores()
        self._memory = None if max_memory is None else max_memory // self.threads

    def made(
        self, plan_json: str, blocks: Iterable[Any], ask: Ask, make: Make = run_block
    ) -> Iterator[tuple[Any, Files]]:
        """As `Engine` says, on threads of this process."""
        todo, taking = iter(blocks), threading.Lock()
        done: queue.Queue[tuple[Any, Files] | BaseException | None] = queue.Queue(self.threads)
        stop, left_alone = threading.Event(), threading.Event()
        #: By thread.
        under_way: dict[int, int] = {}

        def put(what: tuple[Any, Files] | BaseException | None) -> None:
            while True:
                try:
                    return done.put(what, timeout=ASK_EVERY_S)
                except queue.Full:
                    if left_alone.is_set():
                        return None

        def work() -> None:
            try:
                while not stop.is_set():
                    with taking:
                        number = next(todo, None)
                    if number is None:
                        break

                    def watch(runs: int) -> bool:
                        under_way[threading.get_ident()] = runs
                        return not stop.is_set()

                    try:
                        files = make(plan_json, number, watch, self._memory)
                    finally:
                        under_way.pop(threading.get_ident(), None)
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
                if not stop.is_set() and not ask(sum(list(under_way.values()))):
                    stop.set()
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
            left_alone.set()
            for worker in workers:
                worker.join()


def cores() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        return os.cpu_count() or 1
