"""The paper's drawings: packet number mod 100 against time; and clouds of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure as MplFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from rexmit import stats
from rexmit.figures.style import BLACK, BLUE, GREY, LIGHT, RED, SHADE, Figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from rexmit_studies.wireless.trace import Trace

    Numbers = NDArray[np.float64]


@styled
def packets(trace: Trace, gone: Sequence[tuple[float, float]], title: str, name: str) -> Figure:
    """Packet number mod 100 against time, with the paper's marks. gone: when the link is down, s.

    Squares: the packet is enqueued at the fixed host, and arrives at the base station. Circles: its ACK is
    back. Crosses: it is lost. Squares with a line: its ACK is lost.
    """
    fig = MplFigure(figsize=(8.4, 4.0), layout="constrained")
    ax = fig.subplots()
    length = trace.lasts_s
    for begin, end in gone:
        if begin < length:
            ax.axvspan(begin, min(end, length), color=SHADE, lw=0, zorder=0.3)
    square = {"ls": "none", "marker": "s", "ms": 2.4, "mew": 0}
    _marks(ax, trace.enqueued, color=BLACK, **square)
    _marks(ax, trace.at_base, color=BLACK, **square)
    _marks(ax, trace.acked, ls="none", marker="o", ms=2.8, mfc="none", mec=BLUE, mew=0.5)
    for points in (trace.dropped, trace.dropped_unseen):
        _marks(ax, points, ls="none", marker="x", ms=4, color=RED, mew=0.9)
    _marks(ax, trace.dropped_acks, ls="none", marker="s", ms=4, mfc="none", mec=RED, mew=0.7)
    _marks(ax, trace.dropped_acks, ls="none", marker="_", ms=4, color=RED, mew=0.7)
    ax.set_xlim(0, length)
    most = float(trace.enqueued[1].max())
    ax.set_ylim(-3, 102 if most > 70 else 1.15 * most)
    ax.set_xlabel("time (s)")
    ax.set_ylabel("packet number mod 100")
    ax.set_title(title, pad=22)
    handles: list[Any] = [
        Line2D([], [], color=BLACK, ls="none", marker="s", ms=3.5),
        Line2D([], [], mfc="none", mec=BLUE, ls="none", marker="o", ms=4),
        Line2D([], [], color=RED, ls="none", marker="x", ms=5),
        (
            Line2D([], [], mfc="none", mec=RED, ls="none", marker="s", ms=5),
            Line2D([], [], color=RED, ls="none", marker="_", ms=5),
        ),
        Patch(color=SHADE),
    ]
    labels = ["packet at FH, at BS", "ACK at FH", "packet lost", "ACK lost", "disconnected"]
    ax.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=5, borderpad=0.2)
    return Figure(fig, name)


def _marks(ax: Axes, points: tuple[Numbers, Numbers], **look: object) -> None:
    time, number = points
    ax.plot(time, number % 100, zorder=3, **look)  # type: ignore[arg-type]


@styled
def clouds(panels: Mapping[str, Mapping[str, tuple[Numbers, float]]], name: str) -> Figure:
    """Runs as dots, group by group, with their mean and the paper's figure; a panel for each quantity."""
    fig = MplFigure(figsize=(8.4, 2.9), layout="constrained")
    axes = fig.subplots(1, len(panels))
    for ax, (label, groups) in zip(axes, panels.items(), strict=True):
        for k, (values, printed) in enumerate(groups.values()):
            # A place within the column for each, always the same.
            side = (np.arange(len(values)) * 0.618 % 1 - 0.5) * 0.5
            ax.plot(k + side, values, ls="none", marker=".", ms=3, mew=0, color=GREY, alpha=0.6, zorder=2)
            mean = stats.mean(values)
            error = [[mean.value - mean.low], [mean.high - mean.value]]
            ax.errorbar(
                [k], [mean.value], yerr=error, color=BLACK, marker="o", ms=3, lw=1.3, capsize=3, zorder=4
            )
            ax.plot([k], [printed], marker="o", ms=8, mfc="none", mec=RED, mew=1.3, zorder=5)
        ax.set_xticks(range(len(groups)), list(groups), rotation=35, ha="right", rotation_mode="anchor")
        ax.set_title(label, fontsize=9)
        ax.grid(axis="x", visible=False)
        ax.set_xlim(-0.6, len(groups) - 0.4)
    return Figure(fig, name)


@styled
def pairs(
    groups: Mapping[str, tuple[Numbers, Numbers]], labels: tuple[str, str], unit: str, name: str
) -> Figure:
    """For each group two samples of the same seeds, joined run by run."""
    fig = MplFigure(figsize=(7.4, 3.0), layout="constrained")
    axes = fig.subplots(1, len(groups), sharey=True)
    for ax, (label, (before, after)) in zip(axes, groups.items(), strict=True):
        ax.plot([0, 1], np.array([before, after]), color=LIGHT, lw=0.6, zorder=1)
        for k, values in enumerate((before, after)):
            mean = stats.mean(values)
            ax.plot([k] * len(values), values, ls="none", marker=".", ms=3, mew=0, color=GREY, zorder=2)
            error = [[mean.value - mean.low], [mean.high - mean.value]]
            ax.errorbar(
                [k],
                [mean.value],
                yerr=error,
                color=RED if k else BLACK,
                marker="o",
                ms=4,
                capsize=4,
                zorder=4,
            )
        ax.plot([0, 1], [np.mean(before), np.mean(after)], color=BLACK, lw=1.2, zorder=3)
        ax.set_xticks([0, 1], list(labels))
        ax.set_xlim(-0.4, 1.4)
        ax.set_title(label, fontsize=9)
        ax.grid(axis="x", visible=False)
    axes[0].set_ylabel(unit)
    axes[0].set_ylim(bottom=0)
    return Figure(fig, name)
