"""Where the time of a connection went: one bar for all of it."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from matplotlib.colors import to_rgb

from rexmit.figures.style import HUES, Figure, canvas, styled, title
from rexmit.screen.units import percent, plain_seconds
from rexmit.screen.words import cause_and_end, closed_sets, properties

#: A share that nobody can see in the bar is none to look for in its legend.
SMALL = 0.005
#: Causes of one colour are told apart by these, the first of each having none.
HATCHES = ("", "///", "...", "xxx", "---", "ooo")
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
def causes(flow: dict[str, Any]) -> Figure:
    """One stacked bar: the time of the connection by what its next byte waited for, the longest first.

    flow: one of the `flows` of an answer as JSON.
    """
    answer = flow["answer"] or {"causes": []}
    shares = sorted(answer["causes"], key=lambda c: -float(c["seconds"]))
    total = sum(float(c["seconds"]) for c in shares) or 1.0
    named = sum(float(c["seconds"]) >= SMALL * total for c in shares)
    fig, (ax,) = canvas(height=1.6 + 0.17 * -(-named // 2))
    in_words, hues = closed_sets()["answer_cause"], properties("answer_cause", "colour")
    left, seen = 0.0, dict.fromkeys(HUES, 0)
    for share in shares:
        length, hue = float(share["seconds"]), hues[share["cause"]]
        by = f" ({share['by']})" if share["by"] else ""
        words = f"{in_words[share['cause']]}{by}: {plain_seconds(length)}, {percent(length / total)}"
        bar = ax.barh(
            0,
            length,
            left=left,
            height=0.6,
            color=HUES[hue],
            hatch=HATCHES[seen[hue] % len(HATCHES)],
            edgecolor="white",
            linewidth=0.8,
            label=words if length >= SMALL * total else "_nolegend_",
        )
        bar[0].set_gid(f"cause-{cause_and_end(share)}")
        told = fitting(f"{share['cause']}\n{percent(length / total)}", length / total * fig.get_figwidth())
        # Letters on a hatch cannot be read.
        if told is not None and not HATCHES[seen[hue] % len(HATCHES)]:
            ink = "white" if is_dark(HUES[hue]) else "black"
            where = left + length / 2
            ax.text(where, 0, told, ha="center", va="center", fontsize=LETTER, color=ink, zorder=5)
        seen[hue] += 1
        left += length
    ax.set_xlim(0, total)
    ax.set_ylim(-0.5, 0.5)
    ax.set_yticks([])
    ax.grid(axis="y", visible=False)
    ax.set_xlabel("time of the connection (s), added up by cause")
    if shares:
        fig.legend(loc="outside lower center", ncols=2, fontsize=7)
    else:
        words = in_words["nothing"] if flow["answer"] else "no answer"
        ax.annotate(words, (0.5, 0.5), xycoords="axes fraction", ha="center", va="center")
    title(fig, "Where the time went", flow)
    return Figure(fig, "causes")
