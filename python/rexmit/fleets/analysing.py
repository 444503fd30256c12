"""`rx.fleet(paths)`: every capture of folders and patterns analysed, on all cores or on a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rexmit.fleets.finding import find
from rexmit.fleets.one import analyze
from rexmit.fleets.plan import Plan
from rexmit.fleets.results import Fleet, Store
from rexmit.sweeps.engine import engine_of
from rexmit.sweeps.store import PLAN
from rexmit.sweeps.sweeping import somewhere

if TYPE_CHECKING:
    from rexmit.api import Vantage

#: Hears how many bytes are read, of how many, and how many packets that is; whether to go on.
Progress = Callable[[int, int | None, int], bool]


def fleet(
    *paths: str | os.PathLike[str],
    into: str | os.PathLike[str] | None = None,
    host: str | None = None,
    port: int | None = None,
    at: Vantage | None = None,
    idle: float | None = None,
    checksums: bool = False,
    threads: int | None = None,
    max_memory: int | str | None = None,
    cluster: Any = None,
    progress: Progress | None = None,
) -> Fleet:
    """Analyses each capture by itself (docs/fleet.md).

    paths: folders, with all captures in them, files, and patterns; the files of a rotation are one capture.
    into: a folder, or an address of fsspec's, that holds the results: the same call goes on where it
    stopped, and analyses what is new; without one they go when the process ends.  host, port, at, idle,
    checksums: as of `capture`.  threads: captures at a time, default one a core.  cluster: Dask's workers,
    which find the files under the same names, do it: `"tcp://HOST:8786"`, `"local:4"` (docs/cluster.md).
    max_memory: bytes, for all captures that are read at a time.
    Raises ValueError if there is no capture, or the folder holds other results.
    """
    from rexmit import _core, extras

    extras.need("tables", "an analysis of many captures")
    store = Store(somewhere() if into is None else into)
    options = {"host": host, "port": port, "at": at, "idle": idle, "interval": 1.0, "checksums": checksums}
    there = store.plan() or Plan(_core.__version__, options)
    if there.rexmit != _core.__version__:
        raise ValueError(f"{store.name}: holds what rexmit {there.rexmit} found; name another folder")
    if dict(there.options) != options:
        raise ValueError(f"{store.name}: holds results with other options; name another folder")
    plan = there.with_found(find([os.fspath(path) for path in paths]))
    with store.place.held(""), engine_of((), cluster, threads, max_memory) as engine:
        store.place.write(PLAN, plan.to_json().encode())
        done = set(store.done())
        sizes = {k: sum(file.bytes for file in plan.capture(k)) for k in plan.numbers}
        whole = sum(sizes.values())
        todo = [k for k in plan.numbers if k not in done]
        read = whole - sum(sizes[k] for k in todo)

        def ask(under_way: int) -> bool:
            return progress is None or progress(min(read + under_way, whole), whole, 0)

        # The longest ones begin first: no core waits long for the last of them.
        items = (
            (k, tuple(file.path for file in plan.capture(k))) for k in sorted(todo, key=lambda k: -sizes[k])
        )
        left = len(todo)
        for (number, _), files in engine.made(json.dumps(options), items, ask, analyze):
            store.keep(number, files)
            read += sizes[number]
            left -= 1
    return Fleet(store, plan, left > 0)
