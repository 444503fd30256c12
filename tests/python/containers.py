"""Containers of a report read back, as the page reads them (explorer/FORMAT.md)."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from rexmit.report.document import inflated as inflated

#: What each column and the header are padded to, and what the types of columns are called.
ALIGNED = 8
TYPES = {"f8": "f64", "f4": "f32", "i4": "i32", "u4": "u32", "u2": "u16", "u1": "u8"}


def unpack(container: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The header and the columns of a container, as the page reads them."""
    (size,) = struct.unpack_from("<I", container)
    head = json.loads(container[4 : 4 + size])
    place, columns = 4 + size, {}
    widths = {name: np.dtype("<" + kind) for kind, name in TYPES.items()}
    for column in head["columns"]:
        kind = widths[column["type"]]
        length = head["rows"] * kind.itemsize
        raw = np.frombuffer(container, np.uint8, length, place)
        if column.get("shuffle"):
            raw = np.ascontiguousarray(raw.reshape(kind.itemsize, -1).T)
        values = raw.view(kind).reshape(-1)
        if column.get("delta"):
            values = np.cumsum(values, dtype=kind)
        columns[column["name"]] = values
        place += length + -length % ALIGNED
    return head, columns
