"""Rows of tables as columns of Python: the only door through which pages, figures and ladders see rows.

Arrow is read by nanoarrow, so a page needs neither pyarrow nor numpy. Times become seconds after an origin,
so that nothing that draws handles absolute nanoseconds.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, compress
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

#: What times of a capture count from.
FIRST_PACKET = "the first packet of the capture"
#: Nanoseconds in a unit of Arrow's timestamps, by its letter in the format string (Arrow's C data interface).
UNITS_NS = {"s": 1_000_000_000, "m": 1_000_000, "u": 1_000, "n": 1}
#: What columns hold, by their format strings.
KINDS = dict.fromkeys("cCsSiIlL", "int") | dict.fromkeys("fg", "float") | {"b": "bool"}
KINDS |= dict.fromkeys("uU", "text")


class ArrowStream(Protocol):
    """Whatever exports an Arrow stream (the PyCapsule interface)."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@dataclass(frozen=True)
class Kind:
    """What a column holds: int, float, bool, text, time, or other; a time counts units of so many ns."""

    name: str
    what: str
    unit_ns: int = 1

    @classmethod
    def of(cls, schema: Any) -> Kind:
        """Of a column by its Arrow schema."""
        if schema.dictionary is not None:
            return cls(schema.name, Kind.of(schema.dictionary).what)
        if schema.format.startswith("ts"):
            return cls(schema.name, "time", UNITS_NS[schema.format[2]])
        return cls(schema.name, KINDS.get(schema.format, "other"))


class Batch:
    """One record batch. A column is converted when it is asked for: whole numbers, floats, booleans, text; a
    time is whole nanoseconds since 1970; None stands for a null.
    """

    def __init__(self, chunk: Any, kinds: Sequence[Kind]) -> None:
        self._chunk = chunk
        self._kinds = kinds
        self._converted: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        return int(self._chunk.length)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        found: tuple[object, object] = self._chunk.__arrow_c_array__(requested_schema)
        return found

    def column(self, name: str) -> Sequence[Any]:
        """The values of a column. Raises KeyError if there is none of this name."""
        from nanoarrow.iterator import iter_py

        if name in self._converted:
            return self._converted[name]
        place = next((i for i, kind in enumerate(self._kinds) if kind.name == name), None)
        if place is None:
            raise KeyError(name)
        kind, first = self._kinds[place], int(self._chunk.offset)
        part = self._chunk.child(place)[first : first + len(self)]
        if kind.what not in ("int", "float", "time") or part.dictionary is not None:
            # Equal words are one object.
            words: dict[Any, Any] = {}
            hashed = kind.what in ("text", "bool")
            values = [words.setdefault(value, value) if hashed else value for value in iter_py(part)]
            return self._converted.setdefault(name, values)
        view = part.view()
        found: Sequence[Any] = memoryview(view.buffer(1))[view.offset : view.offset + len(self)]
        if kind.unit_ns > 1:
            found = [value * kind.unit_ns for value in found]
        if not view.null_count:
            return found
        there = view.buffer(0).elements(view.offset, len(self))
        nullable = [value if known else None for value, known in zip(found, there, strict=True)]
        return self._converted.setdefault(name, nullable)

    def filled(self, name: str, none: int) -> Sequence[int]:
        """A column of whole numbers or booleans; `none` stands for a null."""
        found = self.column(name)
        return found if isinstance(found, memoryview) else [none if one is None else one for one in found]

    def rows(self, origin_ns: int | None = None) -> Iterator[dict[str, Any]]:
        """The rows as dictionaries; with an origin times are seconds after it."""
        return _rows({kind.name: kind.what for kind in self._kinds}, self.column, origin_ns)

    def slice(self, first: int, behind: int) -> Batch:
        """The rows from one to the one before another."""
        return Batch(self._chunk[first:behind], self._kinds)


class Opened:
    """A table that is being read: what its columns hold, and its batches, one at a time."""

    def __init__(self, table: ArrowStream) -> None:
        from nanoarrow.c_array_stream import c_array_stream

        self._stream = c_array_stream(table)
        #: Its schema, which exports itself through the PyCapsule interface.
        self.schema = self._stream.get_schema()
        self.kinds = [Kind.of(child) for child in self.schema.children]

    def __iter__(self) -> Iterator[Batch]:
        return (Batch(chunk, self.kinds) for chunk in self._stream)


def batches(table: ArrowStream) -> Iterator[Batch]:
    """The batches of a table, one at a time."""
    return iter(Opened(table))


class Made:
    """A table of columns that were made here: text, whole numbers or floats; an Arrow stream for others."""

    def __init__(self, kinds: dict[str, str], columns: dict[str, list[Any]]) -> None:
        self._kinds, self._columns = kinds, columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        import nanoarrow as na

        types = {"text": na.string, "int": na.int64, "float": na.float64}
        schema = {name: types[kind]() for name, kind in self._kinds.items()}
        children = [na.c_array(self._columns[name], schema[name]) for name in schema]
        rows = na.c_array_from_buffers(na.struct(schema), len(self), [None], children=children)
        return na.c_array_stream(rows).__arrow_c_stream__()


class Frame:
    """Rows of one table by columns.

    table: anything with an Arrow stream.  origin_ns: the instant that becomes 0 s, in nanoseconds since 1970.
    since: what that instant is, for the axes of figures.  flow: only the rows of this flow.  columns: only
    these.
    """

    def __init__(
        self,
        table: ArrowStream,
        origin_ns: int = 0,
        since: str = FIRST_PACKET,
        *,
        flow: int | None = None,
        columns: Iterable[str] | None = None,
    ) -> None:
        found = Opened(table)
        parts: list[_Part] = []
        wanted = None if columns is None else set(columns)
        self.kinds = {kind.name: kind.what for kind in found.kinds if wanted is None or kind.name in wanted}
        for batch in found:
            some: _Part | None = batch if flow is None else _of_flow(batch, flow, self.kinds)
            if some is not None and wanted is not None and isinstance(some, Batch):
                # A batch keeps all its columns in memory.
                some = _Kept(some, self.kinds, None)
            if some is not None and len(some):
                parts.append(some)
        self._parts: Sequence[_Part] = parts
        self._behind = list(accumulate(map(len, parts)))
        self.origin_ns = origin_ns
        self.since = since
        self._plain: dict[str, Any] = {}

    @classmethod
    def _made(cls, of: Frame, part: _Part) -> Frame:
        made = cls.__new__(cls)
        made.kinds, made.origin_ns, made.since = of.kinds, of.origin_ns, of.since
        made._parts, made._plain, made._behind = [part], {}, [len(part)]
        return made

    def __len__(self) -> int:
        return self._behind[-1] if self._behind else 0

    def __contains__(self, name: str) -> bool:
        return name in self.kinds

    def raw(self, name: str) -> Sequence[Any]:
        """A column as `Batch.column` has it. Raises KeyError if there is none."""
        if name not in self.kinds:
            raise KeyError(name)
        parts = [part.column(name) for part in self._parts]
        return parts[0] if len(parts) == 1 else list(chain.from_iterable(parts))

    def at(self, name: str, places: Iterable[int]) -> list[Any]:
        """The values of a column at some places, as `Batch.column` has them."""
        columns: dict[int, Sequence[Any]] = {}
        found = []
        for place in places:
            k = bisect_right(self._behind, place)
            if k not in columns:
                columns[k] = self._parts[k].column(name)
            found.append(columns[k][place - (self._behind[k - 1] if k else 0)])
        return found

    def plain(self, name: str) -> Any:
        """A column without nulls: an array of Python's own of whole numbers (-1 for a null), of floats and of
        times (s after the origin; NaN), bytes of booleans (0); a list of text (None).
        """
        if name not in self._plain:
            convert: Callable[[Frame, str], Any] = _PLAIN.get(self.kinds[name], _listed)
            self._plain[name] = convert(self, name)
        return self._plain[name]

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The same as a numpy array, which shares its memory."""
        import numpy as np

        found = self.plain(name)
        if isinstance(found, list):
            return np.array(found, dtype=object)
        kind: Any = bool if isinstance(found, bytearray) else {"q": np.int64, "d": np.float64}[found.typecode]
        return np.frombuffer(found, kind) if len(found) else np.zeros(0, kind)

    def text(self, name: str) -> list[str | None]:
        """A column of strings as a list; None where null."""
        return list(self.raw(name))

    def rows(self) -> list[dict[str, Any]]:
        """Rows as dictionaries with times in seconds after the origin; None where null."""
        if not len(self):
            return []
        return list(_rows(self.kinds, self.raw, self.origin_ns))

    def where(self, mask: Iterable[Any]) -> Frame:
        """The rows that a mask selects."""
        return self.take([place for place, chosen in enumerate(mask) if chosen])

    def slice(self, first: int, behind: int) -> Frame:
        """The rows from one to the one before another."""
        return Frame._made(self, _Taken(self, range(first, behind)))

    def take(self, places: Iterable[Any]) -> Frame:
        """The rows at these places."""
        return Frame._made(self, _Taken(self, [int(place) for place in places]))

    def equals(self, name: str, value: str) -> npt.NDArray[np.bool_]:
        """A mask of the rows whose text column has this value."""
        import numpy as np

        return np.array([one == value for one in self.raw(name)], dtype=bool)


def _rows(
    kinds: dict[str, str], column: Callable[[str], Sequence[Any]], origin_ns: int | None
) -> Iterator[dict[str, Any]]:
    columns = []
    for name, what in kinds.items():
        found = column(name)
        if what == "time" and origin_ns is not None:
            found = [None if time is None else (time - origin_ns) / 1e9 for time in found]
        columns.append(found)
    return (dict(zip(kinds, row, strict=True)) for row in zip(*columns, strict=True))


class _Part(Protocol):
    """Rows by columns, as `Batch` has them."""

    def __len__(self) -> int:
        """How many rows."""

    def column(self, name: str) -> Sequence[Any]:
        """The values of a column."""


class _Taken:
    """Rows of a frame at some places."""

    def __init__(self, frame: Frame, places: Sequence[int]) -> None:
        self._frame, self._places = frame, places

    def __len__(self) -> int:
        return len(self._places)

    def column(self, name: str) -> Sequence[Any]:
        return self._frame.at(name, self._places)


class _Kept:
    """Some rows of a batch, and some columns of it, without the rest of its memory."""

    def __init__(self, batch: Batch, names: Iterable[str], mask: bytes | None) -> None:
        self._rows = len(batch) if mask is None else sum(mask)
        self._columns = {name: _copied(batch.column(name), mask) for name in names}

    def __len__(self) -> int:
        return self._rows

    def column(self, name: str) -> Sequence[Any]:
        return self._columns[name]


def _copied(values: Sequence[Any], mask: bytes | None) -> Sequence[Any]:
    chosen = values if mask is None else compress(values, mask)
    if isinstance(values, memoryview):
        return array(values.format, values.tobytes() if mask is None else chosen)
    return list(chosen)


def _of_flow(batch: Batch, flow: int, names: Iterable[str]) -> _Part | None:
    """The rows of one flow, without those of others in memory beside them; None if there are none."""
    flows = array("q", batch.filled("flow", -1))
    n = flows.count(flow)
    if not n:
        return None
    first = flows.index(flow)
    if flows[first : first + n].count(flow) == n:
        part = batch.slice(first, first + n)
        return part if 2 * n >= len(batch) else _Kept(part, names, None)
    return _Kept(batch, names, bytes(one == flow for one in flows))


def _whole(frame: Frame, name: str) -> array[int]:
    return _filled(frame, name, "q", -1)


def _floats(frame: Frame, name: str) -> array[float]:
    return _filled(frame, name, "d", math.nan)


def _filled(frame: Frame, name: str, code: Any, none: float) -> array[Any]:
    made = array(code)
    for part in frame._parts:
        values = part.column(name)
        if isinstance(values, (memoryview, array)) and _same(values, code):
            made.frombytes(values.tobytes())
        else:
            made.extend(none if value is None else value for value in values)
    return made


def _same(values: Any, code: str) -> bool:
    """Whether the memory of these values is that of an array of this kind: Arrow's int64 may be called l."""
    kind = values.format if isinstance(values, memoryview) else values.typecode
    return bool(values.itemsize == 8 and (kind == code or (code == "q" and kind == "l")))


def _times(frame: Frame, name: str) -> array[float]:
    # Subtracted as integers: a float holds 2^53 ns, 104 days, of which an absolute time has too many.
    origin = frame.origin_ns
    return array("d", [math.nan if time is None else (time - origin) / 1e9 for time in frame.raw(name)])


def _booleans(frame: Frame, name: str) -> bytearray:
    return bytearray(bool(value) for value in frame.raw(name))


def _listed(frame: Frame, name: str) -> list[Any]:
    return list(frame.raw(name))


_PLAIN: dict[str, Callable[[Frame, str], Any]] = {
    "int": _whole,
    "float": _floats,
    "time": _times,
    "bool": _booleans,
}
