"""Runs that somebody lists, variants and seeds, rather than a grid: `rx.runs`, `rexmit run --runs`, studies.

The list is cut into blocks, which an engine makes as it makes those of a plan; what is made of each is kept
as Arrow streams, in a place of this process or in a folder, with which the same call goes on.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.sweeps.block import Files, StoppedError, Watch
from rexmit.sweeps.kept import Blocks, folder_of
from rexmit.sweeps.numbered import Numbered, named

if TYPE_CHECKING:
    from rexmit.sweeps.engine import Engine

#: Hears how many runs are done, of how many; whether to go on.
Progress = Callable[[int, int | None, int], bool]
#: A variant's number and a seed (None: its own).
Run = tuple[int, int | None]
#: A block: its number, the number of its first variant, its variants, and its runs, by their places among
#: these.
Item = tuple[int, int, "tuple[_core.Variant, ...]", tuple[Run, ...]]

#: What each block has, beside its tables: JSON of its runs; written last.
COUNTED = "counted"
#: The name of the series among the tables.
SERIES = "series"
#: Blocks for each thread, so that none waits long for the last, and the most runs of one.
BLOCKS = 8
MOST_RUNS = 64


def make_listed(
    options_json: str, item: Item, watch: Watch | None = None, max_memory: int | None = None
) -> Files:
    """What is made of a block, on the thread that calls this: as `run_block`, but that a block which was
    stopped has the runs that were done.
    """
    _, first_variant, variants, runs = item
    options = json.loads(options_json)
    made = _core.simulate_many(
        variants,
        runs,
        max_memory=max_memory,
        progress=None if watch is None else lambda done, total, packets: watch(done),
        **options,
    )
    counted = [text for text in made.runs if text is not None]
    if not counted:
        raise StoppedError
    files = {name: _stream(made.table(name), first_variant) for name in options["tables"]}
    if options["bin"] is not None:
        files[SERIES] = _stream(made.series(), first_variant)
    told = {"runs": counted, "warnings": made.warnings()}
    return files | {COUNTED: json.dumps(told).encode()}


def _stream(table: _core.Table, first_variant: int) -> bytes:
    """An Arrow stream of a table, whose variants are numbered through."""
    import pyarrow as pa
    import pyarrow.compute as pc

    reader = pa.RecordBatchReader.from_stream(table)
    into = io.BytesIO()
    with pa.ipc.new_stream(into, reader.schema) as file:
        for batch in reader:
            file.write_batch(_added(batch, "variant", first_variant, pc, pa))
    return into.getvalue()


def _added(batch: Any, column: str, number: int, pc: Any, pa: Any) -> Any:
    place = batch.schema.get_field_index(column)
    field = batch.schema.field(place)
    return batch.set_column(place, field, pc.add(batch.column(place), pa.scalar(number, field.type)))


def run(
    variants: Sequence[_core.Variant],
    plan: Sequence[Run],
    *,
    threads: int | None = None,
    max_memory: int | None = None,
    cluster: Any = None,
    progress: Progress | None = None,
    into: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Made:
    """Runs what is listed, by variants, on all cores or a cluster: `options` as of `_core.simulate_many`.
    Ctrl-C, and a progress that says no, keep what is done. into: a folder that keeps it: the same call goes
    on.

    Raises ScenarioError before anything runs, ValueError if there is no such cluster, NotWrittenError if the
    folder cannot be written.
    """
    from rexmit.sweeps.engine import cores, engine_of

    most = min(threads or cores(), max(1, len(plan)))
    with _pressed() as pressed:
        _core.simulate_many(variants, [], at_once=1 if cluster else most, max_memory=max_memory, **options)
        classes = _core.own_classes(variants)
        folder = None if into is None else folder_of(into, variants, plan, options)
        with engine_of(classes, cluster, most if cluster is None else None, max_memory) as engine:
            return carry_out(variants, plan, engine, pressed, progress, options, folder)


def carry_out(
    variants: Sequence[_core.Variant],
    plan: Sequence[Run],
    engine: Engine,
    pressed: Callable[[], bool],
    progress: Progress | None,
    options: dict[str, Any],
    folder: str | None = None,
) -> Made:
    """Has an engine make what is listed and is not there yet, and keeps it as it comes."""
    store = Blocks(folder, COUNTED, size_of(len(plan), engine.threads))
    with store.place.held(""):
        size, there = store.size, set(store.done())
        done = sum(len(plan[number * size : (number + 1) * size]) for number in there)

        def ask(under_way: int) -> bool:
            return not pressed() and (progress is None or progress(done + under_way, len(plan), 0))

        blocks = (item for item in _cut(variants, plan, size) if item[0] not in there)
        for (number, *_, runs), files in engine.made(json.dumps(options), blocks, ask, make_listed):
            store.keep_block(number, files, len(runs))
            done += len(runs)
    if progress is not None and done == len(plan):
        progress(done, done, 0)
    return Made(store, variants[:1], len(plan), size, options)


def _cut(variants: Sequence[_core.Variant], plan: Sequence[Run], size: int) -> Iterator[Item]:
    for number, begin in enumerate(range(0, len(plan), size)):
        runs = plan[begin : begin + size]
        first, last = min(k for k, _ in runs), max(k for k, _ in runs)
        yield number, first, tuple(variants[first : last + 1]), tuple((k - first, seed) for k, seed in runs)


def size_of(runs: int, threads: int) -> int:
    """Runs of a block."""
    return max(1, min(MOST_RUNS, runs // (threads * BLOCKS)))


@contextmanager
def _pressed() -> Iterator[Callable[[], bool]]:
    """Ctrl-C that nobody else minds, noted rather than raised: what is done is kept."""
    import signal

    from rexmit.rules.loading import Held

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda: False
        return
    held = Held()
    try:
        yield lambda: held.pressed
    finally:
        held.release()


class Made:
    """What became of listed runs: read as the core's `Batch`."""

    def __init__(
        self,
        store: Numbered,
        variants: Sequence[_core.Variant],
        planned: int,
        size: int,
        options: dict[str, Any],
    ) -> None:
        self._store, self._variants, self._options = store, variants, options
        self._numbers = store.done()
        self._told = [json.loads(store.place.read(named(COUNTED, k)) or b"") for k in self._numbers]
        #: JSON, in the order of the plan; None for those that were stopped.
        self.runs: list[str | None] = [None] * planned
        for number, told in zip(self._numbers, self._told, strict=True):
            # Those of a block are done in their order.
            self.runs[number * size : number * size + len(told["runs"])] = told["runs"]

    def warnings(self) -> list[str]:
        """Sentences about rows that could not be kept."""
        return list(dict.fromkeys(said for told in self._told for said in told["warnings"]))

    def table(self, name: str) -> Streamed:
        """The rows of a table that was kept, run by run."""
        if name not in self._options["tables"]:
            raise ValueError(f'table {name} was not kept: tables=("{name}",) keeps it')
        return Streamed(self, name)

    def series(self) -> Streamed:
        """The series, run by run, if `bin` was given."""
        return Streamed(self, SERIES)

    def batches(self, name: str) -> Iterator[Any]:
        """Of a table, block by block, `run` being a run's place among all that are done."""
        import pyarrow as pa
        import pyarrow.compute as pc

        before = 0
        for number, told in zip(self._numbers, self._told, strict=True):
            with self._store.place.open(named(name, number)) as file, pa.ipc.open_stream(file) as reader:
                for batch in reader:
                    yield _added(batch, "run", before, pc, pa)
            before += len(told["runs"])

    def schema(self, name: str) -> Any:
        """The columns of a table."""
        import pyarrow as pa

        if self._numbers:
            with self._store.place.open(named(name, self._numbers[0])) as file:
                return pa.ipc.open_stream(file).schema
        empty: Any = _core.simulate_many(self._variants, [], **self._options)
        table = empty.series() if name == SERIES else empty.table(name)
        return pa.RecordBatchReader.from_stream(table).schema


class Streamed:
    """A table as an Arrow stream, read anew each time, so that it is never whole in memory."""

    def __init__(self, made: Made, name: str) -> None:
        self._made, self._name = made, name

    @cached_property
    def _schema(self) -> Any:
        return self._made.schema(self._name)

    @property
    def column_names(self) -> list[str]:
        return list(self._schema.names)

    def __len__(self) -> int:
        return sum(int(batch.num_rows) for batch in self._made.batches(self._name))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import pyarrow as pa

        reader = pa.RecordBatchReader.from_batches(self._schema, self._made.batches(self._name))
        return reader.__arrow_c_stream__(requested_schema)
