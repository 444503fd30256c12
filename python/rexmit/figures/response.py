"""How a measure answers to what a sweep varied: curves with bands, and a map of two keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rexmit.figures.scaling import heading
from rexmit.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Figure,
    canvas,
    legend_above,
    scale_for,
    styled,
)
from rexmit.screen.say import figure

#: Lines in one figure, and their markers, so that a print without colour tells them apart.
LINES = [
    (BLACK, "o"),
    (BLUE, "s"),
    (RED, "^"),
    (GREEN, "D"),
    (ORANGE, "v"),
    (PURPLE, "P"),
    (SKY, "X"),
    (GREY, "h"),
]
#: So many values are told at the axis as they were written.
FEW = 8
#: From this ratio of the ends on an axis is logarithmic.
WIDE = 20.0


@styled
def curves(
    rows: Sequence[dict[str, Any]],
    x: str,
    what: str,
    unit: str,
    name: str,
    *,
    label: str,
    key: str,
    written: str,
    joined: bool = True,
) -> Figure:
    """The mean at each value of `x` with the 95% interval of the mean as a band.

    rows: of one flow and measure, with `x` (a number, or a text), `line` (what tells lines apart), `mean`,
    `t_low`, `t_high`.  label: of the axis of x.  key, written: the axis' name, and the column of values as
    they were written, for which there is room where they are few.  joined: by lines; sampled values are not.
    """
    fig, (ax,) = canvas(height=3.6)
    scale, said = scaled([row["mean"] for row in rows], unit)
    places = _places(rows, x)
    for (colour, marker), line in zip(LINES, dict.fromkeys(row["line"] for row in rows), strict=False):
        mine = sorted(
            (row for row in rows if row["line"] == line and row["mean"] is not None),
            key=lambda r: places[r[x]],
        )
        at = [places[row[x]] for row in mine]
        mean, low, high = (
            np.array([np.nan if row[key] is None else row[key] for row in mine], dtype=float) / scale
            for key in ("mean", "t_low", "t_high")
        )
        text = figure(line) if line else None
        if joined:
            ax.plot(at, mean, color=colour, marker=marker, ms=3.5, label=text)
            ax.fill_between(at, low, high, color=colour, alpha=0.18, lw=0)
        else:
            half = np.nan_to_num(np.array([mean - low, high - mean]))
            ax.errorbar(
                at, mean, half, ls="none", marker=marker, ms=3, color=colour, elinewidth=0.8, label=text
            )
    _axis(ax, places)
    texts = {places[row[x]]: figure(str(row[written])) for row in rows}
    if len(texts) <= FEW:
        ax.set_xticks(list(texts), list(texts.values()))
        ax.set_xticks([], minor=True)
        label = key
    ax.set_xlabel(figure(label))
    ax.set_ylabel(f"{what}{said}")
    legend_above(ax, columns=3, numbered=False)
    heading(fig, f"{what.capitalize()}, mean with its 95% interval,  {figure(name)}")
    return Figure(fig, f"curves-{what.replace(' ', '-')}")


@styled
def heat_map(
    rows: Sequence[dict[str, Any]],
    x: str,
    y: str,
    what: str,
    unit: str,
    name: str,
    *,
    labels: tuple[str, str],
) -> Figure:
    """The mean at each pair of values of two keys, which stand in the order of the plan.

    rows: of one flow and measure, one for each pair: `x`, `y`, `mean`.  labels: of the axes.
    """
    fig, (ax,) = canvas(height=4.2)
    scale, said = scaled([row["mean"] for row in rows], unit)
    across, up = (
        {value: k for k, value in enumerate(dict.fromkeys(row[key] for row in rows))} for key in (x, y)
    )
    cells = np.full((len(up), len(across)), np.nan)
    for row in rows:
        if row["mean"] is not None:
            cells[up[row[y]], across[row[x]]] = row["mean"] / scale
    ax.grid(False)
    drawn = ax.imshow(cells, origin="lower", aspect="auto", cmap="cividis")
    fig.colorbar(drawn, ax=ax, label=f"{what}{said}")
    for axis, values in ((ax.xaxis, across), (ax.yaxis, up)):
        step = max(1, len(values) // 10)
        axis.set_ticks(range(0, len(values), step), [figure(str(value)) for value in values][::step])
    ax.set_xlabel(figure(labels[0]))
    ax.set_ylabel(figure(labels[1]))
    heading(fig, f"{what.capitalize()}, mean,  {figure(name)}")
    return Figure(fig, f"map-{what.replace(' ', '-')}")


def scaled(values: Sequence[float | None], unit: str) -> tuple[float, str]:
    """What to divide by, and the unit as an axis says it."""
    if unit == "bps":
        divisor, unit = scale_for(max((abs(v) for v in values if v is not None), default=1.0), unit)
        return divisor, f" ({unit})"
    return 1.0, f" ({unit})" if unit else ""


def _places(rows: Sequence[dict[str, Any]], x: str) -> dict[Any, float]:
    """Where values stand: numbers at themselves, texts one after the other."""
    values = dict.fromkeys(row[x] for row in rows)
    if all(isinstance(value, int | float) for value in values):
        return {value: float(value) for value in values}
    return {value: float(k) for k, value in enumerate(values)}


def _axis(ax: Any, places: dict[Any, float]) -> None:
    if any(isinstance(value, str) for value in places):
        ax.set_xticks(list(places.values()), [figure(str(value)) for value in places])
        return
    low, high = min(places.values(), default=0.0), max(places.values(), default=0.0)
    if low > 0 and high / low >= WIDE:
        ax.set_xscale("log")
