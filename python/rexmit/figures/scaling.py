"""How counts change with the time scale: the series itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rexmit.figures.style import BLACK, ORANGE, Figure, canvas, styled
from rexmit.screen.say import figure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Panels of the series: each shows as many bins, ten times as long as in the one below.
PANELS, SHOWN = 3, 300


@styled
def time_scales(x: Floats, width: float, what: str, name: str) -> Figure:
    """Counts per bin, the same number of bins in each panel, ten times as long from one to the next.

    width: of a bin of `x`, s. The shaded part of a panel is what the one below it shows.
    """
    steps = [10**k for k in range(PANELS) if len(x) // 10**k >= 30] or [1]
    fig, axes = canvas(rows=len(steps), height=0.7 + 1.5 * len(steps), sharex=False)
    length = min(SHOWN, len(x) // steps[-1])
    begin = 0.0
    for ax, step in zip(axes, reversed(steps), strict=True):
        first = round(begin / width) // step * step
        part = x[first : first + length * step]
        part = part[: len(part) // step * step].reshape(-1, step).sum(axis=1)
        edges = (first + step * np.arange(len(part) + 1)) * width
        ax.stairs(part, edges, fill=True, color=BLACK, lw=0)
        ax.set_xlim(edges[0], edges[-1])
        ax.set_ylim(bottom=0)
        ax.set_ylabel(f"{what} per {said(step * width)}")
        if step > steps[0]:
            span = (edges[-1] - edges[0]) / 10
            begin = _lively(part, edges, span)
            ax.axvspan(begin, begin + span, color=ORANGE, alpha=0.25, lw=0, zorder=0.5)
    axes[-1].set_xlabel("time since the first packet (s)")
    heading(fig, f"{what.capitalize()} at {len(steps)} time scales,  {figure(name)}")
    return Figure(fig, f"{what}-by-time-scale")


def _lively(part: Floats, edges: Floats, span: float) -> float:
    """Where the panel below should look: the stretch whose sum is nearest to the mean."""
    bins = max(1, round(len(part) / 10))
    sums = np.convolve(part, np.ones(bins), "valid")
    at = int(np.argmin(np.abs(sums - sums.mean())))
    return float(min(edges[at], edges[-1] - span))


def heading(fig: object, text: str) -> None:
    """A title as the other figures have it."""
    fig.suptitle(text, x=0.01, ha="left", fontsize=9.5, color="#333333")  # type: ignore[attr-defined]


def said(seconds: float) -> str:
    """`10 ms`, `1 s`."""
    return f"{seconds * 1e3:.4g} ms" if seconds < 0.9995 else f"{seconds:.4g} s"
