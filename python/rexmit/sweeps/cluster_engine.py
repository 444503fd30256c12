"""Blocks made by the workers of a Dask cluster."""

from __future__ import annotations

import queue
import secrets
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import count, islice
from typing import Any

from distributed import CancelledError, Client, Future
from distributed.scheduler import KilledWorker

from rexmit.screen.say import one_line, tell
from rexmit.sweeps.block import Files, run_block
from rexmit.sweeps.cluster_worker import OtherVersionError, other_version, work
from rexmit.sweeps.engine import ASK_EVERY_S, Ask, Make

#: Blocks that each thread of the cluster has to hand: the next one lies there when one is done.
AHEAD = 2
#: How often is looked how many threads there are: workers come and go.
COUNT_EVERY_S = 1.0
#: Blocks whose files are fetched together.
TOGETHER = 8


class LostError(ConnectionError):
    """The cluster, or what its workers do, came to an end before the blocks did."""


class Dask:
    """The threads of all workers: `AHEAD` blocks for each are on the cluster, and no more, so that neither
    it nor this process holds more however many there are.

    A block whose worker dies is made again by another one, as Dask does (`allowed-failures` times). One
    whose workers die again and again, or that only lay beside such a one, is made alone after all others.
    max_memory: bytes, for the runs of one worker process.  name: as the user calls the cluster.
    Raises ValueError if a worker has another version of rexmit.
    """

    def __init__(self, client: Client, max_memory: int | None = None, name: str | None = None) -> None:
        self._client = client
        self._memory = max_memory
        self._name = name or str(client.scheduler_info()["address"])
        self._counted_at = 0.0
        self.threads = 0
        self._same_version()
        self._count()

    def made(
        self, plan_json: str, blocks: Iterable[Any], ask: Ask, make: Make = run_block
    ) -> Iterator[tuple[Any, Files]]:
        """As `Engine` says, on the cluster's workers."""
        todo = iter(blocks)
        packed = zlib.compress(plan_json.encode())
        # Another process may make blocks of the same plan there.
        name = f"rexmit-{make.__name__}-{secrets.token_hex(8)}"
        ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        there: dict[Future[Any], Any] = {}
        suspects: list[Any] = []
        guilty: LostError | None = None
        alone, keys, most = False, count(), 0
        try:
            while True:
                self._count()
                room = AHEAD * max(1, self.threads)
                most = max(most, room)
                for number in islice(todo, max(0, room - len(there))):
                    future = self._submit((name, next(keys)), number, make, packed)
                    there[future] = number
                    future.add_done_callback(ended.put)
                if not there and suspects:
                    alone = True
                    future = self._submit((name, next(keys)), suspects[0], make, packed)
                    there[future] = suspects.pop(0)
                    future.add_done_callback(ended.put)
                if not there and guilty is not None:
                    raise guilty
                if not there or not ask(0):
                    return
                some = list(_whatever(ended))
                fetched = self._fetched(some)
                for future in some:
                    number = there.pop(future)
                    try:
                        files = fetched.pop(future, None) or self._files(future)
                    except KilledWorker as killed:
                        said = self._killed(number, killed)
                        if alone:
                            # The others are made before it is told.
                            guilty = guilty or said
                            continue
                        suspects.append(number)
                        # Of workers that are gone no more than these can have lain beside one block.
                        if len(suspects) > most:
                            raise said from None
                        continue
                    if files is None:
                        there[future] = number
                        future.add_done_callback(ended.put)
                        continue
                    future.release()
                    yield number, files
        finally:
            if self._client.status == "running":
                self._client.cancel(list(there))

    def _submit(self, key: tuple[str, int], block: Any, make: Make, packed: bytes) -> Future[Any]:
        from rexmit import _core

        return self._client.submit(
            work, make, packed, block, _core.__version__, self._memory, key=key, pure=False
        )

    def _fetched(self, some: list[Future[Any]]) -> dict[Future[Any], Files]:
        """The files of those that ended well, all by one message; none if some of them are gone again."""
        ready = [future for future in some if future.status == "finished"]
        with suppress(OSError, CancelledError):
            return dict(zip(ready, self._client.gather(ready), strict=True))
        return {}

    def _files(self, future: Future[Any]) -> Files | None:
        """A block's files; None if they are gone again."""
        error = None
        with suppress(OSError, CancelledError):
            if future.status == "finished":
                return dict(future.result())
            if future.status == "error":
                error = future.exception()
        if self._client.status != "running" or future.cancelled():
            raise self._lost()
        if error is None:
            # Its worker died with it; it is being made again.
            return None
        if isinstance(error, OtherVersionError):
            raise ValueError(f"--cluster {self._name}: {error}")
        if isinstance(error, ImportError | AttributeError):
            # A worker that came later, perhaps.
            self._same_version()
        raise error

    def _killed(self, number: Any, how: KilledWorker) -> LostError:
        return LostError(
            f"--cluster {self._name}: block {number} ended every worker that made it, the last one "
            f"{how.last_worker.address}: it may need more memory than a worker has; what is done is kept"
        )

    def _lost(self) -> LostError:
        return LostError(
            f"--cluster {self._name}: the scheduler is gone; what is done is kept, and the same command goes "
            "on, with or without --cluster"
        )

    def _count(self) -> None:
        """How many threads there are."""
        now = time.monotonic()
        if now < self._counted_at + COUNT_EVERY_S:
            return
        try:
            found = sum(self._client.nthreads().values())
        except OSError:
            raise self._lost() from None
        if not found and (self.threads or not self._counted_at):
            tell(f"--cluster {self._name}: there is no worker; waiting for one")
        self.threads = found
        self._counted_at = time.monotonic()

    def _same_version(self) -> None:
        """Raises ValueError if a worker has another version than this process, or none."""
        from rexmit import _core

        # A function within one goes to the workers as code, so that it needs no rexmit there.
        def version() -> Any:
            from importlib import import_module

            return import_module("rexmit._core").__version__

        for worker, found in sorted(self._client.run(version, on_error="return").items()):
            if isinstance(found, ImportError):
                raise ValueError(
                    f"--cluster {self._name}: the worker {worker} has no rexmit "
                    f"({one_line(str(found))}): install {_core.__version__} there"
                )
            if isinstance(found, BaseException):
                raise ValueError(f"--cluster {self._name}: the worker {worker} does not answer ({found!r})")
            if found != _core.__version__:
                told = other_version(worker, found, _core.__version__)
                raise ValueError(f"--cluster {self._name}: {told}")


def _whatever(ended: queue.SimpleQueue[Future[Any]]) -> Iterator[Future[Any]]:
    """What has ended, after a wait for the first of it."""
    with suppress(queue.Empty):
        yield ended.get(timeout=ASK_EVERY_S)
        for _ in range(TOGETHER - 1):
            yield ended.get_nowait()
