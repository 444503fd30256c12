"""What limited a transfer: one bar for its whole time."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from matplotlib.colors import to_rgb

from rexmit.captured.limited import DETAILS, LIMITS, SMALL, by_limit
from rexmit.figures.style import LIMIT_COLOUR, Figure, canvas, styled, title
from rexmit.screen.units import percent, plain_seconds, rate

#: A letter of a label in the bar, points, and its width as a share of that: between a narrow and a wide one.
LETTER = 6.5
WIDE = 0.55
#: More lines than this are higher than the bar.
LINES = 4


def fitting(told: str, width_in: float) -> str | None:
    """A label in so many lines that it stands within `width_in` inches; None where it cannot."""
    letters = int(width_in * 72.0 / (LETTER * WIDE))
    lines = [
        part for line in told.splitlines() for part in wrap(line, max(letters, 1), break_long_words=False)
    ]
    fits = len(lines) <= LINES and max(map(len, lines)) <= letters
    return "\n".join(lines) if fits else None


def is_dark(colour: str) -> bool:
    """Whether white reads better on it than black: by its luminance (ITU-R BT.601)."""
    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5


@styled
def limits(flow: dict[str, Any]) -> Figure:
    """One stacked bar: the time of the transfer by what limited it, with the rate that it ran at.

    flow: one of the `flows` of an answer as JSON, with its `limited_by`.
    """
    fig, (ax,) = canvas(height=2.1)
    sums = by_limit(flow)
    total = sum(length for _, length, _ in sums) or 1.0
    left = 0.0
    for limit, length, parts in sums:
        words = f"{LIMITS[limit]}: {percent(length / total)}, {plain_seconds(length)}"
        # A share that nobody can see in the bar is none to look for in its legend.
        label = words if length >= SMALL * total else "_nolegend_"
        bar = ax.barh(0, length, left=left, height=0.6, color=LIMIT_COLOUR[limit], label=label)
        bar[0].set_gid(f"limit-{limit}")
        at = left
        for part in parts:
            wide = float(part["seconds"])
            if at > left:
                ax.plot([at, at], [-0.3, 0.3], color="white", linewidth=0.8, zorder=4)
            told = DETAILS[part["detail"]]
            if part["bps"] is not None:
                told += f"\n{rate(part['bps'])}"
            if (told_so := fitting(told, wide / total * fig.get_figwidth())) is not None:
                ink = "white" if is_dark(LIMIT_COLOUR[limit]) else "black"
                where = at + wide / 2
                ax.text(where, 0, told_so, ha="center", va="center", fontsize=LETTER, color=ink, zorder=5)
            at += wide
        left += length
    ax.set_xlim(0, total)
    ax.set_ylim(-0.5, 0.5)
    ax.set_yticks([])
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("time of the transfer (s), added up by what limited it")
    if sums:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.35), ncols=3, fontsize=7)
    title(fig, "What limited it", flow)
    return Figure(fig, "limits")
