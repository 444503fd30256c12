"""Arrow tables as numpy columns: the only door through which figures and ladders see rows.

Times become seconds after an origin, so that no figure handles absolute nanoseconds; a null becomes NaN in a
float column, -1 in an integer column, None in a text column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


class ArrowStream(Protocol):
    """Whatever exports an Arrow stream (the PyCapsule interface)."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def batches(table: ArrowStream) -> Iterator[Any]:
    """The record batches of a table, one at a time."""
    yield from pa.RecordBatchReader.from_stream(table)


def gather(table: ArrowStream, flow: int | None = None, columns: Sequence[str] | None = None) -> Any:
    """A pyarrow Table, only of the rows of one flow if a flow is named, and of some columns if any are;
    others are dropped batch by batch.
    """
    reader = pa.RecordBatchReader.from_stream(table)
    if flow is None and columns is None:
        return reader.read_all()
    names = reader.schema.names if columns is None else list(columns)
    kept = []
    for batch in reader:
        part = batch.select(names)
        # Copied in both cases: a part of a batch keeps all of it in memory.
        if flow is not None:
            part = part.filter(pc.equal(batch.column("flow"), flow))
        else:
            part = part.take(pa.array(np.arange(part.num_rows)))
        if part.num_rows:
            kept.append(part)
    return pa.Table.from_batches(kept, schema=pa.schema([reader.schema.field(name) for name in names]))


def values(column: Any) -> list[Any]:
    """A pyarrow column as Python's values, times as numpy's datetime64[ns] (UTC).

    `to_pylist` asks for pandas where a time has nanoseconds: Python's own datetime cannot hold them.
    """
    if not pa.types.is_timestamp(column.type):
        return cast("list[Any]", column.to_pylist())
    times = column.cast(pa.timestamp("ns", tz=column.type.tz)).to_numpy(zero_copy_only=False)
    return [None if np.isnat(time) else time for time in times]


def dictionaries(rows: Any) -> list[dict[str, Any]]:
    """The rows of a pyarrow Table or batch, with values as `values` has them."""
    columns = [values(column) for column in rows.columns]
    return [dict(zip(rows.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


#: What times of a capture count from.
FIRST_PACKET = "the first packet of the capture"


class Frame:
    """The rows of one table as numpy columns.

    table: anything with an Arrow stream.  origin_ns: the instant that becomes 0 s, in nanoseconds since 1970.
    since: what that instant is, for the axes of figures.
    """

    def __init__(self, table: ArrowStream, origin_ns: int = 0, since: str = FIRST_PACKET) -> None:
        self._table = pa.table(table)
        self.origin_ns = origin_ns
        self.since = since
        self._cache: dict[str, npt.NDArray[Any]] = {}

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __contains__(self, name: str) -> bool:
        return name in self._table.column_names

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        if name not in self._cache:
            self._cache[name] = self._convert(name)
        return self._cache[name]

    def text(self, name: str) -> list[str | None]:
        """A column of strings as a list; None where null."""
        return cast("list[str | None]", self._table.column(name).to_pylist())

    def rows(self) -> list[dict[str, Any]]:
        """Rows as dictionaries with times in seconds after the origin."""
        if not len(self):
            return []
        columns = {}
        for field in self._table.schema:
            if pa.types.is_timestamp(field.type):
                values = self[field.name]
                columns[field.name] = [None if np.isnan(v) else float(v) for v in values]
            else:
                columns[field.name] = self._table.column(field.name).to_pylist()
        names = list(columns)
        return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def where(self, mask: npt.NDArray[np.bool_]) -> Frame:
        """The rows that a mask selects."""
        return Frame(self._table.filter(pa.array(mask)), self.origin_ns, self.since)

    def take(self, places: npt.NDArray[np.int64]) -> Frame:
        """The rows at these places."""
        return Frame(self._table.take(pa.array(places, pa.int64())), self.origin_ns, self.since)

    def equals(self, name: str, value: str) -> npt.NDArray[np.bool_]:
        """A mask of the rows whose text column has this value."""
        found = pc.fill_null(pc.equal(self._table.column(name).cast(pa.string()), value), False)
        return cast("npt.NDArray[np.bool_]", found.to_numpy(zero_copy_only=False).astype(bool))

    def _convert(self, name: str) -> npt.NDArray[Any]:
        column = self._table.column(name)
        kind = column.type
        if pa.types.is_timestamp(kind):
            # Subtracted as integers: a float holds 2^53 ns, 104 days, of which an absolute time has too many.
            whole = pc.fill_null(column.cast(pa.timestamp("ns", tz=kind.tz)).cast(pa.int64()), self.origin_ns)
            relative = (whole.to_numpy(zero_copy_only=False) - self.origin_ns) / 1e9
            relative[column.is_null().to_numpy(zero_copy_only=False)] = np.nan
            return cast("npt.NDArray[Any]", relative)
        if pa.types.is_boolean(kind):
            return cast(
                "npt.NDArray[Any]", pc.fill_null(column, False).to_numpy(zero_copy_only=False).astype(bool)
            )
        if pa.types.is_floating(kind):
            return cast("npt.NDArray[Any]", column.to_numpy(zero_copy_only=False).astype(float))
        if pa.types.is_integer(kind):
            return cast(
                "npt.NDArray[Any]", pc.fill_null(column.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
            )
        return np.array(column.to_pylist(), dtype=object)


def timestamp_ns(value: Any) -> int:
    """Nanoseconds since 1970 of one timestamp scalar of an Arrow column."""
    return int(value.cast(pa.int64()).as_py())
