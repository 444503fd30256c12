"""The figure of a variation: the paper's figures against the axis, a panel for each kind."""

from __future__ import annotations

from math import ceil
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure as MplFigure
from matplotlib.ticker import FixedLocator, NullLocator

from rexmit.figures.style import BLACK, BLUE, BROWN, GREEN, GREY, ORANGE, PURPLE, RED, SKY, Figure, styled
from rexmit_studies import cells, vary_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from rexmit_studies.vary import Line, Variation
    from rexmit_studies.vary_cells import Kind

COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, BROWN, BLACK, GREY)
MARKERS = "osD^vPXhp"
#: More panels than this on one figure cannot be read; nor can more curves in one of them.
PANELS, CURVES = 8, len(COLOURS)
#: The height of a legend's row, points; characters in one, and those that a line and a gap take.
ROW_PT, WIDTH, HANDLE = 10, 88, 8
#: Values that differ by this much stand on a logarithmic axis.
WIDE = 8.0


def panels(found: Variation) -> list[tuple[Kind, list[Line]]]:
    """What each panel shows, those with most curves where there are too many."""
    made = [
        (kind, lines[k : k + CURVES])
        for kind, lines in vary_cells.curves(found).items()
        for k in range(0, len(lines), CURVES)
    ]
    kept = sorted(range(len(made)), key=lambda k: -len(made[k][1]))[:PANELS]
    return [made[k] for k in sorted(kept)]


def caption(found: Variation) -> str:
    """What is seen, and which figures are not."""
    shown = {line.first.key for _, lines in panels(found) for line in lines}
    left = [
        line.first.key
        for lines in vary_cells.curves(found).values()
        for line in lines
        if line.first.key not in shown
    ]
    said = f"The figures of the paper against {found.axis.name} ({found.axis.about})."
    said += " Bars: the 95% interval of the mean. Dashed: the paper's value."
    return said + (f" In the table only: {', '.join(map(cells.short, left))}." if left else "")


@styled
def draw(found: Variation) -> Figure:
    """Values against the axis. Raises ValueError if nothing makes a curve."""
    made = panels(found)
    if not made:
        raise ValueError(f"no figure of {found.study.name} makes a curve against {found.axis.name}")
    across = min(2, len(made))
    down = ceil(len(made) / across)
    fig = MplFigure(figsize=(4.2 * across if across > 1 else 6.0, 3.1 * down), layout="constrained")
    axes = fig.subplots(down, across, squeeze=False)
    for ax, (kind, lines) in zip(axes.flat, made, strict=False):
        rows = _panel(found, ax, lines)
        titles = [shorten(text, 58, placeholder=" …") for text in (kind.section, kind.definition)]
        # The legend stands between title and axes, where no curve is.
        ax.set_title("\n".join(titles), fontsize=8, pad=5 + ROW_PT * rows)
        ax.set_ylabel(kind.unit)
        ax.ticklabel_format(axis="y", style="plain", useOffset=False)
        unit = found.axis.unit or found.axis.counts
        ax.set_xlabel(f"{found.axis.name} ({unit})" if unit else found.axis.name)
    for ax in list(axes.flat)[len(made) :]:
        ax.set_axis_off()
    return Figure(fig, f"by_{found.axis.name}")


def _panel(found: Variation, ax: Axes, lines: Sequence[Line]) -> int:
    """One panel; how many rows its legend has."""
    places = _places(found)
    names = _names([line.first.key for line in lines])
    for line, name, colour, marker in zip(lines, names, COLOURS, MARKERS, strict=False):
        points = [
            (place, *point)
            for place, row in sorted(zip(places, line.rows, strict=True), key=lambda pair: pair[0])
            if (point := vary_cells.measured(row))
        ]
        at, values, halves = zip(*points, strict=True)
        bars: Any = {"color": colour, "marker": marker, "ms": 4, "capsize": 2, "elinewidth": 0.7}
        ax.errorbar(at, values, yerr=halves if any(halves) else None, label=name, **bars)
    if found.axis.names:
        ax.set_xticks(range(len(found.values)), [str(v) for v in found.values], rotation=20, ha="right")
    else:
        if min(places) > 0 and max(places) / min(places) >= WIDE:
            ax.set_xscale("log")
        ax.xaxis.set_major_locator(FixedLocator(sorted(places)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_xticks(sorted(places), [f"{place:g}" for place in sorted(places)])
        papers = found.axis.paper
        if not isinstance(papers, str) and min(places) <= papers <= max(places):
            ax.axvline(papers, color=GREY, lw=0.7, ls="--", zorder=0.5)
    across = max(1, min(len(lines), WIDTH // (HANDLE + max(map(len, names)))))
    ax.legend(
        fontsize=6.5, loc="lower left", bbox_to_anchor=(0, 1), ncols=across, borderaxespad=0.2, borderpad=0,
        columnspacing=1.0, handletextpad=0.4, labelspacing=0.3, frameon=False,
    )  # fmt: skip
    return ceil(len(lines) / across)


def _places(found: Variation) -> list[float]:
    """Where each value stands on the axis; names stand side by side."""
    if found.axis.names:
        return [float(k) for k in range(len(found.values))]
    return [float(value) for value in found.values]


def _names(keys: Sequence[str]) -> list[str]:
    """Keys without what they begin and end with in common."""
    parts = [key.split(".")[1:] for key in keys]
    while len(parts) > 1 and all(len(part) > 1 for part in parts) and len({part[0] for part in parts}) == 1:
        parts = [part[1:] for part in parts]
    while len(parts) > 1 and all(len(part) > 1 for part in parts) and len({part[-1] for part in parts}) == 1:
        parts = [part[:-1] for part in parts]
    if all(len(part) == 1 and part[0].replace("e-", "").isdigit() for part in parts):
        # A bare number says nothing: it stands as in the tables, `table1.2`.
        whole = [key.split(".")[1:] for key in keys]
        return [".".join(one[: one.index(part[0]) + 1]) for one, part in zip(whole, parts, strict=True)]
    return [" ".join(part).replace("_", " ") for part in parts]
