"""A plan carried out: what is done already is found, the rest is made by an engine and kept as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rexmit.sweeps.block import RUNS, Files
from rexmit.sweeps.engine import Engine
from rexmit.sweeps.plan import Plan, in_shard
from rexmit.sweeps.store import Store
from rexmit.sweeps.until import Judge

#: Hears how many runs are done, and of how many at most; whether to go on.
Progress = Callable[[int, int | None, int], bool]


@dataclass
class Outcome:
    """runs: done, those of earlier calls among them.  of: wanted, as far as `until` has asked.  made: in this
    call.  stopped: before all of them were done.  wide: means that `until` wanted narrower, in the end.
    """

    runs: int
    of: int
    made: int
    stopped: bool
    wide: int = 0


def carry_out(
    plan: Plan,
    store: Store,
    engine: Engine,
    part: tuple[int, int] | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Makes what is not there yet. The plan lies in the store already.

    Raises NotWrittenError when a file cannot be written; what is there stays, and another call goes on.
    """
    if part is not None and plan.until:
        raise ValueError("--until looks at all runs, and --shard makes a part of them: use --runs")
    name = "" if part is None else f"-{part[0]}-of-{part[1]}"
    with store.place.held(name):
        return _Work(plan, store, engine, part, progress).all()


class _Work:
    def __init__(
        self,
        plan: Plan,
        store: Store,
        engine: Engine,
        part: tuple[int, int] | None,
        progress: Progress | None,
    ) -> None:
        self._plan, self._store, self._engine, self._part = plan, store, engine, part
        self._progress = progress
        self._json = plan.to_json()
        self._done = set(store.done())
        self._runs = 0
        self._of = 0
        self._made = 0
        self._stopped = False

    def all(self) -> Outcome:
        plan = self._plan
        judge = Judge(plan) if plan.until else None
        wide = 0
        for which in range(plan.rounds):
            blocks = plan.of_round(which)
            self._round(blocks)
            if self._stopped:
                break
            if judge:
                judge.add(self._store.rows(RUNS, blocks, judge.columns))
                wide = len(judge.wide())
                if not wide:
                    break
        return Outcome(self._runs, self._of, self._made, self._stopped, wide)

    def _round(self, blocks: range) -> None:
        # Not as lists: a plan may have millions of blocks.
        self._of += self._count(in_shard(blocks, self._part))
        left = self._count(self._lacking(blocks))
        self._runs = self._of - left
        if left:
            for number, files in self._engine.made(self._json, self._lacking(blocks), self._ask):
                self._keep(number, files)
                left -= len(self._plan.of_block(number))
        self._stopped = left > 0

    def _lacking(self, blocks: range) -> Iterator[int]:
        return (k for k in in_shard(blocks, self._part) if k not in self._done)

    def _count(self, blocks: Iterable[int]) -> int:
        return sum(len(self._plan.of_block(k)) for k in blocks)

    def _keep(self, number: int, files: Files) -> None:
        self._store.keep(number, files)
        runs = len(self._plan.of_block(number))
        self._runs += runs
        self._made += runs

    def _ask(self, under_way: int) -> bool:
        return self._progress is None or self._progress(self._runs + under_way, self._of, 0)
