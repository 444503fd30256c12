"""The closed sets of the answer (causes, triggers, kinds), as the core names them: one definition for all.

A value's name stands in JSON and tables; its words stand on the page and in figures. Both are spelled
once, by `closed_sets!` in `crates/analysis/src`: those of rows in `rows/sets.rs`, limits in `limited/why.rs`,
how sure and why in `answer/certainty.rs`, findings in `answer/findings.rs`.
"""

from __future__ import annotations

import json
from functools import cache

from rexmit import _core


@cache
def closed_sets() -> dict[str, dict[str, str]]:
    """By set (`cause`, `idle_cause`, `trigger`, …), in the core's order: each value's name with its words."""
    told = json.loads(_core.closed_sets())
    return {name: {value["name"]: value["in_words"] for value in values} for name, values in told.items()}


#: Why a segment was sent again.
CAUSES = tuple(closed_sets()["cause"])
#: Why a sender was idle, in the order of precedence of docs/definitions.md.
IDLE_IN_WORDS = closed_sets()["idle_cause"]
#: How an episode went.
KIND_IN_WORDS = closed_sets()["episode_kind"]
