"""A live run's folder, read again: its captures, and the outages that its tables know."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rexmit.api import Capture

if TYPE_CHECKING:
    from rexmit.api import Flow

Row = dict[str, Any]

#: The tables count in ns, and so do captures; figures in seconds since the capture's first packet.
SAME_S = 1e-6


class LiveFolder(Capture):
    """Two captures of a live run, at a sender and at its receiver, read from the run's folder."""

    def __init__(self, folder: Path, sender: Path, receiver: Path) -> None:
        self.folder = folder
        options: dict[str, Any] = dict.fromkeys(("flow", "host", "port", "start", "end", "at", "idle"))
        super().__init__([str(sender)], [str(receiver)], options | {"interval": 1.0})

    @property
    def name(self) -> str:
        """The folder, as the user named it."""
        return f"{self.folder} (live)"

    def label(self, flow: Flow, rows: list[Row], table: Literal["bursts", "episodes"]) -> list[Row]:
        """Rows of a flow with `outage`, as the run's own table has it."""
        known = self._outages(flow, table)

        def outage(row: Row) -> str | None:
            near = min(known, key=lambda other: abs(other[0] - row["start"]), default=None)
            return near[1] if near is not None and abs(near[0] - row["start"]) < SAME_S else None

        return [row | {"outage": outage(row)} for row in rows]

    def _outages(self, flow: Flow, table: str) -> list[tuple[float, str | None]]:
        """When the flow's bursts or episodes began, s since the capture's first packet, and their outages."""
        import pyarrow.compute as pc

        from rexmit.frame import timestamp_ns

        flows, rows = (_table(self.folder, name) for name in ("flows", table))
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


def _table(folder: Path, name: str) -> Any:
    """One of the folder's tables; None if it is not there."""
    import pyarrow.csv
    import pyarrow.parquet

    path = folder / "tables" / name
    if path.with_suffix(".parquet").exists():
        return pyarrow.parquet.read_table(path.with_suffix(".parquet"))
    if path.with_suffix(".csv").exists():
        return pyarrow.csv.read_csv(path.with_suffix(".csv"))
    return None
