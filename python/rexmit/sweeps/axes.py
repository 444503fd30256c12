"""What a sweep varies: keys of the scenario and the values that each takes.

`KEY=a,b,c` names the values, `KEY=1ms..100ms/10` takes ten at equal steps, both ends among them,
`KEY=1ms..100ms/10log` ten at equal ratios, `KEY=uniform(1ms,100ms)` and `KEY=loguniform(1ms,100ms)` are
sampled, all such keys together (Latin hypercube). Several axes make a grid.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from rexmit.scenario import inline
from rexmit.sweeps import quantities
from rexmit.sweeps.quantities import Quantity

#: Values of one axis, at most.
MOST = 100_000
_RANGE = re.compile(r"(?P<low>[^,()]*?)\.\.(?P<high>[^,()/]*)(?:/(?P<n>[^,()]*?)(?P<log>log)?)?")
_SAMPLED = re.compile(r"(?P<log>log)?uniform\((?P<inside>.*)\)")


@dataclass(frozen=True)
class Axis:
    """Keys, and the texts that they take together: `values[k][i]` is key i's k-th."""

    keys: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Sampled:
    """A key that takes values between two ends, at equal density, or its logarithm does."""

    key: str
    low: Quantity
    high: Quantity
    log: bool


def read(vary: Mapping[str, Any], samples: int | None, seed: int) -> list[Axis]:
    """The axes of a plan. Keys that are sampled are one axis, which stands where the first of them does.

    Raises ValueError with the key for what says no values.
    """
    read: list[Axis | Sampled] = [_read(key, said) for key, said in vary.items()]
    sampled = [one for one in read if isinstance(one, Sampled)]
    if sampled and samples is None:
        raise ValueError(f"{sampled[0].key} is sampled: --samples says how many values it takes")
    if samples is not None and not sampled:
        raise ValueError(f"--samples {samples}: no key is sampled, as in --vary KEY=uniform(1ms,100ms)")
    return list(_placed(read, sampled, samples or 0, seed))


def _placed(
    read: Sequence[Axis | Sampled], sampled: Sequence[Sampled], samples: int, seed: int
) -> Iterator[Axis]:
    for one in read:
        if isinstance(one, Axis):
            yield one
        elif one is sampled[0]:
            yield _hypercube(sampled, samples, seed)


def _read(key: str, said: Any) -> Axis | Sampled:
    if isinstance(said, str):
        found = _range(key, said) or _sampled(key, said)
        if found:
            return found
        listed = _listed(said)
    elif isinstance(said, Sequence) or hasattr(said, "tolist"):
        every = said.tolist() if hasattr(said, "tolist") else said
        listed = [one if isinstance(one, str) else inline(one) for one in every]
    else:
        listed = [inline(said)]
    if not listed or any(not value for value in listed):
        raise ValueError(f"{key}={said}: says no value, or an empty one; write {key}=a,b,c")
    twice = next((value for k, value in enumerate(listed) if value in listed[:k]), None)
    if twice is not None:
        raise ValueError(f"{key}={said}: {twice} stands there twice")
    return Axis((key,), tuple((value,) for value in listed))


def _listed(text: str) -> list[str]:
    """Cut at commas, but not within quotes, brackets or braces: TOML's own lists and tables."""
    parts, depth, quote, begin = [], 0, "", 0
    for at, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "[{(":
            depth += 1
        elif c in "]})":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return [*parts, text[begin:].strip()]


def _range(key: str, text: str) -> Axis | None:
    match = _RANGE.fullmatch(text.strip())
    if match is None or quantities.read(match["low"]) is None:
        return None
    low, high = _ends(key, text, match["low"], match["high"], log=bool(match["log"]))
    number = match["n"] or ""
    if not number.isdecimal() or not 2 <= int(number) <= MOST:
        raise ValueError(
            f"{key}={text}: how many values, from 2 to {MOST:,}, stands behind them, as in "
            f"{match['low']}..{match['high']}/10"
        )
    n = int(number)
    if match["log"]:
        ratio = math.log(high.value / low.value)
        inner = [low.value * Fraction(math.exp(ratio * k / (n - 1))) for k in range(1, n - 1)]
    else:
        inner = [low.value + (high.value - low.value) * k / (n - 1) for k in range(1, n - 1)]
    digits = 6 if match["log"] else 9
    middle = [quantities.write(value, low.unit, digits) for value in inner]
    values = dict.fromkeys([match["low"].strip(), *middle, match["high"].strip()])
    return Axis((key,), tuple((value,) for value in values))


def _sampled(key: str, text: str) -> Sampled | None:
    match = _SAMPLED.fullmatch(text.strip())
    if match is None:
        return None
    low_text, comma, high_text = match["inside"].partition(",")
    if not comma:
        raise ValueError(f"{key}={text}: two ends are wanted, as in uniform(1ms,100ms)")
    low, high = _ends(key, text, low_text, high_text, log=bool(match["log"]))
    return Sampled(key, low, high, bool(match["log"]))


def _ends(key: str, text: str, low: str, high: str, log: bool) -> tuple[Quantity, Quantity]:
    first, last = quantities.read(low), quantities.read(high)
    for said, found in ((low, first), (high, last)):
        if found is None:
            raise ValueError(f"{key}={text}: {said.strip() or 'nothing'} is no number with a unit")
    assert first is not None
    assert last is not None
    if first.kind != last.kind:
        raise ValueError(
            f"{key}={text}: {low.strip()} is a {first.kind.name} and {high.strip()} a {last.kind.name}"
        )
    if first.value >= last.value:
        raise ValueError(f"{key}={text}: the lower end comes first")
    if log and first.value <= 0:
        raise ValueError(f"{key}={text}: equal ratios need ends above 0")
    return first, last


def _hypercube(sampled: Sequence[Sampled], samples: int, seed: int) -> Axis:
    import numpy as np
    from scipy.stats.qmc import LatinHypercube

    drawn = LatinHypercube(len(sampled), seed=np.random.default_rng(seed)).random(samples)
    rows = [tuple(_at(one, float(u)) for one, u in zip(sampled, row, strict=True)) for row in drawn]
    return Axis(tuple(one.key for one in sampled), tuple(rows))


def _at(one: Sampled, u: float) -> str:
    if one.log:
        value = one.low.value * Fraction(math.exp(math.log(one.high.value / one.low.value) * u))
    else:
        value = one.low.value + (one.high.value - one.low.value) * Fraction(u)
    return quantities.write(value, one.low.unit, 6)


def in_whole_numbers(axis: Axis, which: int) -> Axis:
    """The same with that key's values rounded; values that are then alike fall together."""
    rows = [
        tuple(quantities.whole(text) if k == which else text for k, text in enumerate(row))
        for row in axis.values
    ]
    return Axis(axis.keys, tuple(dict.fromkeys(rows)))
