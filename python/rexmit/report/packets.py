"""The packets of a capture as columns, and what is known of each."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain
from typing import Any

from rexmit.captured.lost import among
from rexmit.frame import Batch
from rexmit.report.columns import Columns, Told, nanoseconds, places
from rexmit.report.containers import Column, pack, whole
from rexmit.report.tables import Tables
from rexmit.screen.words import CAUSES, closed_sets

#: Words of the closed columns, by their number in the store; "" for none.
WORDS: dict[str, list[str]] = {"cause": ["", *CAUSES], "class": list(closed_sets()["packet_class"])}
SACK = tuple(f"sack{k}_{end}" for k in range(1, 5) for end in ("start", "end"))
#: Names here, their kinds, and whether neighbours differ by less than they are: then differences are stored.
KINDS: dict[str, tuple[str, bool]] = {
    "packet": ("I", True),
    "time_ns": ("q", True),
    "data": ("B", False),
    "flags": ("H", False),
    "seq": ("q", True),
    "len": ("I", False),
    "ack": ("q", True),
    "window": ("q", False),
    **dict.fromkeys(SACK, ("q", True)),
    "dsack": ("B", False),
    "ts_val": ("q", True),
    "ts_ecr": ("q", True),
    "cause": ("B", False),
    "class": ("B", False),
    "flight": ("q", True),
    "lost": ("B", False),
    "needless": ("B", False),
    "episode": ("H", False),
}
#: In the table under another name.
TABLE_NAMES = {"window": "window_bytes", "flight": "flight_bytes"}
#: Found here, not in the table.
FOUND = ("lost", "needless", "episode")
#: What stands for none.
NONE = {"ack": -1, "window": -1, "ts_val": -1, "ts_ecr": -1}
#: Left out of a container where it says nothing.
OPTIONAL = {**dict.fromkeys(SACK, 0), "ts_val": -1, "ts_ecr": -1, "window": -1}
MOST_EPISODES = 2**16 - 1


class Packets(Columns):
    """The packets of a capture, in its order."""

    def __init__(self, rows: int, origin_ns: int) -> None:
        super().__init__({name: kind for name, (kind, _) in KINDS.items()}, rows)
        self.origin_ns = origin_ns

    def container(self, *where: slice, complete: bool = True, **more: Any) -> bytes:
        """Rows as a page reads them (kind "packets")."""
        made = []
        for name, (kind, delta) in KINDS.items():
            parts = [self.columns[name][rows] for rows in where]
            values: Any = parts[0] if len(parts) == 1 else array(kind, chain.from_iterable(parts))
            if name in OPTIONAL and _all(values, OPTIONAL[name]):
                continue
            if name == "time_ns":
                values = array("d", values)
            elif kind == "q":
                values = whole(values)
            made.append(Column(name, values, delta))
        times = [self.columns["time_ns"][rows] for rows in where if rows.stop > rows.start]
        span = {"from_ns": min(map(min, times)), "to_ns": max(map(max, times))} if times else {}
        return pack("packets", made, words=WORDS, **span, complete=complete, **more)


def _all(values: Any, one: int) -> bool:
    """Whether all values are this one."""
    return not len(values) or (values[0] == one and min(values) == one == max(values))


def read(tables: Tables, told: Told | None = None) -> Packets:
    """The packets of a capture, which have been kept, or are read once more; `told` as in `Columns.fill`."""
    table = tables.capture.table("packets")
    made = Packets(len(table), tables.capture.origin_ns)
    made.fill(table, lambda batch, name: _values(batch, name, made.origin_ns), told)
    _judge(made, tables)
    return made


def _values(batch: Batch, name: str, origin_ns: int) -> Sequence[Any]:
    """A column of a batch in the kind of the store."""
    if name in FOUND:
        return ()
    if name == "time_ns":
        return nanoseconds(batch, origin_ns)
    if name in WORDS:
        return places(batch.column(name), WORDS[name])
    return batch.filled(TABLE_NAMES.get(name, name), NONE.get(name, 0))


def _judge(made: Packets, tables: Tables) -> None:
    """Which packets were lost, which were needless, and of which episode each is."""
    columns = made.columns
    for flow in tables.flows("bursts"):
        rows = made.of(flow)
        packets: dict[str, Sequence[Any]] = {name: columns[name][rows] for name in ("data", "seq", "len")}
        packets["time"] = [time / 1e9 for time in columns["time_ns"][rows]]
        columns["lost"][rows] = memoryview(among(packets, tables.rows("bursts", flow)))
    for flow in tables.flows("episodes"):
        rows = made.of(flow)
        time = columns["time_ns"][rows]
        columns["episode"][rows] = _episode_of(time, tables.rows("episodes", flow))
    for flow in tables.flows("retransmissions"):
        resent, rows = tables.frame("retransmissions", flow), made.of(flow)
        both = zip(resent.plain("packet"), resent.plain("needless"), strict=True)
        in_vain = {packet for packet, needless in both if needless}
        if in_vain:
            columns["needless"][rows] = memoryview(bytes(n in in_vain for n in columns["packet"][rows]))


def _episode_of(time_ns: Sequence[int], episodes: Sequence[dict[str, Any]]) -> array[int]:
    """Of each packet the number of its episode from 1, 0 for none."""
    ordered = sorted(episodes, key=lambda episode: float(episode["start"]))
    starts = [episode["start"] - 1e-9 for episode in ordered]
    made = array("H", bytes(2 * len(time_ns)))
    for place, time in enumerate(time_ns):
        at = time / 1e9
        k = bisect_right(starts, at) - 1
        if k >= 0 and (ordered[k]["end"] is None or at <= ordered[k]["end"] + 1e-9):
            number = ordered[k]["number"] + 1
            made[place] = number if number <= MOST_EPISODES else 0
    return made
