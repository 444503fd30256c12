"""Where `--cluster` leads: a Dask scheduler that runs already, or worker processes of this machine."""

from __future__ import annotations

import logging
import os
import queue
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import spawn
from typing import TYPE_CHECKING, Any

from rexmit import extras
from rexmit.files.address import is_remote
from rexmit.files.not_written import sentence
from rexmit.screen.say import one_line
from rexmit.sweeps.engine import cores

if TYPE_CHECKING:
    from rexmit.sweeps.cluster_engine import Dask

#: A scheduler that is there answers sooner; one behind a slow tunnel, too.
PATIENCE_S = 5.0
#: What Dask calls worker processes of this machine.
WORKERS = "Dask Worker process"
#: Of worker processes of this machine.
LOCAL = "local"
KNOWN = "local, local:4, tcp://HOST:8786, tls://HOST:8786 or the scheduler's FILE.json"


@contextmanager
def connected(cluster: Any, max_memory: int | str | None = None) -> Iterator[Dask]:
    """An engine on the cluster of that name, or of that `distributed.Client`, which stays open.

    max_memory: bytes that the runs of one worker process may take together.
    Raises ValueError, with what to do, if there is no such cluster or its workers have another rexmit.
    """
    from rexmit.memory import limit

    most = None if max_memory is None else limit(max_memory)
    extras.need("cluster", "--cluster")
    import distributed

    from rexmit.sweeps.cluster_engine import Dask

    if isinstance(cluster, distributed.Client):
        if cluster.asynchronous:
            raise ValueError("cluster: this Client is asynchronous, and a sweep waits for its blocks")
        yield Dask(cluster, most)
        return
    if not isinstance(cluster, str | os.PathLike):
        raise ValueError(
            f"cluster: {type(cluster).__name__} is no name of a cluster and no distributed.Client"
        )
    name = os.fspath(cluster)
    with _quiet():
        scheme, _, rest = name.partition(":")
        if scheme == LOCAL:
            with _workers_here(_number(name, rest)) as client:
                yield Dask(client, most, name)
        else:
            with _client(name) as client:
                yield Dask(client, most, name)


def _number(name: str, text: str) -> int:
    if name == LOCAL:
        return cores()
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise ValueError(f"--cluster {name}: from {LOCAL}:1 to {LOCAL}:1024, a worker process each")
    return int(text)


@contextmanager
def _workers_here(processes: int) -> Iterator[Any]:
    import dask
    from distributed import Client, LocalCluster, Security

    # Whoever reaches a scheduler can run code there, and every user of this machine reaches its ports: it
    # answers only the processes that have this certificate's key.
    secret = Security.temporary()
    quiet = {
        # The profiler looks 100 times a second, and nobody looks at what it saw.
        "distributed.worker.profile.enabled": False,
        # Dask also opens ports for HTTP, whatever its options say: no page is served there.
        "distributed.scheduler.http.routes": [],
        "distributed.worker.http.routes": [],
    }
    with (
        _without_main(),
        dask.config.set(quiet),
        LocalCluster(
            n_workers=processes,
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tls://",
            security=secret,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            preload=["rexmit.sweeps.cluster_worker"],
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _without_main() -> Iterator[None]:
    """A program's own file is not run again in each worker, nor in one that takes a dead one's place: nothing
    of it is asked for there. Other processes that the program starts meanwhile are as ever.
    """
    whole = spawn.get_preparation_data

    def prepared(name: str) -> Any:
        told = whole(name)
        if name.startswith(WORKERS):
            told = {key: value for key, value in told.items() if not key.startswith("init_main_")}
        return told

    spawn.get_preparation_data = prepared
    try:
        yield
    finally:
        spawn.get_preparation_data = whole


@contextmanager
def _client(name: str) -> Iterator[Any]:
    if is_remote(name):
        where: dict[str, Any] = {"address": name}
    elif name.endswith(".json"):
        if not os.path.isfile(name):
            raise ValueError(
                f"--cluster {name}: there is no such file; dask scheduler --scheduler-file writes it"
            )
        where = {"scheduler_file": name}
    else:
        raise ValueError(f"--cluster {name}: names no cluster ({KNOWN})")
    try:
        client = _answering(where)
    except Exception as error:
        # Whoever answers there may answer anything; the library has no one exception for it.
        told = sentence(error) if isinstance(error, OSError) else str(error)
        told = one_line(" ".join(told.split()))[:200]
        raise ValueError(f"--cluster {name}: no Dask scheduler answers there ({told})") from None
    try:
        yield client
    finally:
        # One that has lost its scheduler looks for it to the end of its patience.
        with suppress(TimeoutError):
            client.close(timeout=2 * PATIENCE_S)


def _answering(where: dict[str, Any]) -> Any:
    """A client whose scheduler answers."""
    from distributed import Client

    found: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def look() -> None:
        try:
            found.put(Client(**where, timeout=PATIENCE_S, set_as_default=False))
        except BaseException as error:
            found.put(error)

    # The library waits for ever for a socket that takes connections and says nothing.
    threading.Thread(target=look, daemon=True).start()
    try:
        client = found.get(timeout=PATIENCE_S + 2)
    except queue.Empty:
        raise TimeoutError("it takes connections, and says nothing") from None
    if isinstance(client, BaseException):
        raise client
    return client


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the library logs: what matters of it is told in a sentence."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]
    before = {name: logging.getLogger(name).level for name in ["distributed", "tornado", "asyncio", *names]}
    for name in before:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="distributed")
            yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
