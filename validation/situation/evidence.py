"""The rows of the simulator's tables that are about one conversation. Nothing here comes from the analysis.

Times are whole nanoseconds since the run began. A conversation is the first connection of one flow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyarrow import Table

    from rexmit import Run

TABLES: Final = ("hosts", "applications", "blocked", "queues", "held", "drops", "state")

Row = dict[str, Any]


@dataclass
class Evidence:
    """Rows of the tables that docs/running.md describes, those of one conversation."""

    hosts: list[Row] = field(default_factory=list)
    applications: list[Row] = field(default_factory=list)
    blocked: list[Row] = field(default_factory=list)
    #: Packets of all conversations: other flows keep a link busy, too. `name` is that of the flow.
    queues: list[Row] = field(default_factory=list)
    held: list[Row] = field(default_factory=list)
    drops: list[Row] = field(default_factory=list)
    state: list[Row] = field(default_factory=list)
    flow: str = "main"
    #: When the run ended.
    end_ns: int = 0


def read(run: Run, flow: str = "main") -> Evidence:
    """The rows of a run's tables. The run was made with `tables=TABLES`."""
    found = {name: _rows(run, name, None if name == "queues" else flow) for name in TABLES}
    return Evidence(**found, flow=flow, end_ns=round(run.summary["time_s"] * 1e9))


def _rows(run: Run, name: Any, flow: str | None) -> list[Row]:
    import pyarrow.compute as pc

    table = run.table(name).to_arrow(unit="ns")
    if flow is not None:
        table = table.filter(pc.and_(pc.equal(table["name"], flow), pc.equal(table["connection"], 0)))
    return in_ns(table)


def in_ns(table: Table) -> list[Row]:
    """The rows of an Arrow table whose times have the unit ns, each time as a whole number."""
    import pyarrow as pa

    for at, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type):
            table = table.set_column(at, column.name, table.column(at).cast(pa.int64()))
    rows: list[Row] = table.to_pylist()
    return rows
