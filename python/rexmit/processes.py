"""Many runs in processes of their own: of stacks with rules in Python, which one interpreter asks in turn.

`simulate_many` here is that of the core, which takes threads for everything else. Whichever it is, the rows
are the same.
"""

from __future__ import annotations

import io
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.sweeps.block import Files, run_block

if TYPE_CHECKING:
    import pyarrow as pa

    from rexmit.sweeps.engine import Make
    from rexmit.sweeps.plan import Plan as SweepPlan

Progress = Callable[[int, int | None, int], bool]
Plan = Sequence[tuple[int, int | None]]

#: Parts of the plan for each process, so that none waits long for the last.
PARTS = 8
#: How often the caller is asked, if nothing ends meanwhile.
ASK_EVERY_S = 0.1
#: Points of a sweep that are looked at before it is made.
LOOKED_AT = 64


class Part:
    """What a process hands back of its runs. Tables are Arrow streams."""

    def __init__(self, runs: list[str | None], tables: dict[str, bytes], warnings: list[str]) -> None:
        self.runs = runs
        self.tables = tables
        self.warnings = warnings

    @property
    def done(self) -> int:
        """How many of its runs there are."""
        return sum(text is not None for text in self.runs)


class Batch:
    """What became of many runs, part by part: read as the core's."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.runs = [text for part in parts for text in part.runs]
        self._parts = [part for part in parts if part.done]

    def table(self, name: str) -> pa.Table:
        """The rows of a table that was kept, run by run."""
        import pyarrow as pa
        import pyarrow.compute as pc

        tables, before = [], 0
        for part in self._parts:
            rows = pa.ipc.open_stream(part.tables[name]).read_all()
            place = rows.schema.get_field_index("run")
            field = rows.schema.field(place)
            # Its place among all that are done.
            numbers = pc.add(rows.column(place), pa.scalar(before, field.type))
            tables.append(rows.set_column(place, field, numbers))
            before += part.done
        return pa.concat_tables(tables).unify_dictionaries()

    def series(self) -> pa.Table:
        """The series, run by run, if `bin` was given."""
        return self.table(SERIES)

    def warnings(self) -> list[str]:
        """Sentences about rows that could not be kept."""
        return list(dict.fromkeys(said for part in self._parts for said in part.warnings))


#: Among the tables of a part.
SERIES = "series"


def simulate_many(
    variants: Sequence[_core.Variant],
    plan: Plan,
    *,
    max_memory: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> _core.Batch | Batch:
    """As `_core.simulate_many`; runs that ask Python are made in as many processes as it would take threads.

    The classes have to be found by import there, too: those of a program's own `__main__` are not, and such
    runs follow one another here.
    """
    try:
        return _core.simulate_many(variants, plan, max_memory=max_memory, progress=progress, **options)
    except _core.AsksPython as asked:
        at_once, classes = asked.args
    options["threads"] = 1
    if any(name.startswith("__main__:") for name in classes):
        return _core.simulate_many(variants, plan, max_memory=max_memory, progress=progress, **options)
    options["max_memory"] = None if max_memory is None else max_memory // at_once
    size = max(1, len(plan) // (at_once * PARTS))
    parts = [plan[k : k + size] for k in range(0, len(plan), size)]
    return Batch(_made(variants, parts, at_once, progress, options))


def _made(
    variants: Sequence[_core.Variant],
    parts: Sequence[Plan],
    processes: int,
    progress: Progress | None,
    options: dict[str, Any],
) -> list[Part]:
    """The parts in their order; of those that were not done when it was stopped there are no runs."""
    done: dict[int, Part] = {}
    planned, runs = sum(map(len, parts)), 0
    with _pool(processes) as pool:
        with _without_main():
            # Spawned, not forked: the core has threads. Each starts as it gets its first part.
            waiting = {pool.submit(_part, variants, part, options): k for k, part in enumerate(parts)}
        try:
            while waiting:
                ended, _ = wait(waiting, timeout=ASK_EVERY_S, return_when=FIRST_COMPLETED)
                for future in ended:
                    which = waiting.pop(future)
                    with _told():
                        done[which] = future.result()
                    runs += done[which].done
                if progress is not None and not progress(runs, planned, 0):
                    break
        except KeyboardInterrupt:
            # What was done is kept.
            pass
        except BrokenProcessPool:
            raise RuntimeError(
                "a process of the runs was killed from outside, or ran out of memory"
            ) from None
    return [done.get(k) or Part([None] * len(part), {}, []) for k, part in enumerate(parts)]


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
                with _without_main():
                    for number in islice(todo, 2 * self.threads - len(waiting)):
                        waiting[pool.submit(make, plan_json, number, None, self._memory)] = number
                if not waiting or not ask(0):
                    return
                for future in wait(waiting, timeout=ASK_EVERY_S, return_when=FIRST_COMPLETED)[0]:
                    number = waiting.pop(future)
                    with _told():
                        files = future.result()
                    yield number, files


def asks_python(plan: SweepPlan) -> bool:
    """Whether a stack of a sweep has rules in Python: of some of its points, if there are very many."""
    some = range(0, plan.points, max(1, plan.points // LOOKED_AT))
    return bool(_core.own_classes([plan.scenario(point)._variant(None) for point in some]))


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
def _without_main() -> Iterator[None]:
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


def _part(variants: Sequence[_core.Variant], plan: Plan, options: dict[str, Any]) -> Part:
    """In a process of its own: some runs of the plan, one after the other."""
    done = _core.simulate_many(variants, plan, **options)
    tables = {name: _stream(done.table(name)) for name in options.get("tables", ())}
    if options.get("bin") is not None:
        tables[SERIES] = _stream(done.series())
    return Part(list(done.runs), tables, done.warnings())


def _stream(table: _core.Table) -> bytes:
    import pyarrow as pa

    reader = pa.RecordBatchReader.from_stream(table)
    into = io.BytesIO()
    with pa.ipc.new_stream(into, reader.schema) as file:
        for batch in reader:
            file.write_batch(batch)
    return into.getvalue()
