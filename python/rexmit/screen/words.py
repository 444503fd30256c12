"""The closed sets of the answer (causes, triggers, kinds), as the core names them: one definition for all.

A value's name stands in JSON and tables; its words stand on the page and in figures. Both are spelled
once. In `crates/analysis/src`: causes of retransmission in `cause/`, idle reasons in `idle_cause/`, other
values of rows in `rows/sets.rs`, grounds in `sure/`. In `crates/explain/src`: causes of lost time in
`cause/`, findings in `findings/`, how sure in `certainty.rs`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from rexmit import _core


@cache
def _values() -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = json.loads(_core.closed_sets())
    return found


@cache
def closed_sets() -> dict[str, dict[str, str]]:
    """By set (`cause`, `idle_cause`, `trigger`, …), in the core's order: each value's name with its words."""
    return {of: {value["name"]: value["in_words"] for value in values} for of, values in _values().items()}


@cache
def properties(of: str, key: str) -> dict[str, str]:
    """A property (`colour`, `group`, …) of the values of a set, by name; only of those that have it."""
    return {value["name"]: value[key] for value in _values()[of] if key in value}


@cache
def looks() -> dict[str, dict[str, dict[str, str]]]:
    """By set and value, of the sets that have colours: `colour`, `group` and, of causes, `marker`."""
    keys = ("colour", "marker", "group")
    return {
        of: {value["name"]: {key: value[key] for key in keys if key in value} for value in values}
        for of, values in _values().items()
        if all("colour" in value for value in values)
    }


def cause_and_end(told: Mapping[str, Any]) -> str:
    """`sender-idle (client)`: a cause of lost time with the responsible end, from its `cause` and `by`."""
    return f"{told['cause']} ({told['by']})" if told["by"] else str(told["cause"])


#: Why a segment was sent again.
CAUSES = tuple(closed_sets()["cause"])
#: Why a sender was idle, in the order of precedence of docs/definitions.md.
IDLE_IN_WORDS = closed_sets()["idle_cause"]
#: How an episode went.
KIND_IN_WORDS = closed_sets()["episode_kind"]
