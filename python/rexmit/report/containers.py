"""Columns as bytes: what a page of `rexmit report` reads its rows from (explorer/FORMAT.md)."""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import sub
from typing import Any

#: What each column and the header are padded to, so that the page reads them as typed arrays where they lie.
ALIGNED = 8
#: Types of the page's arrays by Python's codes of the same.
TYPES = {"d": "f64", "f": "f32", "i": "i32", "I": "u32", "H": "u16", "B": "u8"}
#: Codes of floating point, whose differences have no range.
FLOATS = "fd"


@dataclass(frozen=True)
class Column:
    """Values of one kind: an array, or other memory of one of TYPES. delta: stored as differences between
    neighbours, which repeat themselves more.
    """

    name: str
    values: Any
    delta: bool = False

    @property
    def _memory(self) -> memoryview:
        return memoryview(self.values)

    def header(self) -> dict[str, Any]:
        """What the container's header says of it."""
        said: dict[str, Any] = {"name": self.name, "type": TYPES[self._memory.format]}
        if self.delta:
            said["delta"] = True
        if self._memory.itemsize > 1:
            said["shuffle"] = True
        return said

    def stored(self) -> bytes:
        """Differences first, then the bytes of equal weight together: both help deflate."""
        values: Any = self._memory
        if self.delta and len(values) > 1:
            values = _differences(values)
        if sys.byteorder == "big":
            values = array(self._memory.format, values)
            values.byteswap()
        plain, width = bytes(values), self._memory.itemsize
        return b"".join(plain[k::width] for k in range(width)) if width > 1 else plain


def _differences(values: memoryview) -> array[Any]:
    found: Iterable[Any] = map(sub, values[1:], values)
    if values.format not in FLOATS:
        # They go around, as the page's arrays do when it adds them up.
        most = 256**values.itemsize - 1
        found = (difference & most for difference in found)
        return array(values.format.upper(), chain([values[0] & most], found))
    return array(values.format, chain(values[:1], found))


def pack(kind: str, columns: Sequence[Column], **more: Any) -> bytes:
    """A container: the header as JSON, then the columns, each aligned. more: further keys of the header."""
    rows = len(columns[0].values) if columns else 0
    head = {"kind": kind, "rows": rows, "columns": [column.header() for column in columns], **more}
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-(4 + len(text)) % ALIGNED)
    parts = [struct.pack("<I", len(text)), text]
    for column in columns:
        stored = column.stored()
        parts += [stored, b"\0" * (-len(stored) % ALIGNED)]
    return b"".join(parts)


def deflated(data: bytes, level: int = 9) -> bytes:
    """As a page's `DecompressionStream("deflate-raw")` takes it: without header and checksum."""
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def whole(values: Sequence[int]) -> array[Any]:
    """Whole numbers in the smallest kind of the page that holds them: u32, i32, else f64."""
    least, most = min(values, default=0), max(values, default=0)
    if least >= 0 and most < 2**32:
        return array("I", values)
    if least >= -(2**31) and most < 2**31:
        return array("i", values)
    return array("d", values)
