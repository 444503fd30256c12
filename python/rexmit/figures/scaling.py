"""How counts change with the time scale: the series itself, and the two plots that H is read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rexmit.figures.style import BLACK, BLUE, GREY, LIGHT, ORANGE, RED, Figure, canvas, styled
from rexmit.screen.say import figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rexmit.selfsim import Hurst
    from rexmit.selfsim.estimate import Floats

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


@styled
def diagrams(x: Floats, width: float, what: str, hurst: Hurst, name: str) -> Figure:
    """The variance-time plot and the log-scale diagram, side by side, with the slopes of the estimates."""
    fig, _ = canvas(rows=1, height=3.5)
    fig.clear()
    left, right = fig.subplots(1, 2)
    variance_time(left, x, width, hurst)
    log_scale(right, x, width, hurst)
    heading(fig, f"Scaling of {what} per {said(width)},  {figure(name)}")
    return Figure(fig, f"{what}-scaling")


def variance_time(ax: Axes, x: Floats, width: float, hurst: Hurst) -> None:
    """Variance of the mean rate against the length over which it is taken."""
    from rexmit.selfsim.time_domain import aggregated_variances

    sizes, variances = aggregated_variances(x[None, :])
    m, y = np.array(sizes, dtype=float), variances[0] / variances[0][0]
    ax.loglog(m * width, y, ls="none", marker="o", ms=3.5, color=BLACK, label="series")
    value = next(e for e in hurst.estimates if e.method == "variance–time")
    blocks = np.floor(len(x) / m)
    power = 2 * value.value - 2
    shape = m**power * (1 - blocks**power)
    level = np.exp(np.average(np.log(y / shape), weights=np.sqrt(blocks)))
    ax.loglog(m * width, level * shape, color=BLUE, lw=1.1, label=f"H = {value.value:.2f}")
    ax.loglog(m * width, 1 / m, color=GREY, ls=":", lw=1.1, label="H = 0.5: no memory")
    ax.set_xlabel("averaged over (s)")
    ax.set_ylabel("variance of the mean (one bin = 1)")
    ax.set_title("variance–time plot", fontsize=9)
    ax.legend(loc="lower left")


def log_scale(ax: Axes, x: Floats, width: float, hurst: Hurst) -> None:
    """Energy of wavelet coefficients by octave, with the octaves that the estimate rests on."""
    from rexmit.selfsim.wavelets import log_scale as energies

    seen = energies(x[None, :])
    y = seen.energies[0] - seen.energies[0][0]
    ax.errorbar(
        seen.octaves,
        y,
        1.96 * seen.errors,
        ls="none",
        marker="o",
        ms=3.5,
        color=BLACK,
        ecolor=LIGHT,
        elinewidth=3,
    )
    value = next(e for e in hurst.estimates if e.method == "Abry–Veitch")
    first, last = (int(word) for word in value.note.removeprefix("octaves ").split(" to "))
    j = seen.octaves[first - 1 : last]
    slope = 2 * value.value - 1
    weights = seen.errors[first - 1 : last] ** -2.0
    level = np.average(y[first - 1 : last] - slope * j, weights=weights)
    ax.plot(j, level + slope * j, color=RED, lw=1.3, label=f"H = {value.value:.2f}, {value.note}")
    ax.set_xlabel("octave j: $2^j$ bins of " + said(width))
    ax.set_ylabel("log$_2$ energy (octave 1 = 0)")
    ax.set_title("log-scale diagram", fontsize=9)
    ax.legend(loc="upper left")


def heading(fig: object, text: str) -> None:
    """A title as the other figures have it."""
    fig.suptitle(text, x=0.01, ha="left", fontsize=9.5, color="#333333")  # type: ignore[attr-defined]


def said(seconds: float) -> str:
    """`10 ms`, `1 s`."""
    return f"{seconds * 1e3:.4g} ms" if seconds < 0.9995 else f"{seconds:.4g} s"
