"""`rexmit sql`: DuckDB over the files of a sweep. Its tables are views: nothing is loaded without need."""

from __future__ import annotations

import os
import re
from typing import Any

from rexmit.fleets.results import Fleet
from rexmit.sweeps import differences, summaries
from rexmit.sweeps.places import Remote
from rexmit.sweeps.results import Sweep

#: Tables that are worked out when a query names them.
MADE = {"summary": summaries.table, "differences": differences.table}


def query(sweep: Sweep | Fleet, text: str) -> Any:
    """What the query gives, as a stream of Arrow's record batches.

    Raises ImportError with the fix if DuckDB is missing, and ValueError for what is no query.
    """
    try:
        import duckdb
    except ImportError:
        raise ImportError("rexmit sql needs DuckDB: pip install 'rexmit[sweep]'") from None
    import pyarrow as pa

    connection = duckdb.connect()
    try:
        _views(connection, sweep, text)
        found = connection.sql(text)
        if found is None:
            raise ValueError("sql: that gives no rows; select … or from … does")
        return pa.RecordBatchReader.from_stream(found)
    except duckdb.Error as error:
        raise ValueError(refusal(error)) from None


def refusal(error: Exception) -> str:
    """What DuckDB says of a query, also where that comes with its rows: other lines point into it."""
    lines = (line.strip() for line in str(error).splitlines())
    return "sql: " + next((line for line in lines if ": " in line or line.endswith("!")), str(error))


def _views(connection: Any, sweep: Sweep | Fleet, text: str) -> None:
    store = sweep.store
    if isinstance(store.place, Remote):
        connection.register_filesystem(store.place.files)
    if not store.done():
        raise ValueError(f"{store.name}: nothing is done yet")
    for table, files in sweep.addresses().items():
        names = ", ".join(map(_quoted, files))
        connection.execute(f'create view "{table}" as select * from read_parquet([{names}])')
    if isinstance(sweep, Fleet):
        return
    for name, made in MADE.items():
        if re.search(rf"\b{name}\b", text, re.IGNORECASE):
            connection.register(name, made(sweep.plan, sweep.store))


def _quoted(name: str) -> str:
    return "'" + os.fspath(name).replace("'", "''") + "'"
