"""Duplicate ACKs and retransmissions, interval by interval: the alarm and the answer to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from rexmit.figures.style import CAUSE_STYLE, SKY, Figure, canvas, legend_above, shade_episodes, styled, title
from rexmit.figures.throughput import interval_length, per_interval, span_of
from rexmit.frame import Frame
from rexmit.screen.words import CAUSES


@styled
def repairs(
    intervals: Frame,
    retransmissions: Frame,
    episodes: list[dict[str, Any]],
    flow: dict[str, Any],
    *,
    interval: float | None = None,
) -> Figure:
    """Duplicate ACKs (upper panel) and retransmitted segments by cause (lower panel), counts per interval.

    intervals, retransmissions: the flow's rows, times in s since the capture's first packet.  interval:
    length, s.
    """
    order = np.argsort(intervals["start"])
    start = intervals["start"][order]
    length = interval or interval_length(start)
    edges = np.append(start, start[-1] + length) if len(start) else np.array([0.0, 1.0])
    # Intervals without a packet have no row: bins must not stretch over them.
    whole = np.arange(edges[0], edges[-1] + length / 2, length)
    fig, (upper, lower) = canvas(rows=2, height=4.4)
    upper.set_xlim(span_of(flow, edges))
    upper.bar(
        start,
        intervals["duplicate_acks"][order],
        width=length * 0.92,
        align="edge",
        color=SKY,
        gid="duplicate-acks",
    )
    upper.set_ylabel(f"duplicate ACKs\nper {per_interval(length)}")
    bottom = np.zeros(len(whole) - 1)
    for cause in CAUSES:
        mask = retransmissions.equals("cause", cause) if len(retransmissions) else np.zeros(0, dtype=bool)
        if not mask.any():
            continue
        counts, _ = np.histogram(
            retransmissions["time"][mask], bins=whole, weights=retransmissions["segments"][mask]
        )
        lower.bar(
            whole[:-1],
            counts,
            width=length * 0.92,
            align="edge",
            bottom=bottom,
            color=CAUSE_STYLE[cause][0],
            label=cause,
            gid=f"again-{cause}",
        )
        bottom += counts
    lower.set_ylabel(f"segments sent again\nper {per_interval(length)}")
    lower.set_xlabel(f"time since {intervals.since} (s)")
    for ax in (upper, lower):
        # Without anything to count the axis is still one of counts.
        ax.set_ylim(0, max(1.0, ax.get_ylim()[1]))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        shade_episodes(ax, episodes, float(edges[-1]), most_numbers=14 if ax is upper else 0)
    legend_above(lower)
    title(fig, "Duplicate ACKs and retransmissions", flow)
    return Figure(fig, "repairs")
