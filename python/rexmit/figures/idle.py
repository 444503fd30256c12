"""When nothing was sent, for how long, and why."""

from __future__ import annotations

from typing import Any

from rexmit.figures.style import IDLE_COLOUR, Figure, canvas, shade_episodes, styled, title
from rexmit.frame import Frame
from rexmit.screen.units import count, seconds
from rexmit.screen.words import IDLE_IN_WORDS


@styled
def idle_gaps(idle: Frame, episodes: list[dict[str, Any]], flow: dict[str, Any]) -> Figure:
    """Idle gaps on one lane for each cause, with the length of the longest and the sum of each lane.

    idle: the flow's `idle` rows, times in s since the capture's first packet.
    """
    causes = [c for c in IDLE_IN_WORDS if idle.equals("cause", c).any()] if len(idle) else []
    fig, (ax,) = canvas(height=1.5 + 0.48 * max(1, len(causes)))
    begin, finish = float(flow["start"]), float(flow["end"])
    duration = (finish - begin) or 1.0
    ax.set_xlim(begin - 0.01 * duration, finish + 0.01 * duration)
    for lane, cause in enumerate(causes):
        mask = idle.equals("cause", cause)
        start, end = idle["start"][mask], idle["end"][mask]
        length = end - start
        ax.broken_barh(
            list(zip(start, length.clip(min=duration / 700), strict=True)),
            (lane - 0.32, 0.64),
            facecolor=IDLE_COLOUR[cause],
            edgecolor="white",
            linewidth=0.3,
            gid=f"idle-{cause}",
            zorder=3,
        )
        taken: list[float] = []
        for i in length.argsort()[::-1][:8]:
            at = float(start[i] + end[i]) / 2
            if any(abs(at - other) < duration / 13 for other in taken):
                continue
            taken.append(at)
            ax.annotate(
                seconds(float(length[i])),
                (at, lane - 0.34),
                xytext=(0, 1),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=7,
                color="#333333",
                zorder=5,
            )
        ax.annotate(
            f"{count(len(start), 'gap')}, {seconds(float(length.sum()))}",
            (1.005, lane),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            annotation_clip=False,
        )
    ax.set_yticks(range(len(causes)), [IDLE_IN_WORDS[c] for c in causes])
    ax.set_ylim(max(1, len(causes)) - 0.4, -0.85)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(f"time since {idle.since} (s)")
    if not causes:
        ax.annotate(
            "never idle for longer than the threshold", (0.5, 0.5), xycoords="axes fraction", ha="center"
        )
    shade_episodes(ax, episodes, finish)
    title(fig, "Idle gaps by cause", flow)
    return Figure(fig, "idle")
