"""Figures over many short flows: how long they took, and how many waited for a timer at their end."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

from rexmit.frame import batches

if TYPE_CHECKING:
    from rexmit.api import Capture

NEEDED = ("start", "last_data", "timeouts", "retransmitted_segments", "closed")


def many(capture: Capture) -> dict[str, Any]:
    """Completion times (first packet to last data packet, s) and tail losses over all flows.

    `completion_s` has `all`, `clean` (nothing sent again) and `timeout` (at least one timeout), each with n,
    p50, p90, p99 in s, over the connections that ended with a FIN. `tails` counts the flows with an episode
    that a timer had to repair because nothing more was to be sent. `pairs` are the pairs of hosts that lost
    most time (`rexmit.captured.groups`), one more than a page names; `unanswered` counts flows whose SYN
    nobody answered.
    """
    from rexmit.captured.groups import PAIRS, groups

    length: dict[str, list[float]] = {"all": [], "clean": [], "timeout": []}
    for batch in batches(capture.flows):
        columns = (batch.column(name) for name in NEEDED)
        for start, last_data, timeouts, again, closed in zip(*columns, strict=True):
            if last_data is None or closed not in ("fin", "half-fin"):
                continue
            # Both count from the same instant, so that lengths are those of the other tables.
            took = (last_data - capture.origin_ns) / 1e9 - (start - capture.origin_ns) / 1e9
            length["all"].append(took)
            if not again:
                length["clean"].append(took)
            if timeouts:
                length["timeout"].append(took)
    tails: set[int] = set()
    for batch in batches(capture.episodes):
        tails.update(compress(batch.column("flow"), batch.column("tail")))
    pairs = groups(capture, "pair").to_pylist()
    return {
        "pairs": pairs[: PAIRS + 1],
        "unanswered": sum(row["unanswered"] for row in pairs),
        "tails": len(tails),
        "completion_s": {name: _quantiles(values) for name, values in length.items()},
    }


def _quantiles(values: list[float]) -> dict[str, float]:
    """How many, and the 50th, 90th and 99th percentile, between neighbours in proportion."""
    if not values:
        return {"n": 0}
    ordered = sorted(values)
    found: dict[str, float] = {"n": len(ordered)}
    for percent in (50, 90, 99):
        place, rest = divmod((len(ordered) - 1) * percent, 100)
        above = ordered[min(place + 1, len(ordered) - 1)]
        found[f"p{percent}"] = ordered[place] + (above - ordered[place]) * rest / 100
    return found
