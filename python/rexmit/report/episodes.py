"""The episodes whose packets a page holds, and where those lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.frame import Frame

Row = dict[str, Any]

#: Of a flow of which not all packets are there.
MOST = 24


def costliest(episodes: Frame, most: int) -> list[Row]:
    """Those that cost most, then those that lost most, the worst first; rows of the table."""
    if not len(episodes) or most < 1:
        return []
    columns = (episodes.raw(name) for name in ("cost_s", "lost_segments", "number"))
    ranks = [(-(cost or 0.0), -lost, number) for cost, lost, number in zip(*columns, strict=True)]
    order = sorted(range(len(episodes)), key=ranks.__getitem__)
    return episodes.take(order[:most]).rows()


def window_ns(episode: Row, bursts: Sequence[Row], last_ns: int) -> tuple[int, int]:
    """From when to when the packets of an episode lie, ns since the origin."""
    mine = [float(b["start"]) for b in bursts if b.get("episode") == episode["number"]]
    start = round(min([float(episode["start"]), *mine]) * 1e9)
    end = last_ns if episode.get("end") is None else round(float(episode["end"]) * 1e9)
    # Tables count in doubles of seconds.
    return start - 1, end + 1
