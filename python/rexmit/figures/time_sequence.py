"""Sequence number against time: the picture in which a loss and its repair are seen at a glance."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from rexmit.captured.lost import copies as lost_copies
from rexmit.columns import sack_columns
from rexmit.figures import thin
from rexmit.figures.style import (
    BLACK,
    CAUSE_STYLE,
    GREEN,
    GREY,
    PALE,
    RED,
    YELLOW,
    Figure,
    canvas,
    legend_above,
    mark_outages,
    scale_for,
    shade_episodes,
    styled,
    title,
)
from rexmit.frame import Frame
from rexmit.screen.words import CAUSES

#: Up to this many segments each is drawn as a bar of its own height; beyond, as a point.
BARS = 4000


@styled
def time_sequence(
    packets: Frame,
    episodes: list[dict[str, Any]],
    bursts: list[dict[str, Any]],
    flow: dict[str, Any],
    *,
    start: float | None = None,
    end: float | None = None,
    retransmissions: Frame | None = None,
    outages: dict[str, Any] | None = None,
) -> Figure:
    """Data, ACKs, SACK blocks, lost copies and retransmissions by cause over time; episodes shaded and
    numbered, outages hatched.

    packets, episodes, bursts: rows of one flow, times in s since the capture's first packet.  start, end:
    the part to show, s.  retransmissions: the flow's rows; those known to be needless have a ring.  outages:
    those of the flow's answer (docs/json.md).
    """
    time = packets["time"]
    low = float(time.min()) if start is None and len(packets) else (start or 0.0)
    high = float(time.max()) if end is None and len(packets) else (end or 1.0)
    inside = (time >= low) & (time <= high)
    shown = packets.where(inside) if not inside.all() else packets
    fig, (ax,) = canvas()
    margin = (high - low) * 0.015 or 0.01
    ax.set_xlim(low - margin, high + margin)
    data = shown["data"] & (shown["len"] > 0)
    top = float((shown["seq"] + shown["len"])[data].max()) if data.any() else 1.0
    scale, unit = scale_for(top, "B")

    _acks(ax, shown, scale)
    _sack(ax, shown, scale)
    _data(ax, shown, data, scale)
    _lost(ax, shown, bursts, flow, scale, (low, high))
    _retransmissions(ax, shown, data, scale)
    if retransmissions is not None:
        _needless(ax, shown, retransmissions, scale)

    ax.set_xlabel(f"time since {packets.since} (s)")
    ax.set_ylabel(f"sequence number ({unit})")
    ax.margins(y=0.03)
    ax.autoscale(axis="y")
    shade_episodes(ax, episodes, high)
    mark_outages(ax, outages)
    legend_above(ax, columns=7)
    title(fig, "Time and sequence", flow)
    return Figure(fig, "time-sequence")


def _data(ax: Axes, p: Frame, data: npt.NDArray[np.bool_], scale: float) -> None:
    new = data & ~_again(p)
    x, y, height = p["time"][new], p["seq"][new] / scale, p["len"][new] / scale
    if len(x) <= BARS:
        _bars(ax, x, y, y + height, BLACK, 1.1, "data", zorder=3)
        return
    keep = thin.cells(x, y)
    ax.plot(x[keep], y[keep], ".", ms=1.6, mew=0, color=BLACK, zorder=3, gid="data")
    ax.plot([], [], ".", ms=3, color=BLACK, label="data")


def _again(p: Frame) -> npt.NDArray[np.bool_]:
    again = np.zeros(len(p), dtype=bool)
    for cause in CAUSES:
        again |= p.equals("cause", cause)
    return again


def _acks(ax: Axes, p: Frame, scale: float) -> None:
    back = ~p["data"] & (p["ack"] >= 0)
    x, y = p["time"][back], p["ack"][back] / scale
    if len(x) == 0:
        return
    order = np.argsort(x, kind="stable")
    # A late ACK does not take anything back.
    x, y = x[order], np.maximum.accumulate(y[order])
    keep = thin.extremes(x, y)
    ax.step(x[keep], y[keep], where="post", color=GREEN, lw=0.9, label="ACK", zorder=2, gid="ack")


def _sack(ax: Axes, p: Frame, scale: float) -> None:
    xs, lows, highs = [], [], []
    for k, (start, end) in enumerate(sack_columns(p)):
        there = (end > 0) & ~p["data"]
        if k == 0:
            there &= ~p["dsack"]
        xs.append(p["time"][there])
        lows.append(start[there] / scale)
        highs.append(end[there] / scale)
    x, low, high = (np.concatenate(part) if part else np.array([]) for part in (xs, lows, highs))
    if len(x) == 0:
        return
    keep = thin.cells(x, high, 900, 500) if len(x) > 3000 else np.arange(len(x))
    # Opaque, or places with more ACKs would look like more SACK.
    _bars(ax, x[keep], low[keep], high[keep], PALE, 0.8, "SACK", zorder=1.5)


def _lost(
    ax: Axes,
    p: Frame,
    bursts: list[dict[str, Any]],
    flow: dict[str, Any],
    scale: float,
    view: tuple[float, float],
) -> None:
    mine = [b for b in bursts if view[0] <= float(b["start"]) <= view[1]]
    if not mine:
        return
    if flow.get("vantage") == "receiver":
        # Here a lost copy was never seen: the hole is drawn where it showed.
        x = np.array([float(b["start"]) for b in mine])
        low = np.array([b["seq_start"] for b in mine]) / scale
        high = np.array([b["seq_end"] for b in mine]) / scale
        _bars(ax, x, low, high, RED, 1.6, "hole", zorder=4)
        return
    gone = np.array(lost_copies(p, mine), dtype=bool)
    x, y = p["time"][gone], p["seq"][gone] / scale
    if len(x):
        keep = thin.cells(x, y, 300, 220)
        size = 4.5 if len(keep) < 40 else 3
        ax.plot(x[keep], y[keep], "x", ms=size, mew=0.7, color=RED, label="lost", zorder=5, gid="lost")


def _retransmissions(ax: Axes, p: Frame, data: npt.NDArray[np.bool_], scale: float) -> None:
    for cause in CAUSES:
        mask = data & p.equals("cause", cause)
        x, y = p["time"][mask], p["seq"][mask] / scale
        if len(x) == 0:
            continue
        keep = thin.cells(x, y, 500, 350)
        colour, marker = CAUSE_STYLE[cause]
        ax.plot(
            x[keep],
            y[keep],
            marker,
            ms=3.2 if len(keep) < 200 else 2.2,
            mew=0.4 if len(keep) < 200 else 0.2,
            mec="white" if colour != YELLOW else GREY,
            color=colour,
            label=f"again: {cause}",
            zorder=6,
            gid=f"again-{cause}",
        )


def _needless(ax: Axes, p: Frame, retransmissions: Frame, scale: float) -> None:
    """Rings around what was sent again although it had arrived."""
    again = retransmissions["packet"][retransmissions["needless"]]
    mask = p["data"] & np.isin(p["packet"], again)
    x, y = p["time"][mask], p["seq"][mask] / scale
    if len(x):
        keep = thin.cells(x, y, 500, 350)
        ring: dict[str, Any] = {"ms": 6, "mew": 0.8, "mfc": "none", "mec": BLACK, "ls": "none", "zorder": 7}
        ax.plot(x[keep], y[keep], "o", label="needless", gid="needless", **ring)


def _bars(
    ax: Axes,
    x: npt.NDArray[Any],
    low: npt.NDArray[Any],
    high: npt.NDArray[Any],
    colour: str,
    width: float,
    label: str,
    **kwargs: Any,
) -> None:
    segments = np.stack([np.column_stack([x, low]), np.column_stack([x, high])], axis=1)
    lines = LineCollection(list(segments), colors=colour, linewidths=width, gid=label, **kwargs)
    ax.add_collection(lines)
    # A hairline shows no colour in the legend: a thick stand-in does.
    ax.plot([], [], color=colour, lw=3 if label == "SACK" else 1.5, label=label)
