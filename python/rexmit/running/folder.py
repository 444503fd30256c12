"""A live run's folder, read again: its captures, and the outages that its tables know."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rexmit import extras
from rexmit.api import Capture
from rexmit.files.reach import lexists
from rexmit.files.reading import contents

if TYPE_CHECKING:
    from rexmit.captured.flows import Flow

Row = dict[str, Any]

#: The tables count in ns, and so do captures; figures in seconds since the capture's first packet.
SAME_S = 1e-6


NUMBER, TEXT, MOMENT = ("is_integer",), ("is_string", "is_large_string", "is_dictionary"), ("is_timestamp",)
#: Columns without which a table is none of rexmit's, by their kinds as Arrow names them.
NEEDED: dict[str, dict[str, tuple[str, ...]]] = {
    "flows": {"flow": NUMBER, "sender": TEXT, "receiver": TEXT},
    "bursts": {"flow": NUMBER, "start": MOMENT},
    "episodes": {"flow": NUMBER, "start": MOMENT},
    # The kernel's word in a recording.
    "retransmissions": {
        "time": MOMENT,
        **dict.fromkeys(("local", "remote", "cause"), TEXT),
        **dict.fromkeys(("seq", "seq_end", "segments"), NUMBER),
    },
}


class LiveFolder(Capture):
    """Two captures of a live run, at a sender and at its receiver, read from the run's folder."""

    def __init__(
        self,
        folder: Path,
        sender: Path,
        receiver: Path,
        progress: Any = None,
        tables: Any = (),
        threads: int | None = None,
        max_memory: int | str | None = None,
    ) -> None:
        self.folder = folder
        options: dict[str, Any] = dict.fromkeys(("flow", "host", "port", "start", "end", "at", "idle"))
        super().__init__(
            [str(sender)],
            [str(receiver)],
            options | {"interval": 1.0, "threads": threads, "max_memory": max_memory},
            tuple(tables),
            progress,
        )

    @property
    def name(self) -> str:
        """The folder, as the user named it."""
        return f"{self.folder} (live)"

    def outages_of(
        self, flow: Flow, table: Literal["bursts", "episodes"], starts: Sequence[float]
    ) -> list[str | None]:
        """Which outage took data of the bursts or episodes that began then, as the run's own table has it."""
        known = sorted(self._outages(flow, table), key=lambda one: one[0])
        times = [time for time, _ in known]
        found: list[str | None] = []
        for start in starts:
            place = bisect_left(times, start)
            near = min(
                known[max(0, place - 1) : place + 1], key=lambda one: abs(one[0] - start), default=None
            )
            found.append(near[1] if near is not None and abs(near[0] - start) < SAME_S else None)
        return found

    def _outages(self, flow: Flow, rows_of: str) -> list[tuple[float, str | None]]:
        """When the flow's bursts or episodes began, s since the capture's first packet, and their outages."""
        import pyarrow.compute as pc

        from rexmit.arrow import timestamp_ns

        flows, rows = (table(self.folder, name) for name in ("flows", rows_of))
        if flows is None or rows is None or "outage" not in rows.column_names:
            return []
        same = pc.and_(
            pc.equal(flows.column("sender"), flow.sender), pc.equal(flows.column("receiver"), flow.receiver)
        )
        mine = rows.filter(pc.is_in(rows.column("flow"), flows.filter(same).column("flow")))
        starts = [(timestamp_ns(start) - self.origin_ns) / 1e9 for start in mine.column("start")]
        # As text, none is an empty word.
        outages = [outage or None for outage in mine.column("outage").to_pylist()]
        return list(zip(starts, outages, strict=True))


def table(folder: Path, name: str, inside: str = "tables") -> Any:
    """One of the folder's tables; None if it is not there."""
    extras.need("tables", "a live run")
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    for form, read in ((".parquet", pyarrow.parquet.read_table), (".csv", pyarrow.csv.read_csv)):
        path = (folder / inside / name).with_suffix(form)
        if not lexists(path):
            continue
        try:
            # Read here: Arrow takes no name that is not UTF-8.
            return with_columns(read(pa.BufferReader(contents(path))), NEEDED.get(name, {}))
        except (pa.ArrowException, OSError, KeyError):
            raise ValueError(f"{path}: is no such table of rexmit's, or cut off; remove it") from None
    return None


def with_columns(found: Any, kinds: dict[str, tuple[str, ...]]) -> Any:
    """The table. Raises KeyError if one of the columns is not there, or of another kind."""
    from pyarrow import types

    for name, wanted in kinds.items():
        kind = found.column(name).type
        # A table without rows, as text, does not say of what kind.
        if not types.is_null(kind) and not any(getattr(types, of)(kind) for of in wanted):
            raise KeyError(name)
    return found
