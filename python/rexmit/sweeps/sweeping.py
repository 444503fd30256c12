"""`rx.sweep(scenario, vary=…)`: a plan, carried out on all cores, and its results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from rexmit import extras
from rexmit.sweeps import making
from rexmit.sweeps.block import StoppedError
from rexmit.sweeps.carry_out import Progress, carry_out
from rexmit.sweeps.engine import Engine, engine_of
from rexmit.sweeps.plan import Plan, shard
from rexmit.sweeps.results import Sweep
from rexmit.sweeps.sizing import Trial, sized, trial
from rexmit.sweeps.store import Store

if TYPE_CHECKING:
    from rexmit.running.one_run import AnyTable, At
    from rexmit.scenario import Source


def sweep(
    scenario: Source,
    vary: Mapping[str, Any] | None = None,
    *,
    runs: int = 10,
    seed: int | None = None,
    samples: int | None = None,
    pair: Sequence[str] = (),
    until: str | Sequence[str] = (),
    most: int | None = None,
    set: Mapping[str, Any] | None = None,
    tables: Sequence[AnyTable] = (),
    at: At = "both",
    idle: float | None = None,
    interval: float = 1.0,
    into: str | os.PathLike[str] | None = None,
    part: str | None = None,
    threads: int | None = None,
    max_memory: int | str | None = None,
    cluster: Any = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Runs a scenario at every point of a grid, several times each (docs/sweep.md).

    vary: keys and the values that each takes: a list (`["1ms", "10ms"]`), or text as `--vary` takes it
    (`"1ms..100ms/10"`, `"1ms..100ms/10log"`, `"uniform(1ms,100ms)"` with `samples`). runs: replications of
    each point.  pair: keys along which every value meets the same random streams.  until: `"goodput ±1%"`,
    several at will: as many replications again until the mean is known so well at every point, `most` at
    most.  tables: rows to keep of every run.  into: a folder, or an address of fsspec's, that holds the
    results: the same call goes on where it stopped; without one they go when the process ends.  part:
    `"3/16"` makes that part only.  threads: default one a core.  cluster: Dask's workers make the runs:
    `"tcp://HOST:8786"`, `"local:4"`, or a `distributed.Client` (docs/cluster.md).  engine: what else does.
    progress(runs done, of, 0): returning False keeps what is done, and so does Ctrl-C.
    Raises ScenarioError before anything runs, ValueError for arguments and a folder of another plan,
    NotWrittenError if a file cannot be written.
    """
    extras.need("sweep", "a sweep", "numpy", "pyarrow", "scipy")
    plan = making.make(
        scenario,
        vary or {},
        runs=runs,
        seed=seed,
        samples=samples,
        pair=pair,
        set=set,
        tables=tables,
        until=[until] if isinstance(until, str) else until,
        most=most,
        at=at,
        idle=idle,
        interval=interval,
    )
    if engine is not None:
        own: Any = nullcontext(engine)
    else:
        own = engine_of(plan.own_classes(), cluster, threads, max_memory)
    with own as chosen:
        return run(
            plan,
            somewhere() if into is None else into,
            chosen,
            part=None if part is None else shard(part),
            max_memory=max_memory,
            progress=progress,
        )


def run(
    plan: Plan,
    into: str | os.PathLike[str],
    engine: Engine,
    *,
    part: tuple[int, int] | None = None,
    max_memory: int | str | None = None,
    progress: Progress | None = None,
    tell: Callable[[Plan, Trial, int], None] | None = None,
) -> Sweep:
    """Carries a plan out. tell: hears the plan with the size of its blocks, what was tried, and how many runs
    are not there yet, before they are made.
    """
    from rexmit.memory import limit

    store = Store(into)
    there = store.same(plan)
    left = plan.points * plan.runs
    if there is not None:
        plan = there
        left -= sum(len(plan.of_block(k)) for k in store.done())
    if there is None or (tell is not None and left > 0):
        memory = limit(max_memory)
        try:
            found = trial(plan, memory, lambda: progress is None or progress(0, None, 0))
        except StoppedError:
            raise KeyboardInterrupt from None
        plan = there or sized(plan, found)
        if tell is not None:
            tell(plan, found, left)
        if there is None:
            store.begin(plan)
    outcome = carry_out(plan, store, engine, part, progress)
    return Sweep(store, plan, outcome)


def somewhere() -> str:
    """A folder that goes with the process."""
    from rexmit.files.passing import folder_of_process

    return folder_of_process("sweep")
