"""The two plots that the Hurst parameter is read from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rexmit.figures.scaling import heading, said
from rexmit.figures.style import BLACK, BLUE, GREY, LIGHT, RED, Figure, canvas, styled
from rexmit.screen.say import figure
from rexmit_studies.selfsim.time_domain import aggregated_variances
from rexmit_studies.selfsim.wavelets import log_scale as energies

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rexmit_studies.selfsim import Hurst
    from rexmit_studies.selfsim.estimate import Floats


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
