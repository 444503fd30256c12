"""Traces of other simulators beside a run of ours: what they share to be read and compared."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit import Run


@dataclass(frozen=True)
class Line:
    """What happened, and to which packet, or a variable and its value. `number`: of the line in its file."""

    time_ns: int
    what: str
    value: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.what} {self.value} at {Decimal(self.time_ns).scaleb(-9):f} s"


def read(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Number and columns of each line, the header left out."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    for number, line in enumerate(text.splitlines(), start=1):
        columns = line.split(",")
        if columns[0] not in ("time", "time_s"):
            yield number, columns


def ns(seconds: str) -> int:
    """Whole nanoseconds of a printed time."""
    return round(Decimal(seconds) * 10**9)


def table(run: Run, name: Any) -> list[dict[str, Any]]:
    """Rows of one of a run's tables, times in ns since it began."""
    import pyarrow as pa

    found = run.table(name).to_arrow()
    if "time" in found.column_names:
        at = found.column_names.index("time")
        found = found.set_column(at, "time", found.column("time").cast(pa.int64()))
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def difference(ours: Iterable[Line], theirs: Iterable[Line], trace: Path, tolerance_ns: int) -> str | None:
    """The first line, in time, that one has and the other has not; None if there is none.

    Each kind of line is compared with its own: what happens at one moment at two places has no order.
    """
    kinds: dict[str, tuple[list[Line], list[Line]]] = {}
    for side, lines in enumerate((ours, theirs)):
        for line in lines:
            kinds.setdefault(line.what, ([], []))[side].append(line)
    found = [f for a, b in kinds.values() if (f := _first(a, b, trace, tolerance_ns))]
    return min(found)[1] if found else None


def _first(ours: list[Line], theirs: list[Line], trace: Path, tolerance_ns: int) -> tuple[int, str] | None:
    for a, b in zip(ours, theirs, strict=False):
        if a.value != b.value or abs(a.time_ns - b.time_ns) > tolerance_ns:
            return min(a.time_ns, b.time_ns), f"{trace}:{b.number}: {b}; the run has {a}"
    if len(ours) > len(theirs):
        line = ours[len(theirs)]
        return line.time_ns, f"{trace}: no further {line.what}; the run has {line}"
    if len(theirs) > len(ours):
        line = theirs[len(ours)]
        return line.time_ns, f"{trace}:{line.number}: {line}; the run has no further {line.what}"
    return None


def report(compared: dict[Path, str | None], lines: int) -> int:
    """Prints the first difference with each trace, or that there is none; the exit code."""
    found = [text for text in compared.values() if text]
    print("\n".join(found) if found else f"no difference in {lines:,} lines of {len(compared)} traces")
    return int(bool(found))
