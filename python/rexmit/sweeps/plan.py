"""The plan of a sweep: a value that says every run, whoever makes it, and in which block.

Runs are numbered replication by replication: run r is replication r // points + 1 of point r % points. They
are made in rounds of `runs` replications, and each round is cut into blocks of `block` runs; blocks are
numbered through. With `until`, intervals are looked at after each round and nowhere else, so that the same
runs are made whatever the engine and the size of a block.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import prod
from typing import Any

from rexmit.scenario import Scenario
from rexmit.screen.say import as_json
from rexmit.sweeps import plan_check, quantities
from rexmit.sweeps.axes import Axis
from rexmit.sweeps.plan_check import FORMAT, SEEDS

#: Points that are looked at for rules in Python.
LOOKED_AT = 64
#: Parts of a plan whose difference has words of its own.
_IN_WORDS = {
    "format": "the format of the folder",
    "rexmit": "the version of rexmit",
    "text": "the scenario's text",
    "set": "what --set says",
    "texts": "the scenario's files",
    "axes": "what --vary says",
    "pair": "--pair",
    "seed": "--seed",
    "runs": "--runs",
    "until": "--until",
    "most": "--most",
    "tables": "--table",
    "at": "--at",
    "idle": "--idle",
    "interval": "--interval",
}


@dataclass(frozen=True)
class Plan:
    """What is run.

    text: the scenario's TOML; label: its name in messages; set: keys overridden at all points. texts: of a
    scenario that names files, each point as resolved, in the place of text, set and axes: a worker elsewhere
    has no such files. runs: replications of each point, and of each round where `until` asks for more, up to
    `most`. block: runs of a block; what it is changes no run.
    """

    name: str
    label: str
    text: str
    set: tuple[tuple[str, str], ...]
    axes: tuple[Axis, ...]
    pair: tuple[str, ...]
    seed: int
    runs: int
    rexmit: str
    until: tuple[str, ...] = ()
    most: int | None = None
    tables: tuple[str, ...] = ()
    at: str = "both"
    idle: float | None = None
    interval: float = 1.0
    texts: tuple[str, ...] = ()
    block: int = 1
    format: int = FORMAT

    def to_json(self) -> str:
        """As `plan.json` has it."""
        return as_json({"digest": self.digest, **self._fields()}, 1) + "\n"

    def _fields(self) -> dict[str, Any]:
        """All fields as JSON can hold them; nothing is copied that cannot change."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return found | {"axes": [vars(axis) for axis in self.axes]}

    @classmethod
    def of_json(cls, text: str) -> Plan:
        """Raises ValueError if that is no plan, one of another format, or a field is none of a plan."""
        digest, values = plan_check.read(text)
        plan = cls(**values)
        if plan.digest != digest:
            raise ValueError("was changed by hand: its digest is another")
        return plan

    @cached_property
    def digest(self) -> str:
        """Of all that decides which rows there are."""
        said = self._fields()
        for key in ("name", "label", "block"):
            del said[key]
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def differences(self, other: Plan) -> list[str]:
        """In words, what makes them two plans."""
        return [words for key, words in _IN_WORDS.items() if getattr(self, key) != getattr(other, key)]

    @cached_property
    def points(self) -> int:
        return prod(len(axis.values) for axis in self.axes)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """All that is varied."""
        return tuple(key for axis in self.axes for key in axis.keys)

    @cached_property
    def columns(self) -> dict[str, tuple[str, str | None]]:
        """For each key the column of its texts and, where all its values are quantities of one kind, that of
        its numbers (s, bps, bytes, 1). A key without a dot is put apart from the columns of counts.
        """
        found: dict[str, tuple[str, str | None]] = {}
        for axis in self.axes:
            for place, key in enumerate(axis.keys):
                read = [quantities.read(row[place]) for row in axis.values]
                kinds = {None if one is None else one.kind for one in read}
                (kind,) = kinds if len(kinds) == 1 else (None,)
                name = key if "." in key else f"scenario.{key}"
                found[key] = name, None if kind is None else name + kind.suffix
        return found

    def told(self, point: int) -> dict[str, str | float]:
        """What a point sets, by those columns."""
        found: dict[str, str | float] = {}
        for key, text in self.values(point).items():
            name, numeric = self.columns[key]
            found[name] = text
            if numeric:
                found[numeric] = quantities.number(text)
        return found

    def places(self, point: int) -> tuple[int, ...]:
        """Where on each axis a point stands; the last axis turns fastest."""
        found = []
        for axis in reversed(self.axes):
            point, place = divmod(point, len(axis.values))
            found.append(place)
        return tuple(reversed(found))

    def values(self, point: int) -> dict[str, str]:
        """What a point sets."""
        return {
            key: value
            for axis, place in zip(self.axes, self.places(point), strict=True)
            for key, value in zip(axis.keys, axis.values[place], strict=True)
        }

    def scenario(self, point: int) -> Scenario:
        """The scenario of a point."""
        if self.texts:
            return Scenario.parse(self.texts[point], self.label)
        return Scenario.parse(self.text, self.label)._with(self.set + tuple(self.values(point).items()), "")

    def own_classes(self) -> list[str]:
        """Classes of rules in Python that stacks name: of some of the points, if there are very many."""
        from rexmit import _core

        some = range(0, self.points, max(1, self.points // LOOKED_AT))
        return _core.own_classes([self.scenario(point)._variant(None) for point in some])

    def group(self, point: int) -> tuple[str, ...]:
        """What points have in common that meet the same random streams: all but what is paired."""
        return tuple(f"{key}={value}" for key, value in self.values(point).items() if key not in self.pair)

    def first_seed(self, point: int) -> int:
        """The seed of a point's first replication: the plan's own if all points are paired, or else by
        SHA-256 from it and from what the point sets, so that a further value changes no other point's runs.
        """
        group = self.group(point)
        if not group:
            return self.seed
        told = "\n".join([str(self.seed), *sorted(group)])
        return int.from_bytes(hashlib.sha256(told.encode()).digest()[:8], "big") % SEEDS

    def run(self, number: int) -> tuple[int, int]:
        """The point and the replication (from 1) of a run."""
        replication, point = divmod(number, self.points)
        return point, replication + 1

    def seeds(self, numbers: Sequence[int]) -> list[int]:
        """The seed of each of these runs."""
        first: dict[int, int] = {}
        found = []
        for point, replication in map(self.run, numbers):
            if point not in first:
                first[point] = self.first_seed(point)
            found.append((first[point] + replication - 1) % SEEDS)
        return found

    @property
    def most_runs(self) -> int:
        """Runs, if all that may be made are made."""
        return self.points * (self.most or self.runs)

    @property
    def rounds(self) -> int:
        """Rounds at most."""
        return -(-(self.most or self.runs) // self.runs)

    @property
    def blocks_a_round(self) -> int:
        return -(-self.points * self.runs // self.block)

    @property
    def blocks(self) -> int:
        """Blocks at most."""
        whole = (self.rounds - 1) * self.blocks_a_round
        return whole + -(-(self.most_runs - (self.rounds - 1) * self.points * self.runs) // self.block)

    def of_round(self, which: int) -> range:
        """The blocks of a round, from 0."""
        begin = which * self.blocks_a_round
        return range(begin, min(begin + self.blocks_a_round, self.blocks))

    def of_block(self, number: int) -> range:
        """The runs of a block."""
        which, place = divmod(number, self.blocks_a_round)
        begin = which * self.points * self.runs
        end = min(begin + self.points * self.runs, self.most_runs)
        return range(begin + place * self.block, min(begin + (place + 1) * self.block, end))

    def with_block(self, runs: int) -> Plan:
        return replace(self, block=runs)


def shard(text: str) -> tuple[int, int]:
    """`3/16` as (3, 16). Raises ValueError for what names no part."""
    which, slash, of = text.partition("/")
    if not slash or not which.isdecimal() or not of.isdecimal() or not 1 <= int(which) <= int(of):
        raise ValueError(f"{text!r} names no part; 1/16 to 16/16 do")
    return int(which), int(of)


def in_shard(blocks: range, part: tuple[int, int] | None) -> Iterator[int]:
    """Those of the blocks that the part has to make: every n-th."""
    return (k for k in blocks if part is None or k % part[1] == part[0] - 1)
