"""How single runs of a sweep spread, and what pairs of them differ by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rexmit.figures.response import LINES, scaled
from rexmit.figures.scaling import heading
from rexmit.figures.style import BLUE, GREY, RED, Figure, canvas, legend_above, styled
from rexmit.screen.say import figure


@styled
def distributions(values: Mapping[str, Any], what: str, unit: str, name: str) -> Figure:
    """The share of runs at or below each value, a line for each point.

    values: by the words that tell points apart, the value of each run; NaN where there is none.
    """
    fig, (ax,) = canvas(height=3.6)
    every = {words: np.sort(x[np.isfinite(x)]) for words, x in values.items()}
    scale, said = scaled([float(x[-1]) for x in every.values() if len(x)], unit)
    for (colour, _), (words, x) in zip(LINES, every.items(), strict=False):
        if len(x):
            share = np.arange(1, len(x) + 1) / len(values[words])
            ax.step(x / scale, share, where="post", color=colour, label=figure(words) if words else None)
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"{what}{said}")
    ax.set_ylabel("share of runs at or below")
    legend_above(ax, columns=3, numbered=False)
    heading(fig, f"{what.capitalize()} of single runs,  {figure(name)}")
    return Figure(fig, f"runs-{what.replace(' ', '-')}")


@styled
def differences(rows: Sequence[dict[str, Any]], what: str, unit: str, name: str) -> Figure:
    """Mean paired differences with their 95% intervals; in colour where Holm's p is below 5%.

    rows: of one flow and measure: `words`, `difference`, `t_low`, `t_high`, `p_holm`.
    """
    fig, (ax,) = canvas(height=1.2 + 0.28 * len(rows))
    known = [row for row in rows if row["t_low"] is not None and row["t_high"] is not None]
    ends = [row[key] for row in known for key in ("t_low", "t_high")]
    scale, said = scaled(ends, unit)
    for place, row in enumerate(reversed(rows)):
        colour = GREY if row["p_holm"] >= 0.05 else BLUE if row["difference"] > 0 else RED
        ax.plot([row["difference"] / scale], [place], marker="o", ms=4, color=colour)
        if row in known:
            ax.plot([row["t_low"] / scale, row["t_high"] / scale], [place, place], color=colour)
    ax.axvline(0, color=GREY, lw=0.8)
    ax.set_yticks(range(len(rows)), [figure(row["words"]) for row in reversed(rows)])
    ax.set_xlabel(f"difference of {what}{said}")
    heading(fig, f"Paired differences of {what}, 95% intervals,  {figure(name)}")
    return Figure(fig, f"pairs-{what.replace(' ', '-')}")
