"""`rexmit sql`. What the command needs is imported when it runs."""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import Any

from rexmit import extras
from rexmit.cli.ending import ANSWER, refuse
from rexmit.cli.shown import show
from rexmit.screen.say import as_json, one_line, tell

SQL = """\
Asks the results of a sweep, or of many captures, in SQL (DuckDB). The tables are runs, those that --table
kept, summary and differences (docs/sweep.md); of many captures: captures, flows, episodes and idle
(docs/fleet.md).
"""
SQL_EXAMPLES = """\
examples:
  rexmit sql sweeps/loss "select flow, avg(goodput_bps) from runs group by flow"
  rexmit sql sweeps/loss 'select "link.air.delay_s", mean from summary' --json
  rexmit sql sweeps/loss "from episodes where timeouts > 1" -o late.parquet

exit codes: 0 an answer, 1 not written, 2 bad input
"""
#: Rows that a printed answer shows.
SHOWN = 1000


def add(commands: Any) -> None:
    """Adds the command to the parser."""
    s = commands.add_parser(
        "sql",
        help="ask the results of a sweep in SQL",
        description=SQL,
        epilog=SQL_EXAMPLES,
    )
    s.add_argument("folder", metavar="DIR", help="the results: a folder, or an address of fsspec's")
    s.add_argument("query", metavar="QUERY", help="one query of DuckDB's SQL")
    s.add_argument("--json", action="store_true", help="the rows as a JSON list of objects")
    s.add_argument("-o", metavar="FILE", dest="into", help="write the rows: FILE.parquet or FILE.csv")
    s.add_argument("--overwrite", action="store_true", help="replace the file")


def check(o: argparse.Namespace) -> str | None:
    """What is wrong with options that do not go together."""
    extras.need("sweep", "rexmit sql")
    if o.into and Path(o.into).suffix not in (".parquet", ".csv"):
        return f"-o {o.into}: a name that ends in .parquet or .csv"
    if o.into and o.json:
        return "--json and -o both say where the rows go; give one of them"
    return None


def run(o: argparse.Namespace) -> int:
    """Shows the rows, or writes them."""
    refuse(check(o))
    show(_asked(o))
    return ANSWER


def _asked(o: argparse.Namespace) -> list[str]:
    from rexmit.files.destination import check_file
    from rexmit.fleets import results as fleets
    from rexmit.sweeps.results import load
    from rexmit.sweeps.sql import query, refusal

    if o.into:
        check_file(o.into, lambda path: False, o.overwrite)
    try:
        reader = query(fleets.load(o.folder) if fleets.is_fleet(o.folder) else load(o.folder), o.query)
    except ImportError as error:
        raise ValueError(str(error)) from None
    import pyarrow as pa

    try:
        if o.into:
            _write(reader, Path(o.into))
            return []
        if o.json:
            return [as_json([_plain(row) for batch in reader for row in batch.to_pylist()])]
        return _page(reader)
    except pa.ArrowException as error:
        raise ValueError(refusal(error)) from None


def _page(reader: Any) -> list[str]:
    from rexmit.screen.text_table import aligned
    from rexmit.tables import cell

    rows: list[list[str]] = []
    more = 0
    for batch in reader:
        left = SHOWN - len(rows)
        for row in batch.slice(0, left).to_pylist():
            rows.append([one_line(cell(value)) for value in row.values()])
        more += max(0, batch.num_rows - left)
    lines = aligned([[one_line(name) for name in reader.schema.names], *rows], left=())
    return lines + ([f"… {more:,} more rows: --json or -o has all"] if more else [])


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """What JSON knows; all else (times, blobs) as text. NaN and infinity are none."""
    told = {}
    for key, value in row.items():
        if isinstance(value, float) and not math.isfinite(value):
            value = None
        told[key] = value if value is None or isinstance(value, bool | int | float | str) else str(value)
    return told


def _write(reader: Any, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    from rexmit.files.not_written import NotWrittenError, sentence

    draft = path.with_name(f".{path.name}.{os.getpid()}")
    rows = 0
    try:
        try:
            with open(draft, "wb") as file:
                parquet = path.suffix == ".parquet"
                kind = pa.parquet.ParquetWriter if parquet else pa.csv.CSVWriter
                with kind(file, reader.schema) as writer:
                    for batch in reader:
                        rows += batch.num_rows
                        writer.write_batch(batch)
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise NotWrittenError(f"{path}: not written: {sentence(error)}") from None
    tell(f"wrote {rows:,} rows to {path}")
