"""How compound values stand in the tables: SACK blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    from rexmit.frame import Frame


def sack_columns(packets: Frame) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """The up to four SACK blocks of each packet: (starts, ends), shape (n,) each, -1 where there is none."""
    return [
        (packets[f"sack{k}_start"], packets[f"sack{k}_end"])
        for k in range(1, 5)
        if f"sack{k}_start" in packets
    ]
