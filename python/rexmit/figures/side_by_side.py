"""Two sequence graphs laid over each other: where one run falls behind the other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from rexmit.figures import thin
from rexmit.figures.style import (
    BLACK,
    BLUE,
    GREY,
    Figure,
    canvas,
    legend_above,
    scale_for,
    styled,
)
from rexmit.frame import Frame
from rexmit.screen.say import figure

#: Columns of packets, episodes and bursts that it needs.
PACKETS, EPISODES, BURSTS = ("time", "seq", "len", "data"), ("start", "end"), ("start", "seq_start")
Floats = npt.NDArray[np.float64]


class Part:
    """One of the two runs: what the figure draws of it."""

    def __init__(
        self,
        name: str,
        packets: Frame,
        episodes: Frame,
        bursts: Frame,
        start: float,
        outages: list[str | None] | None,
    ) -> None:
        """start: of its flow.  outages: which one took data of each episode, in order of time."""
        self.name, self.episodes, self.bursts, self.start = name, episodes, bursts, start
        self.outages = outages
        self.until = float(packets["time"].max()) if len(packets) else 0.0
        #: The highest byte sent by each time, s since the flow's start. The packets need not stay.
        self.progress = _progress(packets, start)


STYLES = ((BLACK, "-"), (BLUE, "--"))
#: Height of a strip of episodes, as a share of the panel.
STRIP = 0.025
GRID = 2000
#: More names would lie over each other.
NAMED = 12


@styled
def side_by_side(first: Part, second: Part) -> Figure:
    """The highest byte sent by two flows against time since each one's first packet; bursts of losses as
    crosses where their first copy was sent, episodes as strips at the top (first) and at the bottom (second),
    with the outage that took data of them where it is known. Below, how many bytes the second is ahead.
    """
    fig, (ax, apart) = canvas(2, height=5.6, gridspec_kw={"height_ratios": [3, 1]})
    steps = [part.progress for part in (first, second)]
    top = max((float(y[-1]) for _, y in steps if len(y)), default=1.0)
    scale, unit = scale_for(top, "B")
    for (x, y), part, (colour, dashes) in zip(steps, (first, second), STYLES, strict=True):
        keep = thin.extremes(x, y) if len(x) else np.arange(0)
        ax.step(
            x[keep], y[keep] / scale, where="post", color=colour, ls=dashes, lw=1.1, label=figure(part.name)
        )
        _lost(ax, part, colour, scale)
    ax.plot([], [], "x", ms=5, mew=0.9, color=GREY, label="a burst of losses")
    for place, part, (colour, _) in zip((1 - STRIP, 0.0), (first, second), STYLES, strict=True):
        _strip(ax, part, place, colour)
    ax.set_ylabel(f"sequence number ({unit})")
    ax.margins(x=0.01, y=0.05)
    legend_above(ax, columns=3)
    _ahead(apart, steps)
    apart.set_xlabel("time since the connection's first packet (s)")
    fig.suptitle("Two runs side by side", x=0.01, ha="left", fontsize=9.5, color="#333333")
    return Figure(fig, "side-by-side")


def _progress(packets: Frame, start: float) -> tuple[Floats, Floats]:
    data = packets["data"] & (packets["len"] > 0)
    x = packets["time"][data] - start
    end = (packets["seq"] + packets["len"])[data].astype(float)
    order = np.argsort(x, kind="stable")
    return x[order], np.maximum.accumulate(end[order]) if len(end) else end


def _lost(ax: Axes, part: Part, colour: str, scale: float) -> None:
    bursts = part.bursts
    if not len(bursts):
        return
    x, y = bursts["start"] - part.start, bursts["seq_start"] / scale
    keep = thin.cells(x, y)
    ax.plot(x[keep], y[keep], "x", ms=5, mew=0.9, color=colour, zorder=5)


def _strip(ax: Axes, part: Part, place: float, colour: str) -> None:
    episodes = part.episodes
    if not len(episodes):
        return
    order = np.argsort(episodes["start"], kind="stable")
    starts, ends = episodes["start"][order], episodes["end"][order]
    lefts = starts - part.start
    took = np.maximum(np.where(np.isnan(ends), part.until, ends) - starts, 1e-3)
    boxes = [
        [(left, place), (right, place), (right, place + STRIP), (left, place + STRIP)]
        for left, right in zip(*thin.spans(lefts, lefts + took), strict=True)
    ]
    strips = PolyCollection(
        boxes, transform=ax.get_xaxis_transform(), facecolor=colour, edgecolor="none", alpha=0.45, zorder=1
    )
    ax.add_collection(strips, autolim=False)
    for left, outage in zip(lefts, part.outages or (), strict=False):
        if outage and len(episodes) <= NAMED:
            ax.text(
                left,
                place + STRIP + 0.01 if place == 0 else place - 0.01,
                figure(outage),
                va="bottom" if place == 0 else "top",
                transform=ax.get_xaxis_transform(),
                fontsize=6.5,
                color=colour,
            )


def _ahead(ax: Axes, steps: list[tuple[Floats, Floats]]) -> None:
    ends = [float(x[-1]) for x, _ in steps if len(x)]
    if len(ends) < 2:
        return
    grid = np.linspace(0.0, max(ends), GRID)
    values = []
    for x, y in steps:
        at = np.searchsorted(x, grid, side="right")
        values.append(np.where(at > 0, y[np.maximum(at - 1, 0)], 0.0))
    difference = values[1] - values[0]
    scale, unit = scale_for(float(np.abs(difference).max()) or 1.0, "B")
    ax.axhline(0, color=GREY, lw=0.8)
    ax.fill_between(grid, difference / scale, where=difference >= 0, color=BLUE, alpha=0.35, lw=0)
    ax.fill_between(grid, difference / scale, where=difference <= 0, color=BLACK, alpha=0.25, lw=0)
    ax.set_ylabel(f"second ahead ({unit})")
