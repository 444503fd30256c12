"""A flow's packets as bins of time, at several scales: what a screen shows of more than it can draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from rexmit import _core
from rexmit.report.containers import Column, pack, whole
from rexmit.screen.words import CAUSES

if TYPE_CHECKING:
    from rexmit.report.columns import Columns
    from rexmit.report.packets import Packets

#: Bins of the finest level, at most, and how many of them one of the next holds.
FINEST, COARSER = 65_536, 8
#: Levels of fewer bins show nothing.
COARSEST = 64
#: Packets that are handed over at once.
BATCH = 131_072
#: Columns that the bins are made of.
WANTED = (
    *("time_ns", "data", "seq", "len", "ack", "window", "dsack", "cause", "flight", "lost", "needless"),
    *(f"sack{k}_{end}" for k in range(1, 5) for end in ("start", "end")),
)
#: Columns whose neighbours are alike.
ALIKE = (
    *("bin", "ack_max", "edge_max", "seq_min", "seq_max"),
    *("again_min", "again_max", "lost_min", "lost_max", "sack_min", "sack_max"),
)


def finest(
    packets: Packets, where: slice, most: int = FINEST, rtts: tuple[Columns, slice] | None = None
) -> _core.Level:
    """The packets of a flow, or a stretch of them, in `most` bins at most, and the round trips beside."""
    time = packets.columns["time_ns"][where]
    return over(packets, where, (int(time.min()), int(time.max())), most, rtts)


def over(
    packets: Packets,
    where: slice,
    span_ns: tuple[int, int],
    most: int,
    rtts: tuple[Columns, slice] | None = None,
) -> _core.Level:
    """The same over a stretch of time of its own."""
    beside = None if rtts is None else _stream(*rtts, ("time_ns", "rtt_us"))
    return _core.level(_stream(packets, where, WANTED), *span_ns, most, beside)


def all_levels(level: _core.Level) -> Iterator[_core.Level]:
    """A level and those that are coarser, the finest first."""
    yield level
    while level.bins > COARSEST * COARSER:
        level = level.coarser(COARSER)
        yield level


def container(level: _core.Level, **more: Any) -> bytes:
    """A level as a page reads it (kind "bins")."""
    return packed(pa.table(level), level.start_ns, level.bin_ns, level.bins, **more)


def packed(table: Any, start_ns: int, bin_ns: int, bins: int, **more: Any) -> bytes:
    """Rows of a level. What says nothing is left out: counts of 0, and ends of nothing."""
    columns = []
    for name in table.column_names:
        values = table.column(name).to_numpy()
        nothing = -1 if name.endswith(("_min", "_max", "_us")) else 0
        if name not in ("bin", "packets") and not (values != nothing).any():
            continue
        kind = values.astype(np.float64) if name == "bytes" else whole(values)
        columns.append(Column(name, kind, delta=name in ALIKE))
    return pack("bins", columns, causes=list(CAUSES), start_ns=start_ns, bin_ns=bin_ns, bins=bins, **more)


def _stream(columns: Columns, where: slice, names: tuple[str, ...]) -> Any:
    """Columns as an Arrow stream: views of them, one batch after another."""

    def batches() -> Iterator[Any]:
        for first in range(where.start, where.stop, BATCH):
            part = slice(first, min(first + BATCH, where.stop))
            yield pa.RecordBatch.from_arrays(
                [pa.array(columns.columns[n][part]) for n in names], schema=schema
            )

    schema = pa.schema([(name, pa.from_numpy_dtype(columns.columns[name].dtype)) for name in names])
    return pa.RecordBatchReader.from_batches(schema, batches())
