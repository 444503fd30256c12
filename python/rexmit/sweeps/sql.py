"""`rexmit sql`: DuckDB over the files of a sweep. Its tables are views: nothing is loaded without need.

A query reads files of the folder and no others: DuckDB opens nothing else, whoever wrote query and folder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rexmit import extras
from rexmit.fleets.results import Fleet
from rexmit.sweeps import differences, summaries
from rexmit.sweeps.places import Place, Remote
from rexmit.sweeps.results import Sweep

#: Tables that are worked out when a query names them.
MADE = {"summary": summaries.table, "differences": differences.table}
#: Statements of DuckDB's that write files.
WRITING = ("ATTACH", "COPY", "COPY_DATABASE", "EXPORT")


def query(sweep: Sweep | Fleet, text: str) -> Any:
    """What the query gives, as a stream of Arrow's record batches.

    Raises ImportError, with the command that installs it, if DuckDB is missing, and ValueError for what is no
    query.
    """
    extras.need("sweep", "rexmit sql")
    import duckdb
    import pyarrow as pa

    # `from plan` means a table, never a variable of this program.
    connection = duckdb.connect(config={"python_enable_replacements": False})
    try:
        _close(connection, sweep.store.place)
        _views(connection, sweep, text)
        _refuse_writing(duckdb.extract_statements(text))
        found = connection.sql(text)
        if found is None:
            raise ValueError("sql: that gives no rows; select … or from … does")
        return pa.RecordBatchReader.from_stream(found)
    except duckdb.PermissionException as error:
        raise ValueError(f"{refusal(error)}; a query reads files of {sweep.store.name} only") from None
    except duckdb.Error as error:
        raise ValueError(refusal(error)) from None


def _close(connection: Any, place: Place) -> None:
    """From here on DuckDB opens files of that place only, loads no extensions, and no query changes that."""
    connection.execute("set autoinstall_known_extensions = false")
    connection.execute("set autoload_known_extensions = false")
    connection.execute(f"set allowed_directories = [{_quoted(place.root)}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")


def _refuse_writing(statements: Sequence[Any]) -> None:
    """Raises ValueError for a statement that writes files: within the folder DuckDB would allow it."""
    for statement in statements:
        if statement.type.name in WRITING:
            raise ValueError(
                f"sql: {statement.type.name.lower().replace('_', ' ')} writes files, and a query reads only; "
                "-o FILE.parquet or -o FILE.csv writes the rows of a query"
            )


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
    if not isinstance(sweep, Fleet):
        for name, made in MADE.items():
            if re.search(rf"\b{name}\b", text, re.IGNORECASE):
                connection.register(name, made(sweep.plan, sweep.store))
    for table, files in sweep.addresses().items():
        names = ", ".join(map(_quoted, files))
        connection.execute(f"create view {_name(table)} as select * from read_parquet([{names}])")


def _quoted(text: str) -> str:
    """As a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _name(text: str) -> str:
    """As a name of SQL."""
    return '"' + text.replace('"', '""') + '"'
