"""The packets of a capture as columns, and what is known of each."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rexmit.captured.lost import among
from rexmit.frame import Frame
from rexmit.report.columns import Array, Columns, Told, nanoseconds, places
from rexmit.report.containers import Column, pack, whole
from rexmit.report.tables import Tables
from rexmit.screen.words import CAUSES, closed_sets

#: Words of the closed columns, by their number in the store; "" for none.
WORDS: dict[str, list[str]] = {"cause": ["", *CAUSES], "class": list(closed_sets()["packet_class"])}
SACK = tuple(f"sack{k}_{end}" for k in range(1, 5) for end in ("start", "end"))
#: Names here, their kinds, and whether neighbours differ by less than they are: then differences are stored.
KINDS: dict[str, tuple[str, bool]] = {
    "packet": ("u4", True),
    "time_ns": ("i8", True),
    "data": ("u1", False),
    "flags": ("u2", False),
    "seq": ("i8", True),
    "len": ("u4", False),
    "ack": ("i8", True),
    "window": ("i8", False),
    **dict.fromkeys(SACK, ("i8", True)),
    "dsack": ("u1", False),
    "ts_val": ("i8", True),
    "ts_ecr": ("i8", True),
    "cause": ("u1", False),
    "class": ("u1", False),
    "flight": ("i8", True),
    "lost": ("u1", False),
    "needless": ("u1", False),
    "episode": ("u2", False),
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

    def container(self, where: slice | Array, *, complete: bool = True, **more: Any) -> bytes:
        """Rows as a page reads them (kind "packets")."""
        made = []
        for name, (kind, delta) in KINDS.items():
            values = self.columns[name][where]
            if name in OPTIONAL and not (values != OPTIONAL[name]).any():
                continue
            if name == "time_ns":
                values = values.astype(np.float64)
            elif kind == "i8":
                values = whole(values)
            made.append(Column(name, np.asarray(values), delta))
        time = self.columns["time_ns"][where]
        span = {"from_ns": int(time.min()), "to_ns": int(time.max())} if len(time) else {}
        return pack("packets", made, words=WORDS, **span, complete=complete, **more)


def read(tables: Tables, told: Told | None = None) -> Packets:
    """The packets of a capture, which have been kept, or are read once more; `told` as in `Columns.fill`."""
    table = tables.capture.table("packets")
    made = Packets(len(table), tables.capture.origin_ns)
    made.fill(table, lambda batch, name: _values(batch, name, made.origin_ns), told)
    _judge(made, tables)
    return made


def _values(batch: Any, name: str, origin_ns: int) -> Array:
    """A column of a batch in the kind of the store."""
    if name in FOUND:
        return np.zeros(0)
    if name == "time_ns":
        return nanoseconds(batch.column("time"), origin_ns)
    column = batch.column(TABLE_NAMES.get(name, name))
    if name in WORDS:
        return places(column, WORDS[name])
    if not pa.types.is_boolean(column.type):
        column = column.cast(pa.int64())
        if column.null_count:
            column = pc.fill_null(column, NONE.get(name, 0))
    return cast("Array", column.to_numpy(zero_copy_only=False))


def _judge(made: Packets, tables: Tables) -> None:
    """Which packets were lost, which were needless, and of which episode each is."""
    for flow in tables.flows("bursts"):
        bursts, rows = tables.frame("bursts", flow), made.of(flow)
        told = {name: bursts[name] for name in ("start", "seq_start", "seq_end", "lost_copies")}
        told["last"] = np.where(np.isnan(bursts["last"]), bursts["start"], bursts["last"])
        packets = {name: made.columns[name][rows] for name in ("data", "seq", "len")}
        packets["time"] = made.columns["time_ns"][rows] / 1e9
        made.columns["lost"][rows] = among(packets, told)
    for flow in tables.flows("episodes"):
        rows = made.of(flow)
        time = made.columns["time_ns"][rows]
        made.columns["episode"][rows] = _episode_of(time, tables.frame("episodes", flow))
    for flow in tables.flows("retransmissions"):
        resent, rows = tables.frame("retransmissions", flow), made.of(flow)
        in_vain = resent["packet"][resent["needless"]]
        if len(in_vain):
            made.columns["needless"][rows] = np.isin(made.columns["packet"][rows], in_vain)


def _episode_of(time_ns: Array, episodes: Frame) -> Array:
    """Of each packet the number of its episode from 1, 0 for none."""
    start, end = episodes["start"], episodes["end"]
    order = np.argsort(start)
    start, end, number = start[order], np.where(np.isnan(end), np.inf, end)[order], episodes["number"][order]
    time = time_ns / 1e9
    place = np.searchsorted(start - 1e-9, time, side="right") - 1
    inside = (place >= 0) & (time <= end[np.maximum(place, 0)] + 1e-9)
    found = np.where(inside, number[np.maximum(place, 0)] + 1, 0)
    return np.where(found > MOST_EPISODES, 0, found)
