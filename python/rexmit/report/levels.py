"""A flow's packets as bins of time, at several scales: what a screen shows of more than it can draw."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rexmit import _core
from rexmit.frame import Frame
from rexmit.report.containers import Column, pack, whole
from rexmit.screen.words import CAUSES

if TYPE_CHECKING:
    from rexmit.report.columns import Columns
    from rexmit.report.packets import Packets

#: Bins of the finest level, at most, and how many of them one of the next holds.
FINEST, COARSER = 65_536, 8
#: Levels of fewer bins show nothing.
COARSEST = 64
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
    return over(packets, where, (min(time), max(time)), most, rtts)


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


def table(level: _core.Level) -> dict[str, Sequence[Any]]:
    """The columns of a level."""
    rows = Frame(level)
    return {name: rows.raw(name) for name in rows.kinds}


def container(level: _core.Level, **more: Any) -> bytes:
    """A level as a page reads it (kind "bins")."""
    return packed(table(level), level, **more)


def packed(rows: Mapping[str, Sequence[Any]], level: _core.Level, **more: Any) -> bytes:
    """Rows of a level. What says nothing is left out: counts of 0, and ends of nothing."""
    columns = []
    for name, values in rows.items():
        nothing = -1 if name.endswith(("_min", "_max", "_us")) else 0
        if name not in ("bin", "packets") and all(value == nothing for value in values):
            continue
        kind = array("d", values) if name == "bytes" else whole(values)
        columns.append(Column(name, kind, delta=name in ALIKE))
    span = {"start_ns": level.start_ns, "bin_ns": level.bin_ns, "bins": level.bins}
    return pack("bins", columns, causes=list(CAUSES), **span, **more)


def _stream(columns: Columns, where: slice, names: tuple[str, ...]) -> Any:
    """Columns as an Arrow stream of one batch, which shares their memory."""
    import nanoarrow as na

    types = {"q": na.int64(), "I": na.uint32(), "H": na.uint16(), "B": na.uint8()}
    parts = {name: columns.columns[name][where] for name in names}
    schema = {name: types[part.format] for name, part in parts.items()}
    rows = len(parts[names[0]])
    children = [na.c_array_from_buffers(schema[name], rows, [None, part]) for name, part in parts.items()]
    return na.c_array_stream(na.c_array_from_buffers(na.struct(schema), rows, [None], children=children))
