"""The kernel's word of a recording: told to the analysis of packets, and where they differ, in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

from rexmit import _core
from rexmit.captured.reasons import Joined, join
from rexmit.screen.units import count, plain_seconds, seconds
from rexmit.screen.words import closed_sets

Json = dict[str, Any]
Pair = tuple[str, str]

#: How the kernel's time of its sockets is counted; recordings of before 0.1 have none of it.
COUNTED = ("busy_us", "rwnd_limited_us", "sndbuf_limited_us")
#: Sorts of differences that a page has room for.
MOST = 4


def join_all(analysis: _core.Analysis, repairs: Any, sockets: Any) -> dict[int, Joined]:
    """Tells the analysis what the kernel knows of each flow that this host sent; by flow, what became of it.

    repairs, sockets: the kernel's tables, or None.
    """
    import pyarrow as pa

    events: dict[Pair, list[Json]] = defaultdict(list)
    for event in _rows(repairs):
        events[event["local"], event["remote"]].append(event)
    looks: dict[Pair, list[tuple[Any, ...]]] = defaultdict(list)
    if sockets is not None and set(COUNTED) <= set(sockets.column_names):
        columns = ["time", "local", "remote", "window_bytes", "mss", *COUNTED]
        for row in _rows(sockets.select(columns)):
            closed = row["window_bytes"] < row["mss"]
            looks[row["local"], row["remote"]].append(
                (row["time_ns"], *(row[name] for name in COUNTED), closed)
            )
    flows = pa.table(analysis.table("flows")).select(["flow", "sender", "receiver", "start", "end"])
    for name in ("start", "end"):
        flows = flows.set_column(flows.column_names.index(name), name, flows.column(name).cast(pa.int64()))
    seen: dict[int, list[Json]] = defaultdict(list)
    columns = ["flow", "time", "seq_start", "segments", "cause", "episode"]
    for row in _rows(pa.table(analysis.table("retransmissions")).select(columns)):
        seen[row["flow"]].append(row)
    found, told = {}, []
    for flow in flows.to_pylist():
        number, pair = int(flow["flow"]), (flow["sender"], flow["receiver"])
        mine = [look for look in looks.get(pair, ()) if flow["start"] <= look[0] <= flow["end"]]
        joined = None
        if pair in events and number in seen:
            joined = found[number] = join(seen[number], events[pair])
        if joined or len(mine) > 1:
            told.append((number, _repairs(seen[number], joined), bool(joined and joined.unseen), mine))
    analysis.tell(cast("Any", told))
    return found


def _repairs(rows: list[Json], joined: Joined | None) -> list[tuple[Any, ...]]:
    """As `Analysis.tell` takes them."""
    if joined is None:
        return []
    both = zip(rows, joined.reasons, joined.events, strict=True)
    return [
        (
            row["time_ns"],
            row["segments"],
            row["episode"],
            row["cause"],
            reason,
            int((event or {}).get("retransmits") or 0),
        )
        for row, reason, event in both
    ]


def _rows(rows: Any) -> list[Json]:
    """Rows as dicts, with `time_ns` for `time`."""
    import pyarrow as pa

    if rows is None:
        return []
    at = rows.column_names.index("time")
    return cast(
        "list[Json]", rows.set_column(at, "time_ns", rows.column("time").cast(pa.int64())).to_pylist()
    )


def told_by_kernel(flows: list[Json]) -> Iterator[str]:
    """What the sockets of the largest flow counted, and where packets alone say something else."""
    told = [flow for flow in flows if flow.get("kernel")]
    if not told:
        return
    largest = max(told, key=lambda flow: int(flow["bytes"]))
    limits: Json | None = largest["kernel"]["limits"]
    if limits:
        yield _counted(largest, limits)
    groups: dict[tuple[str, str, str], list[float]] = {}
    for flow in told:
        for each in flow["kernel"]["differ"]:
            groups.setdefault((each["what"], each["capture"], each["kernel"]), []).append(each["at_s"])
    for (what, ours, theirs), times in list(groups.items())[:MOST]:
        yield _difference(what, ours, theirs, sorted(times))
    if len(groups) > MOST:
        yield f"{count(len(groups) - MOST, 'more sort')} of difference in the JSON (kernel.differ)"


def _counted(flow: Json, limits: Json) -> str:
    held = {"the receiver's window": limits["receiver_window_s"], "its send buffer": limits["send_buffer_s"]}
    by = [f"by {what} for {plain_seconds(s)}" for what, s in held.items() if s > 0]
    busy, all_of_it = plain_seconds(limits["busy_s"]), plain_seconds(limits["seconds"])
    words = f"{flow['sender']} had data to send for {busy} of {all_of_it}"
    return words + (f", and was held {' and '.join(by)}" if by else "; no window or buffer held it")


def _difference(what: str, ours: str, theirs: str, times: list[float]) -> str:
    """One sentence: the kernel's word, and what packets alone say."""
    first, n = seconds(times[0]), len(times)

    def the(one: str) -> str:
        return f"the {one} at {first}" if n == 1 else f"{n:,} {one}s, the first at {first},"

    was = "was" if n == 1 else "were"
    if what == "trigger":
        words = TRIGGERS
        return f"{the('repair')} {was} set off by {words[theirs]}; packets alone say by {words[ours]}"
    if what == "timeouts":
        each = "" if n == 1 else " each"
        took = count(int(theirs), "timeout")
        return f"{the('repair')} took {took}{each}; packets alone say {ours}"
    causes = closed_sets()["idle_cause"]
    return f"{the('silence')} {was} {causes[theirs]}; packets alone say {causes[ours]}"


TRIGGERS = {
    "ack": "an ACK",
    "timer-rto": "the retransmission timer",
    "timer-probe": "the probe timer",
    "unrepaired": "nothing",
}
