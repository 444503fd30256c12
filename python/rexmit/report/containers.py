"""Columns as bytes: what a page of `rexmit report` reads its rows from (explorer/FORMAT.md)."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: What each column and the header are padded to, so that the page reads them as typed arrays where they lie.
ALIGNED = 8
TYPES = {"f8": "f64", "f4": "f32", "i4": "i32", "u4": "u32", "u2": "u16", "u1": "u8"}


@dataclass(frozen=True)
class Column:
    """Values of one kind. delta: stored as differences between neighbours, which repeat themselves more."""

    name: str
    values: npt.NDArray[Any]
    delta: bool = False

    def header(self) -> dict[str, Any]:
        """What the container's header says of it."""
        said: dict[str, Any] = {"name": self.name, "type": TYPES[self.values.dtype.str[1:]]}
        if self.delta:
            said["delta"] = True
        if self.values.dtype.itemsize > 1:
            said["shuffle"] = True
        return said

    def stored(self) -> bytes:
        """Differences first, then the bytes of equal weight together: both help deflate."""
        values = self.values
        if self.delta and len(values):
            values = np.concatenate([values[:1], np.diff(values)])
        plain = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
        width = plain.dtype.itemsize
        return plain.view(np.uint8).reshape(-1, width).T.tobytes() if width > 1 else plain.tobytes()


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


def whole(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers in the smallest kind of the page that holds them: u32, i32, else f64."""
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if least >= 0 and most < 2**32:
        return values.astype(np.uint32)
    if least >= -(2**31) and most < 2**31:
        return values.astype(np.int32)
    return values.astype(np.float64)
