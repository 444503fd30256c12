"""The episodes whose packets a page holds, and where those lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rexmit.frame import Frame

Row = dict[str, Any]

#: Of a flow of which not all packets are there.
MOST = 24


def costliest(episodes: Frame, most: int) -> list[Row]:
    """Those that cost most, then those that lost most, the worst first; rows of the table."""
    if not len(episodes) or most < 1:
        return []
    cost = np.nan_to_num(episodes["cost_s"], nan=0.0)
    order = np.lexsort((episodes["number"], -episodes["lost_segments"], -cost))[:most]
    chosen = np.zeros(len(episodes), dtype=bool)
    chosen[order] = True
    rows = {row["number"]: row for row in episodes.where(chosen).rows()}
    return [rows[int(episodes["number"][k])] for k in order]


def window_ns(episode: Row, bursts: Sequence[Row], last_ns: int) -> tuple[int, int]:
    """From when to when the packets of an episode lie, ns since the origin."""
    mine = [float(b["start"]) for b in bursts if b.get("episode") == episode["number"]]
    start = round(min([float(episode["start"]), *mine]) * 1e9)
    end = last_ns if episode.get("end") is None else round(float(episode["end"]) * 1e9)
    # Tables count in doubles of seconds.
    return start - 1, end + 1
