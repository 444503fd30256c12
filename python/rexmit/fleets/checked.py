"""Whether rows of a fleet's tables are what an analysis finds: a file may be damaged, or a stranger's."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rexmit.captured.groups import SUMS
from rexmit.fleets.one import CAPTURES
from rexmit.screen.words import IDLE_IN_WORDS, closed_sets
from rexmit.sweeps.parquet import DamagedError

#: Largest time in s, rate or other number with a fraction; and largest count that float64 has exactly.
LARGEST, LARGEST_COUNT = 1e15, 2**53
#: By table and column, the words that an analysis uses.
WORDS = {
    "idle": {"cause": list(IDLE_IN_WORDS)},
    "causes": {
        "cause": list(closed_sets()["answer_cause"]),
        "by": ["client", "server"],
        "certainty": list(closed_sets()["certainty"]),
    },
}


def check(table: str, number: int, batch: Any) -> None:
    """Raises DamagedError for rows of another capture, and for numbers and words that no analysis finds."""
    if pc.any(pc.not_equal(batch.column("capture"), number)).as_py():
        raise DamagedError("it has rows of another capture")
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_floating(field.type):
            # Of NaN no comparison holds.
            right = pc.less_equal(pc.abs(column), LARGEST)
        elif pa.types.is_signed_integer(field.type):
            right = pc.and_(pc.less_equal(column, LARGEST_COUNT), pc.greater_equal(column, -LARGEST_COUNT))
        else:
            continue
        if pc.any(pc.invert(right)).as_py():
            raise DamagedError(f"column {field.name} has a number that is none of an analysis")
    if table == CAPTURES:
        _check_captures(batch)
    for column, words in WORDS.get(table, {}).items():
        # Where nothing may stand, it does; the file was read with the columns' schema.
        known = pc.or_(pc.is_in(batch.column(column), pa.array(words)), pc.is_null(batch.column(column)))
        if pc.any(pc.invert(known)).as_py():
            raise DamagedError(f"column {column} has a word that is none of an analysis")


def _check_captures(batch: Any) -> None:
    read = batch.filter(pc.is_null(batch.column("error")))
    for name in (*SUMS, "lost_bytes", "packets"):
        if read.column(name).null_count:
            raise DamagedError(f"column {name} lacks the number of a capture that was read")
