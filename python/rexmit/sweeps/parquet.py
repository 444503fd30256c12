"""Parquet files that anybody may have written: their columns are checked before a row of them is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rexmit.screen.say import one_line


class DamagedError(ValueError):
    """A file whose columns or rows are not those of its table; the message says which, without the file."""


@contextmanager
def opened(file: Any, wanted: Any) -> Iterator[Any]:
    """A `pyarrow.parquet.ParquetFile`. wanted: the Arrow schema of the columns that it must have.

    Raises DamagedError for another file: also where its content breaks off while it is read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as whole:
            for field in wanted:
                _check(whole.schema_arrow, field)
            yield whole
    except (pa.ArrowException, OSError) as error:
        raise DamagedError(one_line(" ".join(str(error).split()))) from None


def _check(schema: Any, field: Any) -> None:
    places = schema.get_all_field_indices(field.name)
    if len(places) != 1:
        raise DamagedError(f"column {field.name} is there {len(places)} times instead of once")
    if schema.field(places[0]).type != field.type:
        raise DamagedError(
            f"column {field.name} is of type {schema.field(places[0]).type} instead of {field.type}"
        )


def batches(whole: Any, wanted: Any) -> Iterator[Any]:
    """The record batches of an opened file, with the columns of a schema in its order.

    Raises DamagedError for rows without a value in a column that has one in every row.
    """
    import pyarrow as pa

    for batch in whole.iter_batches(columns=wanted.names):
        columns = [batch.column(field.name) for field in wanted]
        for field, column in zip(wanted, columns, strict=True):
            if column.null_count and not field.nullable:
                raise DamagedError(f"column {one_line(field.name)} has rows without a value")
        yield pa.RecordBatch.from_arrays(columns, schema=wanted)
