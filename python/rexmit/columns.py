"""How compound values stand in the tables: SACK blocks, causes, summaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rexmit.frame import Frame


def sack_columns(packets: Frame) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    """The up to four SACK blocks of each packet: (starts, ends), shape (n,) each, -1 where there is none."""
    return [
        (packets[f"sack{k}_start"], packets[f"sack{k}_end"])
        for k in range(1, 5)
        if f"sack{k}_start" in packets
    ]


def episodes_in_order(episodes: Frame) -> list[dict[str, Any]]:
    """Episode rows in order of their number."""
    return sorted(episodes.rows(), key=lambda row: int(row["number"]))


def cause_mask(frame: Frame, cause: str) -> npt.NDArray[np.bool_]:
    """Rows with this cause."""
    return frame.equals("cause", cause)
