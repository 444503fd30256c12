"""One style for every figure: colours that the colour-blind tell apart, thin axes, text a journal can
print.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from math import ceil
from pathlib import Path
from typing import Any, ParamSpec

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure as MplFigure

from rexmit.screen.units import seconds
from rexmit.screen.words import properties

# Okabe and Ito's palette; black and grey carry what is ordinary, colour what went wrong.
BLACK, GREY, LIGHT = "#222222", "#8a8a8a", "#d9d9d9"
BLUE, SKY, GREEN, ORANGE, RED, PURPLE, YELLOW = (
    "#0072B2",
    "#56B4E9",
    "#009E73",
    "#E69F00",
    "#D55E00",
    "#CC79A7",
    "#F0E442",
)
BROWN = "#8f3b00"
PALE = "#a6d5f2"
#: Neighbouring episodes take turns.
SHADE = "#f6ecd8"
SHADES = (SHADE, "#ecdcb9")
DARK = "#9aa5b1"

#: The colours of closed sets (`Hue` in crates/analysis/src/closed_set.rs), as they are printed.
HUES: dict[str, str] = {
    "black": BLACK,
    "grey": GREY,
    "blue": BLUE,
    "sky": SKY,
    "green": GREEN,
    "orange": ORANGE,
    "red": RED,
    "brown": BROWN,
    "purple": PURPLE,
    "yellow": YELLOW,
}
#: Their markers (`Marker` there), as matplotlib has them.
MARKERS: dict[str, str] = {
    "circle": "o",
    "diamond": "D",
    "square": "s",
    "up": "^",
    "down": "v",
    "plus": "P",
    "hexagon": "h",
}
#: Colour and marker by cause, so that a print without colour still tells them apart.
CAUSE_STYLE: dict[str, tuple[str, str]] = {
    cause: (HUES[colour], MARKERS[properties("cause", "marker")[cause]])
    for cause, colour in properties("cause", "colour").items()
}
IDLE_COLOUR: dict[str, str] = {
    reason: HUES[hue] for reason, hue in properties("idle_cause", "colour").items()
}

RC: Any = {
    "figure.dpi": 150,
    "savefig.dpi": 200,
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#444444",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.5,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "path.simplify": True,
    "agg.path.chunksize": 20_000,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "rexmit",  # the same figure gives the same bytes
}

P = ParamSpec("P")


class Figure:
    """A finished figure.

    fig: the matplotlib figure, for whoever wants to change it.
    """

    def __init__(self, fig: MplFigure, name: str) -> None:
        self.fig = fig
        self.name = name

    def save(self, path: str | Path, dpi: float | None = None) -> Path:
        """Writes PNG, SVG or PDF, by the ending of `path`. Raises ValueError for another ending."""
        path = Path(path)
        form = path.suffix.lstrip(".").lower()
        if form not in ("png", "svg", "pdf"):
            raise ValueError(f"{path}: a figure ends in .png, .svg or .pdf")
        stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
        with mpl.rc_context(RC):
            self.fig.savefig(path, dpi=dpi or RC["savefig.dpi"], metadata=stamp)
        return path

    def show(self) -> None:
        """Shows the figure in a window, or in the notebook. Raises RuntimeError where there is no display."""
        # A notebook has IPython loaded already; nobody else needs it.
        shell = sys.modules.get("IPython")
        if shell is not None and shell.get_ipython() is not None:
            shell.display.display(self)
            return
        import matplotlib.pyplot as plt
        from matplotlib import _pylab_helpers

        if mpl.get_backend().lower() in ("agg", "pdf", "svg", "ps", "cairo", "template"):
            raise RuntimeError(f"no display here: save the figure instead, .save('{self.name}.png')")
        backend: Any = plt
        number = max(plt.get_fignums(), default=0) + 1
        manager = backend._get_backend_mod().FigureCanvas.new_manager(self.fig, number)
        helpers: Any = _pylab_helpers.Gcf
        helpers._set_new_active_manager(manager)
        plt.show()

    def _repr_png_(self) -> bytes:
        from io import BytesIO

        buffer = BytesIO()
        with mpl.rc_context(RC):
            self.fig.savefig(buffer, format="png", dpi=RC["figure.dpi"])
        return buffer.getvalue()

    def __repr__(self) -> str:
        return f"<rexmit figure {self.name!r}: .save(path) or .show()>"


def styled(function: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draws within rexmit's style and leaves the caller's matplotlib settings as they were."""

    @functools.wraps(function)
    def draw(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with mpl.rc_context(RC):
            return function(*args, **kwargs)

    return draw


def canvas(
    rows: int = 1, height: float = 4.2, width: float = 7.4, **kwargs: Any
) -> tuple[MplFigure, list[Axes]]:
    """A figure with `rows` panels over one time axis. Sizes in inches."""
    fig = MplFigure(figsize=(width, height), layout="constrained")
    axes = fig.subplots(rows, 1, sharex=kwargs.pop("sharex", True), squeeze=False, **kwargs)
    return fig, list(axes[:, 0])


def scale_for(largest: float, unit: str) -> tuple[float, str]:
    """Divisor and unit so that an axis shows small figures: bytes as kB or MB, bits per second as Mbps."""
    for prefix, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(largest) >= size:
            return size, prefix + unit
    return 1.0, unit


def shade_episodes(ax: Axes, episodes: Sequence[dict[str, Any]], until: float, most_numbers: int = 14) -> int:
    """Shades each episode from its start to its end and numbers them as paper `interruption` does: (1), (2),
    …

    until: where an episode without an end stops, s.  Numbers that would overlap give way to costlier
    episodes'. Returns how many episodes lie in view.
    """
    low, high = ax.get_xlim()
    seen = []
    for row in episodes:
        start = float(row["start"])
        end = until if row.get("end") is None else float(row["end"])
        if end >= low and start <= high:
            seen.append((max(start, low), min(max(end, start), high), row))
    if not seen:
        return 0
    # A hair's breadth at least, or a short episode vanishes on a long axis.
    hair = (high - low) / 600
    boxes = [[(a, 0), (max(b, a + hair), 0), (max(b, a + hair), 1), (a, 1)] for a, b, _ in seen]
    shade = PolyCollection(
        boxes,
        transform=ax.get_xaxis_transform(),
        facecolor=[SHADES[int(row["number"]) % 2] for _, _, row in seen],
        edgecolor="none",
        zorder=0.5,
        gid="episodes",
    )
    ax.add_collection(shade, autolim=False)
    placed: list[float] = []
    for start, end, row in sorted(seen, key=lambda s: -(s[2].get("cost_s") or s[1] - s[0])):
        at = (start + end) / 2
        if len(placed) < most_numbers and all(abs(at - other) > (high - low) / 28 for other in placed):
            placed.append(at)
            ax.annotate(
                f"({int(row['number']) + 1})",
                (at, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=8,
                color="#6b4e16",
                annotation_clip=False,
                gid="episode-number",
            )
    return len(seen)


def mark_outages(ax: Axes, outages: dict[str, Any] | None) -> int:
    """Bands where nothing came through; returns how many lie in view.

    Hatched from when an outage had begun for sure until when it was not over for sure, pale where either is
    not known more closely. Where a queue of seconds leaves both open it is the outage as the page has it:
    from when the first copy that it took was sent, for its length.

    outages: `outages` of a flow (docs/json.md), times in s as on the axis; None: none was found.
    """
    low, high = ax.get_xlim()
    seen = 0
    for dark, doubt in _bands(outages or {}, high, (high - low) / 400):
        if max(dark[1], doubt[1]) < low or min(dark[0], doubt[0]) > high:
            continue
        seen += 1
        ax.axvspan(max(doubt[0], low), min(doubt[1], high), color=DARK, alpha=0.18, lw=0, zorder=0.7)
        hatched: dict[str, Any] = {"facecolor": "none", "edgecolor": DARK, "hatch": "////", "gid": "outage"}
        ax.axvspan(max(dark[0], low), min(dark[1], high), lw=0, zorder=0.8, **hatched)
    if seen:
        period = (outages or {}).get("period_s")
        label = f"outage, every {seconds(float(period))}" if period else "outage"
        ax.fill_between([], [], [], facecolor="none", edgecolor=DARK, hatch="////", lw=0, label=label)
    return seen


Span = tuple[float, float]


def _bands(outages: dict[str, Any], until: float, hair: float) -> Iterator[tuple[Span, Span]]:
    """For each outage: from when to when it was dark for sure, and may have been."""
    for each, start in zip(outages.get("each") or (), outages.get("starts_s") or (), strict=False):
        doubt = float(each["begin_earliest_s"]), _or(each["end_latest_s"], until)
        dark = float(each["begin_latest_s"]), _or(each["end_earliest_s"], until)
        if dark[0] < dark[1]:
            yield dark, doubt
        else:
            told = float(start), float(start) + max(hair, float(outages.get("length_s") or 0.0))
            yield told, told


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else float(value)


def legend_above(ax: Axes, columns: int = 6, numbered: bool = True) -> None:
    """A legend above the axes, outside the data: lines of at most `columns`, about as long as each other.

    numbered: the episodes' numbers stand between.
    """
    _, labels = ax.get_legend_handles_labels()
    if labels:
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            borderpad=0,
            ncols=ceil(len(labels) / ceil(len(labels) / columns)),
            borderaxespad=1.6 if numbered else 0.3,
            markerscale=1.6,
            handletextpad=0.4,
            columnspacing=1.2,
        )


def title(fig: MplFigure, what: str, flow: dict[str, Any]) -> None:
    """`Time and sequence, 10.8.0.2:41822 → 10.8.0.9:21, seen at the sender`."""
    where = {"sender": "seen at the sender", "receiver": "seen at the receiver", "middle": "seen on the way"}
    words = [what, f"{flow['sender']} → {flow['receiver']}"]
    seen = where.get(str(flow.get("vantage")))
    if seen:
        words.append(seen)
    fig.suptitle(",  ".join(words), x=0.01, ha="left", fontsize=9.5, color="#333333")
