"""Tables as people use them: Arrow underneath, Polars, pandas and pyarrow on top, a readable head when
printed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from rexmit import extras
from rexmit.screen.say import markup
from rexmit.screen.text_table import aligned

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from rexmit.frame import ArrowStream

#: Rows that a printed table shows.
SHOWN = 10


class Table:
    """Rows of one kind. Hand it to Polars, pandas, pyarrow or DuckDB as it is: they read it through Arrow.

    Times are nanosecond timestamps (UTC), lengths of time float64 seconds (`_s`), sizes int64 bytes
    (`_bytes`). Iterating gives rows as `to_pylist` has them, batch by batch.
    """

    def __init__(self, name: str, load: Callable[[], ArrowStream]) -> None:
        self.name = name
        self._load = load
        self._rows: Any = None

    def _source(self) -> Any:
        if self._rows is None:
            self._rows = self._load()
        return self._rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._source().__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._source())

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        from rexmit.frame import Opened

        return [kind.name for kind in Opened(self).kinds]

    def __iter__(self) -> Iterator[Any]:
        from rexmit.frame import batches

        for batch in batches(self):
            yield from batch.rows()

    def to_pylist(self) -> list[dict[str, Any]]:
        """All rows as dictionaries, times as whole nanoseconds since 1970 (UTC)."""
        return list(Table.__iter__(self))

    def to_arrow(self, unit: Literal["us", "ns"] = "us") -> pyarrow.Table:
        """As a pyarrow Table.

        unit: of its times. Python's datetime holds microseconds, and pyarrow makes Python values of
        nanoseconds only where pandas is installed; so times are cut to microseconds unless unit is "ns".
        `pa.table(table)` has nanoseconds, too.
        """
        extras.need("tables", "to_arrow")
        import pyarrow as pa

        if unit not in ("us", "ns"):
            raise ValueError(f"unit = {unit!r}: us or ns")
        rows = pa.table(self)
        if unit == "ns":
            return rows
        return rows.cast(
            pa.schema([_in_us(field) for field in rows.schema], rows.schema.metadata), safe=False
        )

    def to_polars(self) -> polars.DataFrame:
        """As a Polars DataFrame, without a copy. Raises ImportError with the fix if Polars is missing."""
        try:
            import polars as pl
        except ImportError as error:
            raise ImportError("to_polars needs Polars: pip install polars") from error
        return pl.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """As a pandas DataFrame with Arrow's types. Raises ImportError with the fix if pandas is missing."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        frame: pandas.DataFrame = self.to_arrow(unit="ns").to_pandas(types_mapper=pd.ArrowDtype)
        return frame

    def head(self, n: int = SHOWN) -> list[dict[str, Any]]:
        """The first n rows as `to_pylist` has them."""
        from rexmit.frame import batches

        rows: list[dict[str, Any]] = []
        for batch in batches(self):
            rows += batch.slice(0, min(len(batch), n - len(rows))).rows()
            if len(rows) >= n:
                break
        return rows

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        from rexmit.frame import Opened

        rows = self.head()
        times = {kind.name for kind in Opened(self).kinds if kind.what == "time"}
        names = [c for c in self.columns if any(row.get(c) is not None for row in rows)] or self.columns

        def shown(name: str, value: Any) -> str:
            return clock(value) if name in times and value is not None else cell(value)

        return names, [[shown(name, row.get(name)) for name in names] for row in rows]

    def __repr__(self) -> str:
        n = len(self)
        names, rows = self._cells()
        # What fits on a line; the rest is named, not cut.
        widths = [max([len(name)] + [len(row[i]) for row in rows]) for i, name in enumerate(names)]
        fit, used = 0, 0
        while fit < len(names) and used + widths[fit] + 2 <= 118:
            used += widths[fit] + 2
            fit += 1
        lines = [f"{self.name}: {n:,} rows, {len(self.columns)} columns"]
        lines += aligned([line[:fit] for line in [names, *rows]], left=())
        if n > len(rows):
            lines.append(f"… {n - len(rows):,} more rows")
        if fit < len(names):
            lines.append("also: " + ", ".join(names[fit:]))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        names, rows = self._cells()
        head = "".join(f"<th>{markup(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{markup(c)}</td>" for c in row) + "</tr>" for row in rows)
        caption = f"<caption>{markup(self.name)}: {len(self):,} rows</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _in_us(field: Any) -> Any:
    """A field of a schema, in microseconds if it is a time."""
    import pyarrow as pa

    return field.with_type(pa.timestamp("us", field.type.tz)) if pa.types.is_timestamp(field.type) else field


def cell(value: Any) -> str:
    """A value as a printed table shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def clock(time_ns: int) -> str:
    """A time of day, of nanoseconds since 1970 (UTC), as a printed table shows it: `12:34:56.000001`."""
    seconds, rest = divmod(time_ns // 1000, 1_000_000)
    return f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{rest:06}"


class Named(ABC):
    """The tables of a capture, of a run or of many runs, each by its name."""

    @abstractmethod
    def table(self, name: Any) -> Table:
        """One of the tables by its name."""

    @property
    def bursts(self) -> Table:
        """Maximal runs of lost copies."""
        return self.table("bursts")

    @property
    def episodes(self) -> Table:
        """Bursts whose repair overlaps, with trigger, silence and cost."""
        return self.table("episodes")

    @property
    def retransmissions(self) -> Table:
        """Every segment that was sent again, with its cause and evidence."""
        return self.table("retransmissions")

    @property
    def probes(self) -> Table:
        """Tail-loss probes, those with new data apart."""
        return self.table("probes")

    @property
    def idle(self) -> Table:
        """Gaps in sending, with their cause."""
        return self.table("idle")

    @property
    def intervals(self) -> Table:
        """Bytes sent, new and acknowledged, interval by interval."""
        return self.table("intervals")

    @property
    def rtt(self) -> Table:
        """Round-trip samples, from ACKs (Karn's rule) and from timestamps."""
        return self.table("rtt")

    @property
    def packets(self) -> Table:
        """Every packet, as the figures use them."""
        return self.table("packets")

    @property
    def rounds(self) -> Table:
        """What was sent, delivered and waited for, in pieces of about a round trip; at most 240 a flow."""
        return self.table("rounds")

    @property
    def waits(self) -> Table:
        """What the next byte of each conversation waited for, in pieces of about a round trip; at most 96 of
        these.
        """
        return self.table("waits")


class NamedOfRuns(Named):
    """And those that no capture shows."""

    @property
    def state(self) -> Table:
        """What each sender knew and decided, at every change: cwnd, ssthresh, SRTT, RTO, phase."""
        return self.table("state")

    @property
    def queues(self) -> Table:
        """Each packet that came into a queue or left it: occupancy after it, and how long it waited."""
        return self.table("queues")

    @property
    def drops(self) -> Table:
        """Each packet that a link lost, and why."""
        return self.table("drops")

    @property
    def truth(self) -> Table:
        """Each transmission of data that was not new: why, and whether it was needless. The analysis never
        reads it.
        """
        return self.table("truth")

    @property
    def hosts(self) -> Table:
        """Each packet that a host sent or received, whatever it is: TCP, one-way agents, datagrams; and what
        released it.
        """
        return self.table("hosts")

    @property
    def applications(self) -> Table:
        """When each program opened, wrote, read, closed or reset, and how many bytes."""
        return self.table("applications")

    @property
    def blocked(self) -> Table:
        """What kept each sender from sending more, at every change."""
        return self.table("blocked")

    @property
    def held(self) -> Table:
        """Each packet that a channel kept back or made late, from when to when."""
        return self.table("held")
