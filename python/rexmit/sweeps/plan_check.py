"""The fields of a `plan.json`, checked before any of them is used: the folder may come from a stranger.

Names of tables become paths and SQL, axes and counts become loops, so each field must be what `making.make`
could have written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any, get_args

from rexmit.screen.say import one_line
from rexmit.sweeps.axes import Axis

#: Of `plan.json` and of the files beside it.
FORMAT = 1
#: Points and runs of a plan, at most. Every point is read before anything runs, at 0.4 ms each.
MOST_POINTS = 100_000
MOST_RUNS = 10**12
#: Runs of a block, at most; `sizing` makes blocks of a few thousand.
MOST_BLOCK = 1_000_000
#: Seeds are whole numbers below this.
SEEDS = 2**63
#: Longest text of a value in an error message.
SHOWN = 60


def known_tables() -> list[str]:
    """The tables that a sweep can keep beside `runs`."""
    from rexmit.files.output import ABOUT, OF_ANSWERS, RUN_ABOUT

    return [name for name in (*ABOUT, *RUN_ABOUT) if name not in OF_ANSWERS]


def read(text: str) -> tuple[str, dict[str, Any]]:
    """The digest that `plan.json` states, and the checked fields of its plan, by name.

    Raises ValueError that names the field, its value and what is allowed.
    """
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or not isinstance(said.get("digest"), str):
        raise ValueError("is no plan of a sweep, or cut off")
    digest = said.pop("digest")
    if said.get("format") != FORMAT:
        raise ValueError(f"format is {_shown(said.get('format'))}, and this rexmit reads format {FORMAT}")
    fields = _fields()
    missing = next((key for key in fields if key not in said), None)
    if missing is not None:
        raise ValueError(f"{missing} is missing, so it is no plan of a sweep, or cut off")
    foreign = next((key for key in said if key not in fields), None)
    if foreign is not None:
        raise ValueError(f"{_shown(foreign)} is no field of a plan ({', '.join(fields)})")
    for key, (is_right, allowed) in fields.items():
        if not is_right(said[key]):
            raise ValueError(f"{key} is {_shown(said[key])}; allowed: {allowed}")
    said["axes"] = tuple(
        Axis(tuple(axis["keys"]), tuple(map(tuple, axis["values"]))) for axis in said["axes"]
    )
    said["set"] = tuple((key, value) for key, value in said["set"])
    for key in ("pair", "until", "tables", "texts"):
        said[key] = tuple(said[key])
    _check_together(said)
    return digest, said


def _check_together(said: dict[str, Any]) -> None:
    """Checks what no field says alone. Raises ValueError."""
    keys = [key for axis in said["axes"] for key in axis.keys]
    if len(set(keys)) < len(keys):
        raise ValueError("axes: one key is varied twice")
    stranger = next((key for key in said["pair"] if key not in keys), None)
    if stranger is not None:
        raise ValueError(f"pair: {_shown(stranger)} is not varied")
    points = prod(len(axis.values) for axis in said["axes"])
    if points > MOST_POINTS:
        raise ValueError(f"axes: {points:,} points are too many; allowed: {MOST_POINTS:,}")
    runs, most = said["runs"], said["most"]
    if (most is None) == bool(said["until"]):
        raise ValueError("most and until: a plan has both or neither")
    if most is not None and most < runs:
        raise ValueError(f"most is {most:,}, below runs = {runs:,}")
    if points * (most or runs) > MOST_RUNS:
        raise ValueError(f"{points * (most or runs):,} runs are too many; allowed: {MOST_RUNS:,}")
    if said["texts"] and len(said["texts"]) != points:
        raise ValueError(f"texts: {len(said['texts']):,} texts for {points:,} points")
    from rexmit.sweeps.until import read as read_wish

    for wish in said["until"]:
        try:
            read_wish(wish)
        except ValueError as error:
            raise ValueError(one_line(str(error))) from None


def _shown(value: Any) -> str:
    text = one_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_some_of(known: Sequence[str]) -> Callable[[Any], bool]:
    return lambda value: _are_texts(value) and len(set(value)) == len(value) and set(value) <= set(known)


def _is_whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _is_length(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value > 0


def _or_null(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_right(value)


def _are_settings(value: Any) -> bool:
    return isinstance(value, list) and all(_are_texts(pair) and len(pair) == 2 for pair in value)


def _are_axes(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_axis, value))


def _is_axis(value: Any) -> bool:
    if not isinstance(value, dict) or set(value) != {"keys", "values"}:
        return False
    keys, rows = value["keys"], value["values"]
    if not _are_texts(keys) or not keys or not isinstance(rows, list) or not rows:
        return False
    return all(_are_texts(row) and len(row) == len(keys) for row in rows)


@cache
def _fields() -> dict[str, tuple[Callable[[Any], bool], str]]:
    """Each field of a plan: whether a value from JSON is one, and what is allowed."""
    from rexmit.running.one_run import At

    text = (_is_text, "text")
    texts = (_are_texts, "a list of texts")
    count = (_is_whole(1, MOST_RUNS), f"a whole number from 1 to {MOST_RUNS:,}")
    tables, vantages = known_tables(), get_args(At)
    return {
        "name": text,
        "label": text,
        "text": text,
        "set": (_are_settings, "a list of pairs of texts"),
        "axes": (_are_axes, "a list of axes, each with keys and rows of texts, a text for each key"),
        "pair": texts,
        "seed": (_is_whole(0, SEEDS - 1), "a whole number below 2^63"),
        "runs": count,
        "rexmit": text,
        "until": texts,
        "most": (_or_null(count[0]), f"null, or {count[1]}"),
        "tables": (_are_some_of(tables), f"a list of {', '.join(tables)}, each once"),
        "at": (lambda value: _is_text(value) and value in vantages, ", ".join(vantages)),
        "idle": (_or_null(_is_length), "null, or seconds above 0"),
        "interval": (_is_length, "seconds above 0"),
        "texts": texts,
        "block": (_is_whole(1, MOST_BLOCK), f"a whole number from 1 to {MOST_BLOCK:,}"),
        "format": (_is_whole(FORMAT, FORMAT), str(FORMAT)),
    }
