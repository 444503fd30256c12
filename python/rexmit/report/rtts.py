"""The round-trip samples of a capture as columns."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from rexmit.report.columns import Array, Columns, Told, nanoseconds, places
from rexmit.report.containers import Column, pack
from rexmit.report.tables import Tables
from rexmit.screen.words import closed_sets

KINDS = {"time_ns": "i8", "rtt_us": "u4", "kind": "u1"}
WORDS = {"kind": list(closed_sets()["rtt_kind"])}
MOST_US = 2**32 - 1


def read(tables: Tables, told: Told | None = None) -> Columns:
    """The samples of a capture, which have been kept, or are read once more; `told` as in `Columns.fill`."""
    table, origin_ns = tables.capture.table("rtt"), tables.capture.origin_ns
    made = Columns(KINDS, len(table))

    def values(batch: Any, name: str) -> Array:
        if name == "time_ns":
            return nanoseconds(batch.column("time"), origin_ns)
        if name == "kind":
            return places(batch.column("kind"), WORDS["kind"])
        return cast("Array", np.clip(np.round(batch.column("rtt_s").to_numpy() * 1e6), 0, MOST_US))

    made.fill(table, values, told)
    return made


def container(rtts: Columns, where: slice) -> bytes:
    """Samples as a page reads them."""
    columns = rtts.columns
    return pack(
        "table",
        [
            Column("time_ns", columns["time_ns"][where].astype(np.float64), delta=True),
            Column("rtt_us", np.asarray(columns["rtt_us"][where])),
            Column("kind", np.asarray(columns["kind"][where])),
        ],
        words=WORDS,
    )
