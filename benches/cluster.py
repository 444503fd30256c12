"""What a Dask cluster on this machine adds to a sweep's blocks (`rexmit sweep --cluster`), and what its
scheduler and its client carry at the most.

The same blocks of at least a second of wifi-bursts at 10 MB are made by threads of this process and by as
many worker processes, in turns, once the cluster has started; the best turn of each counts. Blocks that do
nothing give blocks a second, blocks of a mebibyte give bytes a second, through scheduler and client.

    .venv/bin/python benches/cluster.py [--runs N]        in benches/bench.py: --only cluster
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from measure import mark, or_skipped, row
from sweep import SCENARIO, SIZE, TABLES

NAME = "cluster"
#: Blocks of a turn for each core, and how long one takes at least, s.
BLOCKS, BLOCK_S = 6, 1.2
#: Runs that say how many that is.
TRIED = 100
#: How much longer the cluster may take.
BAR = 1.05
#: Trivial blocks: so many that do nothing, so many of a mebibyte.
EMPTY, FULL = 3000, 400
#: Threads of each worker that makes those.
THREADS = 32
MIB = 1 << 20


def nothing(
    plan_json: str, number: int, watch: Any = None, max_memory: int | None = None
) -> dict[str, bytes]:
    """A block without rows."""
    return {}


def mebibyte(
    plan_json: str, number: int, watch: Any = None, max_memory: int | None = None
) -> dict[str, bytes]:
    """A block of a mebibyte that no compression makes smaller."""
    return {"runs": os.urandom(MIB)}


def wall(work: Callable[[], Any]) -> float:
    """Seconds that it takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def bench(quick: bool, turns: int) -> list[dict]:
    """Prints the lines, and gives the rows for bench.json."""
    from distributed import Client, LocalCluster

    from rexmit.sweeps.block import tables_of
    from rexmit.sweeps.cluster import connected
    from rexmit.sweeps.engine import Threads, cores
    from rexmit.sweeps.making import make

    workers = min(2, cores())
    plan = make(SCENARIO, {}, set=SIZE, runs=10_000, tables=TABLES)
    # In a block a run costs less than one that is made alone.
    tables_of(plan, range(TRIED))
    began = time.process_time()
    tables_of(plan, range(TRIED))
    plan = plan.with_block(math.ceil(BLOCK_S / (time.process_time() - began) * TRIED))
    text = plan.to_json()
    blocks = workers * (BLOCKS // (2 if quick else 1))

    def all_of(engine: Any, count: int, **more: Any) -> Callable[[], None]:
        def work() -> None:
            assert sum(1 for _ in engine.made(text, range(count), lambda _: True, **more)) == count

        return work

    with connected(f"local:{workers}") as dask:
        threads = Threads(workers)
        all_of(dask, workers)()
        took: dict[str, list[float]] = {"threads": [], "dask": []}
        for _ in range(turns):
            took["threads"].append(wall(all_of(threads, blocks)))
            took["dask"].append(wall(all_of(dask, blocks)))
    # As many threads as a large cluster has, so that nobody waits for them.
    with (
        LocalCluster(n_workers=workers, threads_per_worker=THREADS, dashboard_address=None) as many,
        Client(many) as client,
        connected(client) as dask,
    ):
        all_of(dask, EMPTY // 10, make=nothing)()
        empty = EMPTY / wall(all_of(dask, EMPTY, make=nothing))
        full = FULL * MIB / 1e6 / wall(all_of(dask, FULL, make=mebibyte))
    alone, there = (min(took[who]) for who in ("threads", "dask"))
    block_s = alone * workers / blocks
    ratio = there / alone
    print(
        f"\n{NAME}: {blocks} blocks of {plan.block} runs, {block_s:.2f} s each, tables {' and '.join(TABLES)}"
    )
    print(f"  {workers} threads {alone:6.2f} s    {workers} worker processes {there:6.2f} s")
    print(f"  {ratio:.3f} times as long (bar {BAR:g}: {mark(ratio <= BAR)})")
    print(f"  blocks that do nothing {empty:,.0f} a second, blocks of 1 MiB {full:,.0f} MB a second")
    return [
        row(f"{NAME}, {workers} workers", there, "s", "threads", alone, ratio),
        row(f"{NAME}, empty blocks", empty, "blocks/s", None, None, None),
        row(f"{NAME}, blocks of 1 MiB", full, "MB/s", None, None, None),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="turns (default 3)")
    parser.add_argument("--quick", action="store_true", help="half of the blocks")
    args = parser.parse_args()
    or_skipped(NAME, partial(bench, args.quick, args.runs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
