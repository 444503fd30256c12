"""What many captures come to: totals, hosts, hours, causes, the worst first. Added up batch by batch."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from rexmit.arrow import batches
from rexmit.captured.groups import COLUMNS, SUMS, groups

if TYPE_CHECKING:
    from rexmit.fleets.results import Fleet

#: Captures, flows and groups that are named.
NAMED = 7
#: At most so many times what a flow carried is what it could have carried besides, as `worst` of the core has
#: it: a few segments do not show a rate.
SHOWN = 8.0


def sums_of(batch: Any) -> dict[str, Any]:
    """What is added up, by name, for each flow of a batch."""
    one = pa.array([1] * batch.num_rows, pa.int64())
    found = {name: one if column is None else batch.column(column) for name, column in COLUMNS.items()}
    return found | {"unanswered": pc.cast(found["unanswered"], pa.int64())}


def lost_bytes(batch: Any, lost_s: Any) -> Any:
    """What each flow could have carried while it lost that time, at the rate of the rest of its time."""
    carried = pc.cast(batch.column("bytes"), pa.float64())
    rest = pc.subtract(batch.column("duration_s"), lost_s)
    most = pc.multiply(carried, SHOWN)
    could = pc.if_else(
        pc.greater(rest, 0.0),
        pc.min_element_wise(pc.divide(pc.multiply(carried, lost_s), rest), most),
        most,
    )
    return pc.cast(pc.floor(pc.if_else(pc.greater(lost_s, 0.0), could, 0.0)), pa.int64())


def totals(batch: Any) -> dict[str, Any]:
    """The sums of a batch of flows."""
    found = sums_of(batch)
    added = {name: pc.sum(found[name]).as_py() or 0 for name in SUMS}
    faults = batch.num_rows - batch.column("fault").null_count
    return added | {"lost_bytes": pc.sum(lost_bytes(batch, found["lost_s"])).as_py() or 0, "faults": faults}


def summary(fleet: Fleet) -> dict[str, Any]:
    """As `--json` has it (docs/fleet.md)."""
    captures = fleet.captures.to_arrow()
    read = captures.filter(pc.is_null(captures.column("error")))
    added = (*SUMS, "lost_bytes", "packets", "span_s", "not_analysed_packets", "faults")
    return {
        "captures": captures.num_rows,
        "unreadable": [
            {"path": row["path"], "error": row["error"]}
            for row in captures.filter(pc.is_valid(captures.column("error")))
            .select(["path", "error"])
            .to_pylist()
        ],
        "damaged": read.filter(pc.is_valid(read.column("damage"))).num_rows,
        "totals": {name: pc.sum(read.column(name)).as_py() or 0 for name in added},
        "worst_captures": _worst(read),
        "worst_flows": _worst_flows(fleet, captures),
        "hosts": groups(fleet, "host").head(NAMED),
        "pairs": groups(fleet, "pair").head(NAMED),
        "causes": groups(fleet, "cause").to_arrow().to_pylist(),
        "hours": _hours(fleet),
    }


def _worst(read: Any) -> list[dict[str, Any]]:
    rows = read.sort_by([("lost_bytes", "descending"), ("lost_s", "descending"), ("path", "ascending")])
    names = ["path", "flows", "bytes", "episodes", "timeouts", "unanswered", "lost_s", "lost_bytes"]
    lossy = rows.filter(pc.greater(rows.column("lost_s"), 0.0))
    return list(lossy.select(names).slice(0, NAMED).to_pylist())


def _worst_flows(fleet: Fleet, captures: Any) -> list[dict[str, Any]]:
    names = dict(
        zip(captures.column("capture").to_pylist(), captures.column("path").to_pylist(), strict=True)
    )
    worst: list[tuple[Any, ...]] = []
    for batch in batches(fleet.flows):
        lost_s = sums_of(batch)["lost_s"]
        stakes = lost_bytes(batch, lost_s)
        kept = pc.greater(lost_s, 0.0)
        columns = [
            stakes,
            lost_s,
            *(batch.column(name) for name in ("capture", "flow", "sender", "receiver")),
        ]
        rows = zip(*(pc.filter(column, kept).to_pylist() for column in columns), strict=True)
        worst = heapq.nlargest(NAMED, [*worst, *rows], key=lambda row: (row[0], row[1], -row[2], -row[3]))
    answers = _answers(fleet, {(capture, flow // 2) for _, _, capture, flow, _, _ in worst})
    return [
        {"path": names[capture], "flow": flow, "sender": sender, "receiver": receiver}
        | {"lost_s": lost, "lost_bytes": stake, "answer": answers.get((capture, flow // 2))}
        for stake, lost, capture, flow, sender, receiver in worst
    ]


def _answers(fleet: Fleet, wanted: set[tuple[int, int]]) -> dict[tuple[int, int], dict[str, Any]]:
    """The answers of some connections, each by its capture and its number there."""
    found = {}
    told = ["cause", "by", "seconds", "share", "certainty"]
    captures = pa.array(sorted({capture for capture, _ in wanted}), pa.int64())
    for batch in batches(fleet.causes):
        mine = pc.and_(batch.column("answer"), pc.is_in(batch.column("capture"), captures))
        for row in batch.filter(mine).select(["capture", "flow", *told]).to_pylist():
            which = row["capture"], row["flow"] // 2
            if which in wanted:
                found[which] = {name: row[name] for name in told}
    return found


def _hours(fleet: Fleet) -> list[dict[str, Any]]:
    """Episodes by the hour (UTC) in which they began."""
    parts = (
        pa.table(
            {
                "hour": pc.strftime(pc.floor_temporal(batch.column("start"), unit="hour"), "%Y-%m-%dT%H:00Z"),
                "timeouts": batch.column("timeouts"),
                "cost_s": pc.max_element_wise(pc.fill_null(batch.column("cost_s"), 0.0), 0.0),
            }
        )
        for batch in batches(fleet.episodes)
    )
    rows = _added(parts, "hour", {"cost_s": "sum", "timeouts": "sum", "hour": "count"})
    return sorted(
        (
            {"hour": row["hour"], "episodes": row["hour_count"]}
            | {"timeouts": row["timeouts_sum"], "cost_s": row["cost_s_sum"]}
            for row in rows
        ),
        key=lambda row: str(row["hour"]),
    )


def _added(parts: Iterable[Any], key: str, ways: dict[str, str]) -> list[dict[str, Any]]:
    """Sums and counts by a key; memory grows with its values."""
    found: dict[Any, dict[str, Any]] = {}
    for part in parts:
        for row in part.group_by(key).aggregate(list(ways.items())).to_pylist():
            have = found.setdefault(row[key], {key: row[key]})
            for name, way in ways.items():
                have[f"{name}_{way}"] = have.get(f"{name}_{way}", 0) + (row[f"{name}_{way}"] or 0)
    return list(found.values())
