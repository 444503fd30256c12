"""Tables as pyarrow has them: for what computes on whole tables, or keeps Parquet (extra `tables`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from rexmit.frame import ArrowStream


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
            part = part.take(pa.array(range(part.num_rows)))
        if part.num_rows:
            kept.append(part)
    return pa.Table.from_batches(kept, schema=pa.schema([reader.schema.field(name) for name in names]))


def values(column: Any) -> list[Any]:
    """A pyarrow column as Python's values, times as whole nanoseconds since 1970 (UTC).

    `to_pylist` asks for pandas where a time has nanoseconds: Python's own datetime cannot hold them.
    """
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ns", tz=column.type.tz)).cast(pa.int64())
    return cast("list[Any]", column.to_pylist())


def timestamp_ns(value: Any) -> int:
    """Nanoseconds since 1970 of one timestamp scalar of an Arrow column."""
    return int(value.cast(pa.int64()).as_py())
