"""The packet exchange of one episode between two hosts, as arrows between two time lines."""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as MplFigure
from matplotlib.patches import Polygon

from rexmit.captured.ladder import Ladder, Step
from rexmit.figures.style import BLACK, CAUSE_STYLE, GREEN, GREY, ORANGE, RED, SKY, Figure, styled
from rexmit.screen.units import seconds

#: Where a lost packet's arrow ends, as a share of the way.
LOST_AT = 0.52
#: Least distance between two labels of one side, in lines.
LINE = 1.0
#: Sizes in inches: a line, the way between the hosts, a character of a 7-point label, the column of times.
PER_LINE, SHAFT, PER_CHARACTER, TIMES = 0.178, 2.6, 0.0575, 0.62
#: Packets of one instant are told apart by this much, s.
NUDGE = 1e-8
#: The slant of arrows where no round trip can be seen, s.
UNKNOWN_DELAY = 0.01


@styled
def ladder(exchange: Ladder) -> Figure:
    """Draws a ladder: data to the right, ACKs to the left, lost ones end in a cross, needless ones in a ring;
    folded runs are bands.

    The time axis is stretched where much happens and squeezed where nothing does; times stand at the left.
    The side that was not captured is drawn half of the smallest round trip away.
    """
    drawn = [_Drawn(step, exchange, i * NUDGE) for i, step in enumerate(exchange.steps)]
    silences = exchange.silences if exchange.observed == "sender" else ()
    place = _Scale(drawn, silences)
    left = TIMES + PER_CHARACTER * _longest(exchange, to_receiver=True)
    right = 0.15 + PER_CHARACTER * _longest(exchange, to_receiver=False)
    width, height = left + SHAFT + right, place.height * PER_LINE + 1.05
    fig = MplFigure(figsize=(width, height))
    ax = fig.add_axes((0.0, 0.0, 1.0, 1 - 0.75 / height))
    ax.set_axis_off()
    ax.set_xlim(-left / SHAFT, 1 + right / SHAFT)
    ax.set_ylim(place.height + 0.9, -0.8)
    for x, name in ((0.0, exchange.sender), (1.0, exchange.receiver)):
        ax.plot([x, x], [-0.7, place.height + 0.6], color=BLACK, lw=1.2, zorder=5)
        ax.annotate(name, (x, -0.8), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8.5)
    _labels(ax, [(item, _draw(ax, item, place)) for item in drawn], -left / SHAFT)
    for start, end in silences:
        # Within a band that sums up many steps a silence is no place of its own.
        inside = any(
            s.folded and s.to_receiver and s.first_s < end - 1e-9 and s.last_s > start + 1e-9
            for s in exchange.steps
        )
        if not inside:
            _silence(ax, start, end, place)
    fig.text(0.1 / width, 1 - 0.10 / height, _heading(exchange), va="top", fontsize=9.5, color="#333333")
    fig.text(0.1 / width, 1 - 0.30 / height, _caption(exchange), va="top", fontsize=7.5, color=GREY)
    return Figure(fig, f"ladder-{exchange.number}")


def _longest(exchange: Ladder, *, to_receiver: bool) -> int:
    return max([len(_words(s)) for s in exchange.steps if s.to_receiver == to_receiver] + [28])


def _words(step: Step) -> str:
    remark = step.remark()
    return f"{step.label()}  {remark}" if remark and step.to_receiver else step.label()


def _heading(exchange: Ladder) -> str:
    return f"Episode ({exchange.number}):  {exchange.headline}"


def _caption(exchange: Ladder) -> str:
    other = "receiver" if exchange.observed == "sender" else "sender"
    away = "slanted, its delay cannot be seen from here"
    if exchange.one_way_s is not None:
        away = f"{seconds(exchange.one_way_s)} away"
    return f"seconds since {exchange.since}, seen at the {exchange.observed}; the {other} is drawn {away}"


class _Drawn:
    """A step with the times of its four corners: first and last at the sender's line, and at the
    receiver's.
    """

    def __init__(self, step: Step, exchange: Ladder, nudge: float) -> None:
        self.step = step
        d = UNKNOWN_DELAY if exchange.one_way_s is None else exchange.one_way_s
        toward = step.to_receiver
        if exchange.observed == "sender":
            shift_left, shift_right = 0.0, d if toward else -d
        else:
            shift_left, shift_right = -d if toward else d, 0.0
        if step.kind == "hole":
            shift_left = shift_right = 0.0
        elif step.kind == "lost-acks":  # when they left, not when they came
            shift_left, shift_right = d, 0.0
        first, last = step.first_s + nudge, step.last_s + nudge
        self.left = (first + shift_left, last + shift_left)
        self.right = (first + shift_right, last + shift_right)

    @property
    def origin(self) -> tuple[float, float]:
        """First and last time at the side that sent it: where its label stands."""
        return self.left if self.step.to_receiver else self.right


class _Scale:
    """A monotone map from time to lines: a label takes one, a band two, a pause grows with its logarithm."""

    def __init__(self, drawn: Sequence[_Drawn], silences: Sequence[tuple[float, float]]) -> None:
        labels: dict[float, set[bool]] = {}
        bands: list[tuple[float, float]] = []
        times: set[float] = set()
        for item in drawn:
            times.update(item.left)
            times.update(item.right)
            first, last = item.origin
            labels.setdefault(first, set()).add(item.step.to_receiver)
            if item.step.folded:
                bands.append((first, last))
        knots = sorted(times)
        # A silence ends with the packet that breaks it, whose time carries its nudge.
        longest = {self._nearest(knots, end): self._nearest(knots, start) for start, end in silences}
        opened: dict[float, list[float]] = {}
        for first, last in bands:
            opened.setdefault(last, []).append(first)
        y: dict[float, float] = {}
        at = 0.0
        free = {True: 0.0, False: 0.0}
        previous = knots[0] if knots else 0.0
        for t in knots:
            dt = t - previous
            at += 0.05 + (0.55 * math.log10(1 + dt / 1e-3) if dt > 0 else 0.0)
            for side in labels.get(t, ()):
                at = max(at, free[side])
            if t in opened:
                at = max([at] + [y[first] + 1.1 for first in opened[t] if first in y and first < t])
            if t in longest and longest[t] in y:
                at = max(at, y[longest[t]] + 2.6)
            y[t] = at
            for side in labels.get(t, ()):
                free[side] = at + LINE
            previous = t
        self._t = np.array(knots)
        self._y = np.array([y[t] for t in knots])
        self.height = max(at, *free.values()) if knots else 1.0

    @staticmethod
    def _nearest(knots: list[float], t: float) -> float:
        i = bisect.bisect_left(knots, t)
        return min(knots[max(0, i - 1) : i + 1], key=lambda k: abs(k - t))

    def __call__(self, t: float) -> float:
        return float(np.interp(t, self._t, self._y))


def _colour(step: Step) -> str:
    if step.kind == "repair":
        return CAUSE_STYLE.get(step.cause or "unknown", (GREY, ""))[0]
    if step.lost:
        return RED
    return {
        "ack": GREEN,
        "partial": GREEN,
        "duplicate": SKY,
        "dsack": ORANGE,
        "hole": RED,
        "mixed": GREY,
        "control": GREY,
    }.get(step.kind, BLACK)


def _draw(ax: Axes, item: _Drawn, place: _Scale) -> float:
    """Draws one step; returns where its label belongs."""
    step, colour = item.step, _colour(item.step)
    left, right = [place(t) for t in item.left], [place(t) for t in item.right]
    reach = LOST_AT if step.lost else 1.0
    if step.kind == "hole":
        reach = LOST_AT
    # From the side that sent it, as far as it came.
    away, reach = (0.0, reach) if step.to_receiver else (1.0, 1.0 - reach)
    leaves = left if step.to_receiver else right
    ends = [a + (b - a) * reach for a, b in zip(left, right, strict=True)]
    if step.folded:
        # A hole is known at one instant only: a flat wedge.
        thick = 0.35 if left[1] - left[0] < 0.35 else 0.0
        corners = [
            (away, leaves[0]),
            (reach, ends[0]),
            (reach, ends[1] + thick),
            (away, leaves[1] + thick),
        ]
        # ACKs lie behind, lighter: where both directions are busy their bands cross.
        fill, z = (0.32, 3) if step.to_receiver else (0.14, 2)
        ax.add_patch(Polygon(corners, closed=True, facecolor=colour, alpha=fill, lw=0, zorder=z, gid="band"))
        for at, reached in ((leaves[0], ends[0]), (leaves[1] + thick, ends[1] + thick)):
            ax.plot([away, reach], [at, reached], color=colour, lw=0.7, alpha=0.8, zorder=z)
        middle = ((left[0] + left[1] + thick) / 2, (right[0] + right[1] + thick) / 2)
    else:
        ax.annotate(
            "",
            xy=(reach, ends[0]),
            xytext=(away, leaves[0]),
            arrowprops={
                "arrowstyle": "-" if step.lost else "-|>,head_width=0.14,head_length=0.32",
                "color": colour,
                "lw": 0.9,
                "shrinkA": 0,
                "shrinkB": 0,
            },
            zorder=4,
        )
        middle = (left[0], right[0])
    if step.lost:
        ys = (
            np.linspace(ends[0], ends[1], 3)
            if step.folded and ends[1] - ends[0] > 1
            else np.array([sum(ends) / 2])
        )
        ax.plot(np.full(len(ys), reach), ys, "x", ms=5, mew=1.3, color=RED, zorder=5, gid="lost")
    elif step.needless:
        at = sum(ends) / 2
        ax.plot([reach], [at], "o", ms=5, mew=1.1, mfc="white", color=colour, zorder=6, gid="needless")
    return middle[0] if step.to_receiver else middle[1]


def _labels(ax: Axes, items: Sequence[tuple[_Drawn, float]], edge: float) -> None:
    """Labels of both sides, each at its arrow or as near below as the one above it leaves room."""
    free = {True: -LINE, False: -LINE}
    for item, wanted in sorted(items, key=lambda pair: pair[1]):
        step = item.step
        y = max(wanted, free[step.to_receiver])
        free[step.to_receiver] = y + LINE * 0.92
        words = _words(step)
        if not step.to_receiver:
            ax.text(1.03, y, words, ha="left", va="center", fontsize=7, color=BLACK, gid="label")
            continue
        ink = _colour(step) if step.kind == "repair" or step.lost else BLACK
        ax.text(-0.03, y, words, ha="right", va="center", fontsize=7, color=ink, gid="label")
        ax.text(edge + 0.04, y, f"{step.first_s:.4f}", ha="left", va="center", fontsize=6.5, color=GREY)


def _silence(ax: Axes, start: float, end: float, place: _Scale) -> None:
    top, bottom = place(start) + 0.35, place(end) - 0.35
    ax.annotate(
        "",
        xy=(-0.04, bottom),
        xytext=(-0.04, top),
        arrowprops={"arrowstyle": "<->,head_width=0.12,head_length=0.25", "color": GREY, "lw": 0.7},
    )
    ax.text(
        -0.06,
        (top + bottom) / 2,
        f"no data sent for {seconds(end - start)}",
        ha="right",
        va="center",
        fontsize=7,
        style="italic",
        color=GREY,
        gid="silence",
    )
