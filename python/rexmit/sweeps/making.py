"""A plan from what somebody asks for, checked before anything runs."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rexmit.scenario import Scenario, whole_seed
from rexmit.sweeps import axes, quantities
from rexmit.sweeps.axes import Axis
from rexmit.sweeps.plan import Plan
from rexmit.sweeps.plan_check import MOST_POINTS, MOST_RUNS, known_tables
from rexmit.sweeps.until import read as read_wish

if TYPE_CHECKING:
    from rexmit.scenario import Source

#: Points that the core reads in one call.
AT_ONCE = 1000
#: A folder that is not there: whatever resolves in it names no files beside it.
NOWHERE = os.path.join(os.sep, "nonexistent", "rexmit")


def make(
    scenario: Source,
    vary: Mapping[str, Any],
    *,
    runs: int,
    seed: int | None = None,
    samples: int | None = None,
    pair: Sequence[str] = (),
    set: Mapping[str, Any] | None = None,
    tables: Sequence[str] = (),
    until: Sequence[str] = (),
    most: int | None = None,
    at: str = "both",
    idle: float | None = None,
    interval: float = 1.0,
) -> Plan:
    """Raises ScenarioError, with file, line and key, for a scenario or a value that is none, and ValueError
    for what says no plan.
    """
    from rexmit import _core

    if runs < 1:
        raise ValueError(f"runs = {runs}: a number from 1 up")
    base = Scenario.of(scenario).with_(set)
    text = _text(base)
    first = 1 if seed is None else whole_seed(seed)
    if "seed" in vary:
        raise ValueError("seed is not varied: --runs makes more runs, from --seed on")
    chosen = [_rounded(base, axis) for axis in axes.read(vary, samples, first)]
    for key in pair:
        if key not in vary:
            varied = ", ".join(vary) or "nothing is"
            raise ValueError(f"--pair {key}: it is not varied ({varied})")
    for axis in chosen:
        apart = [key for key in axis.keys if key not in pair]
        if apart and len(apart) < len(axis.keys):
            both = next(key for key in axis.keys if key in pair)
            raise ValueError(f"--pair {both}: it is sampled together with {apart[0]}; pair both, or neither")
    _known(tables)
    told = tomllib.loads(base.to_toml())
    flows = [str(flow["name"]) for flow in told["flow"]]
    for wish in map(read_wish, until):
        if wish.flow is not None and wish.flow not in flows:
            raise ValueError(f"--until: {wish.flow} is no flow of {base.label} ({', '.join(flows)})")
    plan = Plan(
        name=str(told["name"]),
        label=base.label,
        text=text,
        set=base._set,
        axes=tuple(chosen),
        pair=tuple(dict.fromkeys(pair)),
        seed=first,
        runs=runs,
        rexmit=_core.__version__,
        until=tuple(until),
        most=_most(runs, until, most),
        tables=tuple(dict.fromkeys(tables)),
        at=at,
        idle=idle,
        interval=interval,
    )
    if plan.most_runs > MOST_RUNS:
        raise ValueError(f"{plan.most_runs:,} runs are too many: {MOST_RUNS:,} at most")
    if plan.points > MOST_POINTS:
        raise ValueError(f"{plan.points:,} points are too many: {MOST_POINTS:,} at most")
    _check(base, plan)
    return _alone(base, plan)


def _most(runs: int, until: Sequence[str], most: int | None) -> int | None:
    if until and most is None:
        raise ValueError(f"--until {until[0]}: --most says after how many runs of a point it ends anyway")
    if most is not None and not until:
        raise ValueError(f"--most {most}: it is the end of --until, which is not there")
    if most is not None and most < runs:
        raise ValueError(f"--most {most} is below --runs {runs}, which are made in any case")
    return most


def _text(base: Scenario) -> str:
    """The scenario's TOML."""
    # One that cannot be read, or is none, is told of by the core.
    base.to_toml()
    return base._text if base._text is not None else Path(base._path or "").read_text(encoding="utf-8")


def _known(tables: Sequence[str]) -> None:
    from difflib import get_close_matches

    known = known_tables()
    for name in tables:
        if name not in known:
            near = get_close_matches(name, known, 1, 0.6)
            hint = f"did you mean {near[0]}? " if near else ""
            raise ValueError(f"--table {name} is no table; {hint}({', '.join(known)})")


def _rounded(base: Scenario, axis: Axis) -> Axis:
    """The axis in whole numbers where a key takes no others."""
    for which, key in enumerate(axis.keys):
        broken = next((row[which] for row in axis.values if _is_broken(row[which])), None)
        if broken is not None and len(axis.values) > 1 and not _takes(base, key, broken):
            rounded = axes.in_whole_numbers(axis, which)
            if _takes(base, key, rounded.values[0][which]):
                axis = rounded
    return axis


def _is_broken(text: str) -> bool:
    found = quantities.read(text)
    return found is not None and not found.unit and found.value.denominator != 1


def _takes(base: Scenario, key: str, value: str) -> bool:
    from rexmit import _core

    try:
        base.with_({key: value}).to_toml()
    except _core.ScenarioError:
        return False
    return True


def _singly(plan: Plan) -> Iterator[dict[str, str]]:
    for axis in plan.axes:
        for row in axis.values:
            yield dict(zip(axis.keys, row, strict=True))


def _check(base: Scenario, plan: Plan) -> None:
    """Raises ScenarioError if a point is none."""
    from rexmit import _core

    # What --set says was read before: a mistake is one of the values that are varied.
    base = base._with(base._set, "")
    for begin in range(0, plan.points, AT_ONCE):
        points = range(begin, min(begin + AT_ONCE, plan.points))
        variants = [base.with_(plan.values(point))._variant(None) for point in points]
        _core.simulate_many(variants, [])


def _alone(base: Scenario, plan: Plan) -> Plan:
    """The plan if it needs no file but itself; otherwise with each point as resolved."""
    from dataclasses import replace

    from rexmit import _core

    nowhere = Scenario.parse(plan.text, plan.label, folder=NOWHERE)._with(plan.set, "")
    said = [*(value for _, value in plan.set), *(value for row in _singly(plan) for value in row.values())]
    try:
        for values in [{}, *_singly(plan)]:
            nowhere.with_(values).to_toml()
        alone = not any(map(_is_path, [*_words(tomllib.loads(plan.text)), *said]))
    except _core.ScenarioError:
        alone = False
    if alone:
        return plan
    texts = tuple(base.with_(plan.values(point)).to_toml() for point in range(plan.points))
    return replace(plan, texts=texts)


def _words(value: Any) -> Iterator[str]:
    """All texts of a scenario."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _words(inner)


def _is_path(word: str) -> bool:
    """Whether it may name a file wherever the scenario lies."""
    return os.path.isabs(word.strip().strip("\"'")) or ".py:" in word
