"""Traces of other simulators beside a run of ours: what they share to be read and compared."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

from situation.evidence import in_ns

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


@dataclass(frozen=True)
class Form:
    """What the lines of a trace are made of: times and numbers. names: what may stand in a second column that
    names something.
    """

    columns: tuple[str, ...]
    names: tuple[str, ...] = ()
    #: Names that begin like this are of no interest here: their lines are left out, whatever is on them.
    ignored: str | None = None

    def told(self, place: str, found: list[str]) -> list[str] | None:
        """The columns of a line, or None if it is of no interest. Raises ValueError if it is no such line."""
        if self.ignored and len(found) > 1 and found[1].startswith(self.ignored):
            return None
        if len(found) != len(self.columns):
            said = f"{len(found)} columns, {','.join(found)[:60]!r}"
            raise ValueError(f"{place}: {said}; a line of this trace has {', '.join(self.columns)}")
        for column, value in zip(self.columns, found, strict=True):
            if column in ("event", "variable"):
                if self.names and value not in self.names:
                    raise ValueError(f"{place}: {value!r} is no {column}: {', '.join(self.names)}")
            elif not _is_number(value, whole=column not in ("time", "value")):
                raise ValueError(f"{place}: {column} = {value!r} is no number")
        return found


def _is_number(text: str, whole: bool) -> bool:
    if whole:
        return text.removeprefix("-").isdecimal()
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def read(path: Path, form: Form) -> list[tuple[int, list[str]]]:
    """Number and columns of each line, the header left out.

    Raises OSError, or ValueError with file and line, if it is no such trace or there is nothing in it.
    """
    told = []
    for number, line in enumerate(_text(path).splitlines(), start=1):
        columns = [column.strip() for column in line.split(",")]
        if columns == [""] or columns[0] in ("time", "time_s"):
            continue
        if (found := form.told(f"{path}:{number}", columns)) is not None:
            told.append((number, found))
    if not told:
        raise ValueError(f"{path}: nothing is traced in it; lines of {', '.join(form.columns)} are wanted")
    return told


def _text(path: Path) -> str:
    data = path.read_bytes()
    try:
        return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    except EOFError:
        raise ValueError(f"{path}: the compressed file is cut off") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: not what gzip writes: {error}") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"{path}: no text: byte {error.start:,} of it is 0x{byte:02x}") from None


def ns(seconds: str) -> int:
    """Whole nanoseconds of a printed time."""
    return round(Decimal(seconds) * 10**9)


def table(run: Run, name: Any) -> list[dict[str, Any]]:
    """Rows of one of a run's tables, times in ns since it began."""
    return in_ns(run.table(name).to_arrow(unit="ns"))


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


def report(compared: Sequence[str | None], lines: int, unseen: Sequence[str] = ()) -> int:
    """Prints the first difference with each trace, or that there is none; the exit code.

    unseen: what no trace tells, though it could.
    """
    found = [text for text in compared if text]
    traces = "1 trace" if len(compared) == 1 else f"{len(compared)} traces"
    print("\n".join(found) if found else f"no difference in {lines:,} lines of {traces}")
    if unseen and not found:
        print(f"not traced, so not compared: {', '.join(unseen)}")
    return int(bool(found))
