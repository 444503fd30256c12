"""One capture of many, from its files to the files of its rows: what an engine does wherever it is."""

from __future__ import annotations

import io
import json
from functools import cache
from typing import Any

from rexmit.fleets.remote import here
from rexmit.sweeps.block import Files, StoppedError, Watch

#: The table that every capture has a row of, also one that could not be read; kept last.
CAPTURES = "captures"
#: Tables of the analysis that are kept.
TABLES = ("flows", "bursts", "episodes", "idle", "causes")
#: A capture's number, and its files in order.
Item = tuple[int, tuple[str, ...]]
#: Rows of a Parquet file that are in memory at a time.
ROWS = 100_000


def analyze(
    options_json: str, item: Item, watch: Watch | None = None, max_memory: int | None = None
) -> Files:
    """The tables of a capture as Parquet, on the thread that calls this. The same files give the same rows.

    A capture that cannot be read has a row in `captures` that says why, and no others.  watch: hears how many
    bytes are read. max_memory: bytes that the analysis may take. Raises StoppedError once `watch` said no.
    """
    from rexmit import _core
    from rexmit.api import Capture

    number, paths = item
    told: dict[str, Any] = {"capture": number, "path": paths[0], "files": len(paths)}
    options = json.loads(options_json) | {"max_memory": max_memory, "threads": 1}
    options |= {"flow": None, "start": None, "end": None}
    progress = None if watch is None else lambda done, total, packets: watch(done)
    copies: list[str] = []

    def as_named(said: Any) -> str:
        text = str(said)
        for copy, path in zip(copies, paths, strict=False):
            text = text.replace(copy, path)
        return text

    try:
        # What is analysed is no more read from the files.
        with here(paths, lambda: watch is None or watch(0)) as near:
            if near is None:
                raise StoppedError
            copies = near
            seen = Capture(near, None, options, (), progress)
    except (_core.CaptureError, OSError) as error:
        return {CAPTURES: _row(told | {"error": as_named(error)})}
    if seen.interrupted:
        raise StoppedError
    files: Files = {}
    sums: dict[str, Any] = {}
    for name in TABLES:
        files[name], counted = _parquet(number, seen.table(name), name == "flows")  # type: ignore[arg-type]
        sums |= counted
    info = seen.info
    told |= sums | {name: info[name] for name in ("packets", "span_s")}
    told["start"] = None if info["start"] is None else seen.origin_ns
    told["not_analysed_packets"] = info["not_analysed_packets"]
    told["warnings"] = "; ".join(map(as_named, info["warnings"])) or None
    told["damage"] = None if info["damage"] is None else as_named(info["damage"])
    return files | {CAPTURES: _row(told)}


def _parquet(number: int, table: Any, add: bool) -> tuple[bytes, dict[str, Any]]:
    """A table's rows behind the capture's number, written batch by batch; and the sums of flows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from rexmit.fleets.summary import totals

    reader = pa.RecordBatchReader.from_stream(table)
    plain = [_plain(field) for field in reader.schema]
    schema = pa.schema([_number(), *plain])
    total: dict[str, Any] = {}
    into = io.BytesIO()
    with pq.ParquetWriter(into, schema, compression="zstd") as writer:
        for batch in reader:
            rows = pa.table(
                [
                    pa.array([number] * batch.num_rows, pa.int64()),
                    *(batch.column(f.name).cast(f.type) for f in plain),
                ],
                schema=schema,
            )
            writer.write_table(rows, ROWS)
            if add:
                for name, value in totals(batch).items():
                    total[name] = total.get(name, 0) + value
    return into.getvalue(), total


def _number() -> Any:
    import pyarrow as pa

    return pa.field("capture", pa.int64(), nullable=False)


def _plain(field: Any) -> Any:
    """Each file is read by itself: a dictionary of texts says nothing to the next one."""
    import pyarrow as pa

    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field


@cache
def schema(table: str) -> Any:
    """The columns of a table that is kept."""
    import pyarrow as pa

    from rexmit import _core

    if table == CAPTURES:
        return _captures()
    if table == "causes":
        return _causes()
    # The tables of no runs have the columns of a capture's, behind those that say which run it is.
    empty = pa.RecordBatchReader.from_stream(_core.simulate_many([], [], tables=[table]).table(table))  # type: ignore[list-item, arg-type]
    fields = [field for field in empty.schema if field.name not in ("run", "variant", "seed", "outage")]
    return pa.schema([_number(), *map(_plain, fields)])


def _captures() -> Any:
    import pyarrow as pa

    from rexmit.captured.groups import SUMS

    return pa.schema(
        [
            _number(),
            pa.field("path", pa.string(), nullable=False),
            pa.field("files", pa.int64(), nullable=False),
            pa.field("error", pa.string()),
            pa.field("start", pa.timestamp("ns", "UTC")),
            pa.field("span_s", pa.float64()),
            pa.field("packets", pa.int64()),
            *(pa.field(name, pa.float64() if name == "lost_s" else pa.int64()) for name in SUMS),
            pa.field("lost_bytes", pa.int64()),
            pa.field("not_analysed_packets", pa.int64()),
            pa.field("faults", pa.int64()),
            pa.field("damage", pa.string()),
            pa.field("warnings", pa.string()),
        ]
    )


def _causes() -> Any:
    """A table of answers, which the tables of runs do not have."""
    import pyarrow as pa

    columns: tuple[tuple[str, Any, bool], ...] = (
        ("flow", pa.uint32(), False),
        ("cause", pa.string(), False),
        ("by", pa.string(), True),
        ("seconds", pa.float64(), False),
        ("share", pa.float64(), False),
        ("certainty", pa.string(), False),
        ("answer", pa.bool_(), False),
        ("bytes", pa.int64(), False),
    )
    return pa.schema([_number(), *(pa.field(name, kind, nullable) for name, kind, nullable in columns)])


def _row(told: dict[str, Any]) -> bytes:
    import pyarrow as pa

    from rexmit.sweeps.block import parquet

    columns = [pa.array([told.get(field.name)], field.type) for field in schema(CAPTURES)]
    return parquet(pa.table(columns, schema=schema(CAPTURES)))
