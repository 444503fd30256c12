"""A study's axes: the parameters that a user may set, their ranges, and what depends on each."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from rexmit import _core
from rexmit_studies.declared import UNITS

Value = float | str
#: What may stand before the dot of a key, and keys of a scenario that have none.
TOP_KEYS = ("duration", "seed", "name", "about", "source")


@dataclass(frozen=True)
class Axis:
    """One parameter of a study.

    name: as the user types it. about: what it is, a phrase. paper: the paper's value, in `unit`. low, high:
    the range. unit: one of `rexmit_studies.declared.UNITS`, or none. sets: the keys of a scenario that stand
    for a value; a scenario in which the study varies one of these keys itself keeps its own. None: the study
    reads the value. drives: patterns of the keys of figures, statements and claims that change with it. may:
    of those that depend on it and need not change. key: the scenario's key that says the same, with its unit.
    drawn: the study draws values around the paper's, so that setting the paper's is another experiment.
    owns: patterns of keys that cannot be set because this axis does. whole: whole numbers only. names: there
    is a list of names in place of a range. counts: what a value without a unit counts, for figures.
    """

    name: str
    about: str
    paper: Value
    drives: Sequence[str]
    low: float = 0.0
    high: float = math.inf
    unit: str = ""
    sets: Callable[[Any], Mapping[str, Any]] | None = None
    key: str = ""
    owns: Sequence[str] = ()
    whole: bool = False
    names: Callable[[], Sequence[str]] | None = None
    may: Sequence[str] = ()
    drawn: bool = False
    counts: str = ""

    def parsed(self, text: str, said: str, unit_needed: bool = False) -> Value:
        """The value that a text says, in the axis's unit. said: the words, for the error. Raises
        ValueError.
        """
        text = text.strip().strip('"')
        if self.names:
            return self._named(text, said)
        digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ% ")
        unit = text[len(digits) :].strip()
        try:
            value = float(digits)
        except ValueError:
            raise ValueError(f"{said}: a number is wanted, {self.shown(self.paper)} for example") from None
        if unit:
            if not self.unit or unit not in UNITS or not _alike(unit, self.unit):
                raise ValueError(f"{said}: {unit!r} is no unit of {self.name}; it is {self.range()}")
            value = float(f"{value * UNITS[unit] / UNITS[self.unit]:.12g}")
        elif unit_needed and self.unit:
            raise ValueError(f"{said}: {text} has no unit; {text}{self.unit} for example")
        if not self.low <= value <= self.high or (self.whole and value != int(value)):
            raise ValueError(f"{said}: {self.name} is {self.range()}")
        return int(value) if self.whole else value

    def _named(self, text: str, said: str) -> str:
        known = list(self.names()) if self.names else []
        if text in known:
            return text
        near = next(iter(get_close_matches(text, known, 1, 0.0)), "")
        raise ValueError(f"{said}: {text} is none; did you mean {near}? (rexmit stacks)")

    def range(self) -> str:
        """`from 0.1 to 500 ms`."""
        if self.names:
            return "the name of a stack (rexmit stacks)"
        kind = "a whole number " if self.whole else ""
        return f"{kind}from {self.low:g} to {self.shown(self.high)}"

    def shown(self, value: Value) -> str:
        """A value with its unit: `20 ms`."""
        text = value if isinstance(value, str) else f"{value:g}"
        return f"{text} {self.unit}".rstrip()

    def moves(self, key: str) -> bool:
        """Whether a figure, a statement or a claim depends on it."""
        return any(fnmatchcase(key, pattern) for pattern in (*self.drives, *self.may))

    def written(self, value: Any) -> str:
        """As the user types it: `20ms`."""
        return value if isinstance(value, str) else f"{value:.12g}{self.unit}"


def wire_stacks() -> list[str]:
    """The names of the stacks that are real endpoints, for an axis: the receiver is one."""
    return [one["name"] for one in json.loads(_core.stacks()) if one["wire"]]


def _alike(unit: str, other: str) -> bool:
    """Whether two units measure the same thing."""
    kinds = (("bps", "kbps", "Mbps", "Gbps"), ("bytes", "B", "kB", "MB", "KiB", "MiB"),
             ("ns", "us", "ms", "s", "min", "h"), ("packets",))  # fmt: skip
    return any(unit in kind and other in kind for kind in kinds)


def one_key(key: str, unit: str = "") -> dict[str, Any]:
    """What an axis is made with that is one key of the scenario, in the key's unit."""
    return {"key": key, "unit": unit, "sets": lambda value: {key: f"{value:.12g}{unit}" if unit else value}}


def find(
    axes: Sequence[Axis], name: str, value: str, study: str, option: str = "--set"
) -> tuple[Axis, Value] | None:
    """The axis that `--set NAME=VALUE` means, with its value; None for a key that belongs to no axis.
    option: how the value was given, for errors.

    Raises ValueError, with the nearest name, for a name that is no axis and can be no key, for a value out of
    range, and for a key that an axis sets with others.
    """
    said = f"{option} {name}={value}".strip()
    for axis in axes:
        if name == axis.name:
            return axis, axis.parsed(value, said)
        if axis.key and name == axis.key:
            return axis, axis.parsed(value, said, unit_needed=True)
        if any(fnmatchcase(name, pattern) for pattern in axis.owns):
            raise ValueError(
                f"{said}: study {study} sets this key by its axis {axis.name} ({axis.about}); "
                f"{option} {axis.name}={axis.paper} for example"
            )
    if "." in name or name in TOP_KEYS:
        return None
    known = [axis.name for axis in axes]
    near = next(iter(get_close_matches(name, known, 1, 0.5)), None)
    hint = f"; did you mean {near}?" if near else ""
    raise ValueError(
        f"{said}: {name} is no axis of study {study}{hint} ({', '.join(known) or 'it has none'})"
    )


def several(axes: Sequence[Axis], name: str, values: Sequence[str], study: str) -> tuple[Axis, list[Value]]:
    """The axis that `--vary NAME=a,b,c` means, with its values, each once. A unit behind the last value alone
    is that of all: `10,20,50ms`.

    Raises ValueError for a key that belongs to no axis, for a value that is none or out of range, for units
    behind some values only, and for fewer than two values.
    """
    said = f"--vary {name}={','.join(values)}"
    words = [word.strip() for word in values]
    units = [word.lstrip("+-.0123456789eE") if _begins_as_number(word) else None for word in words]
    if len(words) > 1 and units[-1] and not any(units[:-1]) and None not in units:
        words = [word + units[-1] for word in words[:-1]] + words[-1:]
    elif any(units) and not all(units) and None not in units:
        raise ValueError(f"{said}: some values have a unit and some have none; give each its unit")
    found: list[Value] = []
    axis = None
    for word in words:
        one = find(axes, name, word, study, "--vary")
        if one is None:
            known = ", ".join(axis.name for axis in axes)
            raise ValueError(f"{said}: {name} is no axis of study {study} ({known or 'it has none'})")
        axis, value = one
        if value not in found:
            found.append(value)
    if axis is None or len(found) < 2:
        raise ValueError(f"{said}: two different values are wanted; --set {name}={words[0]} is for one")
    return axis, found


def _begins_as_number(word: str) -> bool:
    return word[:1] in "+-.0123456789" and bool(word)
