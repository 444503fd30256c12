"""Batches of runs that several plans have alike: made for the first plan, and kept for the others."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from rexmit.scenario import Scenario
from rexmit_studies.study import Batch, Plan, Results


class Shared:
    """Which batches of which plans are the same runs. A plan is known by its place."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = plans
        #: Of each batch of runs that at least two plans have: the places of the plans.
        self._places: dict[Hashable, list[int]] = {}
        self._keys: dict[tuple[int, str], Hashable] = {}
        self._kept: dict[Hashable, Any] = {}
        if len(plans) < 2:
            return
        for k, plan in enumerate(plans):
            for name, batch in plan.batches.items():
                if batch.call is None:
                    key = (name, _of(batch))
                    self._keys[k, name] = key
                    self._places.setdefault(key, []).append(k)

    def made_by(self, place: int) -> dict[str, Batch]:
        """The batches of a plan that no earlier plan makes."""
        return {
            name: batch
            for name, batch in self._plans[place].batches.items()
            if (place, name) not in self._keys or self._places[self._keys[place, name]][0] == place
        }

    def give(self, place: int, results: Results) -> None:
        """Puts the batches that an earlier plan has made into the results of this one."""
        for name in self._plans[place].batches:
            key = self._keys.get((place, name))
            if key in self._kept:
                results[name] = self._kept[key]

    def keep(self, place: int, results: Results) -> None:
        """Keeps the batches that a later plan needs, and lets those go that none needs any more."""
        for name in self._plans[place].batches:
            key = self._keys.get((place, name))
            if key is None:
                continue
            if self._places[key][-1] == place:
                self._kept.pop(key, None)
            elif name in results:
                self._kept[key] = results[name]


def _of(batch: Batch) -> Hashable:
    """What makes two batches the same runs. A function that is made anew for each plan is another one."""
    several = isinstance(batch.scenario, Sequence) and not isinstance(batch.scenario, str)
    scenarios = batch.scenario if several else [batch.scenario]
    variants = tuple(repr(Scenario.of(one)._variant(None)) for one in scenarios)
    seeds = None if batch.seeds is None else tuple(batch.seeds)
    return (variants, seeds, batch.tables, repr(sorted(batch.options.items())), batch.reduce)
