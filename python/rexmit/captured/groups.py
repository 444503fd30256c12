"""Flows added up: by pair of hosts, by host, by the port that was called, or by the cause of their time.

A capture of many flows is read from the top down: who lost time, and to what, before any single flow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from rexmit.frame import Batch, Made, batches
from rexmit.tables import Table

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.fleets.results import Fleet

By = Literal["pair", "host", "port", "cause"]

#: Pairs of hosts that stand above the worst flow of a capture of many.
PAIRS = 5
#: What flows can be added up by.
WAYS: tuple[By, ...] = ("pair", "host", "port", "cause")

#: Sums of the flows of one group, in the order of the table's columns, and what of `flows` they add up; None:
#: each flow counts as one.
COLUMNS = {
    "flows": None,
    "bytes": "bytes",
    "segments": "segments",
    "resent_segments": "retransmitted_segments",
    "timeouts": "timeouts",
    "episodes": "episodes",
    "unanswered": "unanswered",
    "resent_syns": "syn_retransmissions",
    "lost_s": "lost_s",
}
SUMS = tuple(COLUMNS)


def groups(capture: Capture | Fleet, by: By) -> Table:
    """Flows added up, those that lost most time first.

    by: "pair" (the two hosts, whichever sends), "host" (every flow counts for both its hosts), "port" (of the
    host that was called) or "cause".  Rows of the first three have `flows`, `bytes`, `segments`,
    `resent_segments`, `timeouts`, `episodes`, `unanswered` (flows whose SYN nobody answered), `resent_syns`
    and `lost_s`: for each flow the larger of what its episodes cost and of its idle time while data waited,
    and its handshake if that had to be sent again, or how long it called in vain. Rows by cause come in the
    order of their seconds, and have `cause`, `by` (the responsible end), `connections` (whose answer it is),
    `bytes` (of these) and `seconds` (over all connections). Raises ValueError if `by` is none of these.
    """
    if by not in WAYS:
        raise ValueError(f"by = {by!r} is none of {', '.join(WAYS)}")
    return Table(by, lambda: _by_cause(capture) if by == "cause" else _by_key(capture, KEYS[by]))


def _by_key(capture: Capture | Fleet, keys: Callable[[Batch], Iterator[list[str]]]) -> Made:
    """Adds up batch by batch, so that memory grows with groups and not with flows."""
    total: dict[str, list[Any]] = {}
    for batch in batches(capture.flows):
        columns = [[1] * len(batch) if name is None else batch.column(name) for name in COLUMNS.values()]
        sums = zip(*columns, strict=True)
        for mine, row in zip(keys(batch), sums, strict=True):
            for key in mine:
                have = total.get(key)
                total[key] = list(row) if have is None else [a + b for a, b in zip(have, row, strict=True)]
    rows = [
        dict(zip(SUMS, (*map(int, row[:-1]), row[-1]), strict=True), group=key) for key, row in total.items()
    ]
    rows.sort(key=lambda row: (-row["lost_s"], -row["bytes"], row["group"]))
    kinds = {"group": "text", **dict.fromkeys(SUMS, "int"), "lost_s": "float"}
    return Made(kinds, {name: [row[name] for row in rows] for name in kinds})


@lru_cache(maxsize=65_536)
def _host(endpoint: str) -> str:
    """`10.0.0.1` of `10.0.0.1:80`, `[2001:db8::1]` of `[2001:db8::1]:80`."""
    return endpoint.rpartition(":")[0]


def _ends(batch: Batch) -> Iterator[tuple[str, str]]:
    return zip(batch.column("sender"), batch.column("receiver"), strict=True)


def _pairs(batch: Batch) -> Iterator[list[str]]:
    return ([" ↔ ".join(sorted((_host(a), _host(b))))] for a, b in _ends(batch))


def _hosts(batch: Batch) -> Iterator[list[str]]:
    return ([_host(a), _host(b)] for a, b in _ends(batch))


def _ports(batch: Batch) -> Iterator[list[str]]:
    # Flows with odd numbers go towards the host that called: their sender was called.
    ends = zip(batch.column("flow"), _ends(batch), strict=True)
    return ([(a if flow % 2 else b).rpartition(":")[2]] for flow, (a, b) in ends)


KEYS: dict[By, Callable[[Batch], Iterator[list[str]]]] = {"pair": _pairs, "host": _hosts, "port": _ports}


def _by_cause(capture: Capture | Fleet) -> Made:
    """The table `causes` added up."""
    total: dict[tuple[str, str | None], list[Any]] = {}
    for batch in batches(capture.table("causes")):
        columns = (batch.column(name) for name in ("cause", "by", "answer", "bytes", "seconds"))
        for cause, by, answer, octets, seconds in zip(*columns, strict=True):
            have = total.setdefault((cause, by), [0, 0, 0.0])
            have[0] += bool(answer)
            have[1] += octets or 0
            have[2] += seconds
    rows = sorted(
        ((cause, by, *sums) for (cause, by), sums in total.items()),
        # A cause without an end that is responsible stands behind.
        key=lambda row: (-row[4], -row[2], row[0], row[1] is None, row[1] or ""),
    )
    kinds = {"cause": "text", "by": "text", "connections": "int", "bytes": "int", "seconds": "float"}
    return Made(kinds, {name: [row[i] for row in rows] for i, name in enumerate(kinds)})
