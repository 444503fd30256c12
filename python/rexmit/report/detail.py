"""One flow as a page of `rexmit report` tells it: its row, its answer, its lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rexmit.report.tables import Tables, in_ns

if TYPE_CHECKING:
    from rexmit.frame import Frame
    from rexmit.report.tables import Part

Row = dict[str, Any]

#: Bursts, episodes and gaps that a page lists of a flow: the heaviest, in order of time.
MOST_LISTED = 4096
#: Intervals of a flow; of more, neighbours are added up.
MOST_INTERVALS = 10_000
#: What of the flow's JSON is no part of its row.
LISTS = ("bursts", "episodes", "idle", "outages", "answer")
#: What says something of a flow of many segments.
OF_LARGE = (
    *("paper_rto", "timers", "inference", "first_data_s", "last_data_s", "probes", "burst_mean"),
    *("burst_largest", "max_backoff", "idle_blocked_s", "idle_longest_s", "acks", "flight_max_bytes"),
    *("window", "ecn", "too_large"),
)


def detail(flow: Row, key: str, tables: Tables, brief: bool = False) -> Row:
    """Everything of a flow but its packets. flow: as docs/json.md has it.  key: how its blobs are named.
    brief: without what only a large flow shows.
    """
    number = int(flow["flow"])
    lists, left_out = {}, {}
    out = LISTS + OF_LARGE if brief else LISTS
    for name, weight in (("episodes", "cost_s"), ("bursts", "lost_segments"), ("idle", "length_s")):
        frame = tables.frame(name, number)
        kept = _heaviest(frame, weight)
        left_out[name] = len(frame) - len(kept)
        lists[name] = _sure(kept, flow.get(name) or [])
    told = intervals(tables.part("intervals", number))
    if brief:
        told = {
            name: told[name] for name in ("start_ns", "sent_bytes", "new_bytes", "acked_bytes", "length_s")
        }
    return {
        "flow": number,
        "key": key,
        "row": {name: value for name, value in flow.items() if name not in out},
        "answer": flow.get("answer"),
        "outages": flow.get("outages"),
        **lists,
        "left_out": left_out,
        "intervals": told,
    }


def _heaviest(frame: Frame, weight: str) -> list[Row]:
    """The heaviest rows in order of time."""
    if len(frame) > MOST_LISTED:
        weights = [-(value or 0.0) for value in frame.raw(weight)]
        frame = frame.take(sorted(sorted(range(len(frame)), key=weights.__getitem__)[:MOST_LISTED]))
    return sorted(frame.rows(), key=lambda row: float(row["start"]))


def _sure(rows: Sequence[Row], listed: Sequence[Row]) -> list[Row]:
    """Rows with their times in ns, and how sure they are where the answer says so."""
    known = {round(float(row["start_s"]) * 1e9): row for row in listed}
    made = []
    for row in rows:
        told = in_ns(row)
        sure = known.get(told["start_ns"], {})
        for name in ("certainty", "evidence", "outage"):
            if name in sure:
                told[name] = sure[name]
        made.append(told)
    return made


def intervals(frame: Frame | Part) -> Row:
    """The table `intervals` as columns, with how long each is."""
    step = -(-len(frame) // MOST_INTERVALS) if len(frame) else 1
    start = frame.plain("start")
    counts = ("sent_bytes", "new_bytes", "acked_bytes", "retransmitted_segments", "duplicate_acks")
    made: Row = {"start_ns": [round(at * 1e9) for at in start[::step]]}
    for name in (*counts, "flight_max_bytes"):
        values = frame.plain(name)
        some = [values[k : k + step] for k in range(0, len(frame), step)]
        made[name] = list(map(sum if name in counts else max, some))
    shortest = min((later - at for at, later in pairwise(start)), default=None)
    made["length_s"] = None if shortest is None else shortest * step
    return made
