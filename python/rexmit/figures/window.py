"""How much was under way, and how much the receiver allowed."""

from __future__ import annotations

from typing import Any

import numpy as np

from rexmit.figures import thin
from rexmit.figures.style import (
    BLACK,
    PURPLE,
    Figure,
    canvas,
    legend_above,
    scale_for,
    shade_episodes,
    styled,
    title,
)
from rexmit.frame import Frame


@styled
def window(packets: Frame, episodes: list[dict[str, Any]], flow: dict[str, Any]) -> Figure:
    """Advertised window and bytes in flight (sent, neither acknowledged nor SACKed) against time.

    packets: the flow's `packets` rows, times in s since the capture's first packet.
    """
    order = np.argsort(packets["time"], kind="stable")
    time, data = packets["time"][order], packets["data"][order]
    flight = packets["flight_bytes"][order]
    # -1: its scale is not known.
    offered = ~data & (packets["ack"][order] >= 0) & (packets["window_bytes"][order] >= 0)
    allowed = packets["window_bytes"][order][offered]
    largest = max(
        float(flight.max()) if len(flight) else 0.0, float(allowed.max()) if len(allowed) else 0.0, 1.0
    )
    # A window of megabytes over a flight of kilobytes would flatten what matters.
    wide = len(allowed) > 0 and float(allowed.max()) > 8 * max(float(flight.max()), 1.0)
    scale, unit = scale_for(largest, "B")
    fig, axes = canvas(rows=2 if wide else 1, height=4.6 if wide else 3.6)
    upper, lower = axes[0], axes[-1]
    low, high = (float(time[0]), float(time[-1])) if len(time) else (0.0, 1.0)
    upper.set_xlim(low - 0.01 * (high - low), high + 0.01 * (high - low))
    keep = thin.extremes(time[offered], allowed)
    upper.step(
        time[offered][keep],
        allowed[keep] / scale,
        where="post",
        color=PURPLE,
        lw=1.0,
        label="advertised window",
        gid="window",
    )
    keep = thin.extremes(time, flight)
    own, own_unit = scale_for(float(flight.max()) if len(flight) else 1.0, "B") if wide else (scale, unit)
    lower.step(
        time[keep],
        flight[keep] / own,
        where="post",
        color=BLACK,
        lw=0.8,
        label="in flight, not SACKed",
        gid="flight",
    )
    upper.set_ylabel(f"advertised window ({unit})" if wide else f"bytes ({unit})")
    if wide:
        lower.set_ylabel(f"in flight ({own_unit})")
    lower.set_xlabel(f"time since {packets.since} (s)")
    for ax in axes:
        ax.set_ylim(bottom=0)
        shade_episodes(ax, episodes, high, most_numbers=14 if ax is upper else 0)
    if not wide:
        legend_above(upper)
    title(fig, "Advertised window and flight", flow)
    return Figure(fig, "window")
