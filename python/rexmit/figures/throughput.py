"""What was sent, what of it was new, and what was acknowledged, interval by interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from rexmit.figures.style import (
    BLACK,
    GREEN,
    LIGHT,
    Figure,
    canvas,
    legend_above,
    scale_for,
    shade_episodes,
    styled,
)
from rexmit.figures.style import title as put_title
from rexmit.frame import Frame


@styled
def throughput(
    intervals: Frame, episodes: list[dict[str, Any]], flow: dict[str, Any], *, interval: float | None = None
) -> Figure:
    """Bits per second sent, sent for the first time, and acknowledged.

    intervals: the flow's `intervals` rows, times in s since the capture's first packet.  interval: their
    length, s (default: the smallest distance between two).
    """
    order = np.argsort(intervals["start"])
    start = intervals["start"][order]
    length = interval or interval_length(start)
    edges, which = bars(start, length, float(flow["start"]), float(flow["end"]))
    # A bar that ends as it begins, at the very end of a flow, has no rate. Where nothing passed, -1 picks
    # the 0 at the end.
    wide = np.diff(edges)
    lasts = np.where(wide > 0, wide, np.inf)
    rates = {
        name: np.append(intervals[f"{name}_bytes"][order], 0)[which] * 8 / lasts
        for name in ("sent", "new", "acked")
    }
    scale, unit = scale_for(max(float(rates["sent"].max()), float(rates["acked"].max())), "bps")
    fig, (ax,) = canvas(height=3.4)
    ax.set_xlim(span_of(flow, edges))
    ax.stairs(rates["sent"] / scale, edges, fill=True, color=LIGHT, label="sent", zorder=1)
    ax.stairs(
        rates["new"] / scale, edges, color=BLACK, lw=1.1, label="of it new data", zorder=3, baseline=None
    )
    ax.stairs(
        rates["acked"] / scale, edges, color=GREEN, lw=1.1, label="acknowledged", zorder=4, baseline=None
    )
    ax.set_ylim(bottom=0)
    ax.set_xlabel(f"time since {intervals.since} (s)")
    ax.set_ylabel(f"payload per {per_interval(length)} ({unit})")
    shade_episodes(ax, episodes, float(edges[-1]))
    legend_above(ax)
    put_title(fig, "Throughput", flow)
    return Figure(fig, "throughput")


def bars(start: Any, length: float, first: float, last: float) -> tuple[Any, Any]:
    """Where bars begin and end (s), and the interval that each shows: -1 where nothing passed.

    start: when the intervals begin, in order.  first, last: the ends of the flow, in the outer intervals.
    """
    if not len(start):
        return np.array([0.0, 1.0]), np.array([-1])
    ends = start + length
    gaps = np.flatnonzero(start[1:] - ends[:-1] > length / 2)
    edges = np.insert(start, gaps + 1, ends[gaps])
    which = np.insert(np.arange(len(start)), gaps + 1, -1)
    edges = np.append(edges, ends[-1])
    # The outer ones are not filled: what passed in them passed in less time.
    if edges[0] < first < edges[1]:
        edges[0] = first
    if edges[-2] < last < edges[-1]:
        edges[-1] = last
    return edges, which


def span_of(flow: dict[str, Any], edges: Any) -> tuple[float, float]:
    """Limits of the time axis, s: the flow's own, since its first interval may begin before it."""
    low = max(float(edges[0]), float(flow["start"]))
    return low, max(float(edges[-1]), low + 1e-9)


def interval_length(start: Any) -> float:
    """Length of the intervals that begin at these times (s): the smallest step, 1 s if there is but one."""
    steps = np.diff(np.unique(start))
    return round(float(steps.min()), 9) if len(steps) else 1.0


def per_interval(length: float) -> str:
    """`second`, `100 ms`: what counts are per."""
    return "second" if abs(length - 1) < 1e-9 else f"{length * 1e3:g} ms" if length < 1 else f"{length:g} s"
