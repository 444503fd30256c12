"""Flows added up: by pair of hosts, by host, by the port that was called, or by the cause of their time.

A capture of many flows is read from the top down: who lost time, and to what, before any single flow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from rexmit.frame import batches
from rexmit.tables import Table

if TYPE_CHECKING:
    from rexmit.api import Capture
    from rexmit.fleets.results import Fleet

By = Literal["pair", "host", "port", "cause"]

#: Pairs of hosts that stand above the worst flow of a capture of many.
PAIRS = 5
#: What flows can be added up by.
WAYS: tuple[By, ...] = ("pair", "host", "port", "cause")

_KEY = pa.string()
#: Sums of the flows of one group, in the order of the table's columns.
SUMS = (
    "flows",
    "bytes",
    "segments",
    "resent_segments",
    "timeouts",
    "episodes",
    "unanswered",
    "resent_syns",
    "lost_s",
)
#: Columns of rows by cause.
CAUSES = pa.schema(
    [
        ("cause", _KEY),
        ("by", _KEY),
        ("connections", pa.int64()),
        ("bytes", pa.int64()),
        ("seconds", pa.float64()),
    ]
)


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


def _by_key(capture: Capture | Fleet, keys: Callable[[Any], Sequence[Any]]) -> Any:
    """Adds up batch by batch, so that memory grows with groups and not with flows."""
    total: Any = None
    waiting: list[Any] = []
    for batch in batches(capture.flows):
        sums = sums_of(batch)
        for key in keys(batch):
            waiting.append(_added(pa.table({"group": pc.cast(key, _KEY), **sums})))
        # As many rows as there are groups: each row is added up as often as groups double, not once a batch.
        if total is None or sum(map(len, waiting)) >= len(total):
            total, waiting = _added(pa.concat_tables(waiting if total is None else [total, *waiting])), []
    if waiting:
        total = _added(pa.concat_tables([total, *waiting]))
    if total is None:
        return pa.table({"group": pa.array([], _KEY), **{name: pa.array([], pa.int64()) for name in SUMS}})
    order = [("lost_s", "descending"), ("bytes", "descending"), ("group", "ascending")]
    return total.sort_by(order)


def _added(rows: Any) -> Any:
    added = rows.group_by("group", use_threads=False).aggregate([(name, "sum") for name in SUMS])
    return added.select(["group", *(f"{name}_sum" for name in SUMS)]).rename_columns(["group", *SUMS])


def sums_of(batch: Any) -> dict[str, Any]:
    """What is added up, by name, for each flow of a batch."""
    column = batch.column
    return {
        "flows": pa.array([1] * batch.num_rows, pa.int64()),
        "bytes": column("bytes"),
        "segments": column("segments"),
        "resent_segments": column("retransmitted_segments"),
        "timeouts": column("timeouts"),
        "episodes": column("episodes"),
        "unanswered": pc.cast(column("unanswered"), pa.int64()),
        "resent_syns": column("syn_retransmissions"),
        "lost_s": column("lost_s"),
    }


def _host(endpoint: Any) -> Any:
    """`10.0.0.1` of `10.0.0.1:80`, `[2001:db8::1]` of `[2001:db8::1]:80`."""
    return pc.replace_substring_regex(endpoint, pattern=r":\d+$", replacement="")


def _pairs(batch: Any) -> Sequence[Any]:
    a, b = (_host(pc.cast(batch.column(end), _KEY)) for end in ("sender", "receiver"))
    first = pc.less(a, b)
    return [pc.binary_join_element_wise(pc.if_else(first, a, b), pc.if_else(first, b, a), " ↔ ")]


def _hosts(batch: Any) -> Sequence[Any]:
    return [_host(pc.cast(batch.column(end), _KEY)) for end in ("sender", "receiver")]


def _ports(batch: Any) -> Sequence[Any]:
    # Flows with odd numbers go towards the host that called: their sender was called.
    answers = pc.equal(pc.bit_wise_and(pc.cast(batch.column("flow"), pa.int64()), 1), 1)
    called = pc.if_else(
        answers, pc.cast(batch.column("sender"), _KEY), pc.cast(batch.column("receiver"), _KEY)
    )
    return [pc.replace_substring_regex(called, pattern=r"^.*:", replacement="")]


KEYS: dict[By, Callable[[Any], Sequence[Any]]] = {"pair": _pairs, "host": _hosts, "port": _ports}


def _by_cause(capture: Capture | Fleet) -> Any:
    """The table `causes` added up."""
    total: Any = None
    for batch in batches(capture.table("causes")):
        part = pa.table(
            {
                "cause": pc.cast(batch.column("cause"), _KEY),
                "by": pc.cast(batch.column("by"), _KEY),
                "connections": pc.cast(batch.column("answer"), pa.int64()),
                "bytes": batch.column("bytes"),
                "seconds": batch.column("seconds"),
            }
        )
        total = _same_cause(part if total is None else pa.concat_tables([total, part]))
    if total is None:
        return CAUSES.empty_table()
    order = [("seconds", "descending"), ("connections", "descending")]
    return total.cast(CAUSES).sort_by([*order, ("cause", "ascending"), ("by", "ascending")])


def _same_cause(rows: Any) -> Any:
    sums = CAUSES.names[2:]
    added = rows.group_by(["cause", "by"], use_threads=False).aggregate([(name, "sum") for name in sums])
    return added.select(["cause", "by", *(f"{name}_sum" for name in sums)]).rename_columns(CAUSES.names)
