"""The round-trip samples of a capture as columns."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from rexmit.frame import Batch
from rexmit.report.columns import Columns, Told, nanoseconds, places
from rexmit.report.containers import Column, pack
from rexmit.report.tables import Tables
from rexmit.screen.words import closed_sets

KINDS = {"time_ns": "q", "rtt_us": "I", "kind": "B"}
WORDS = {"kind": list(closed_sets()["rtt_kind"])}
MOST_US = 2**32 - 1


def read(tables: Tables, told: Told | None = None) -> Columns:
    """The samples of a capture, which have been kept, or are read once more; `told` as in `Columns.fill`."""
    table, origin_ns = tables.capture.table("rtt"), tables.capture.origin_ns
    made = Columns(KINDS, len(table))

    def values(batch: Batch, name: str) -> Sequence[Any]:
        if name == "time_ns":
            return nanoseconds(batch, origin_ns)
        if name == "kind":
            return places(batch.column("kind"), WORDS["kind"])
        return [min(max(round(rtt * 1e6), 0), MOST_US) for rtt in batch.column("rtt_s")]

    made.fill(table, values, told)
    return made


def container(rtts: Columns, where: slice) -> bytes:
    """Samples as a page reads them."""
    columns = rtts.columns
    return pack(
        "table",
        [
            Column("time_ns", array("d", columns["time_ns"][where]), delta=True),
            Column("rtt_us", columns["rtt_us"][where]),
            Column("kind", columns["kind"][where]),
        ],
        words=WORDS,
    )
