"""Parts of a sweep that were made apart, put into one folder."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rexmit.sweeps.block import RUNS
from rexmit.sweeps.results import Sweep, load, parts
from rexmit.sweeps.store import Store


def merge(sources: Sequence[str | os.PathLike[str]], into: str | os.PathLike[str]) -> Sweep:
    """Copies the blocks of all parts into one folder, which may be one of them, or hold some already.

    Raises ValueError if they are of several plans, or the folder of another one.
    """
    found = parts(sources)
    plan = found[0].plan
    store = Store(into)
    there = store.same(plan)
    for other in [part.plan for part in found] + ([there] if there else []):
        if other.block != plan.block:
            raise ValueError(
                f"{store.name}: blocks of {other.block} and of {plan.block} runs do not fit together"
            )
    if there is None:
        store.begin(plan)
    have = set(store.done())
    with store.place.held("-merge"):
        for part in found:
            for number in part.store.done():
                if number not in have:
                    part.store.check(number)
                    store.keep(number, part.store.files(number, [*plan.tables, RUNS]))
                    have.add(number)
    return load(into)
