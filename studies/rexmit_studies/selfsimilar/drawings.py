"""The paper's Figs. 4 to 7, and what Hurst parameters are read from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rexmit.figures import thin
from rexmit.figures.scaling import heading
from rexmit.figures.style import BLACK, BLUE, GREEN, GREY, ORANGE, RED, Figure, canvas, legend_above, styled
from rexmit_studies import own
from rexmit_studies.selfsimilar.runs import RUN_S, SOURCES, VARIANTS, Numbers, labels, offered

if TYPE_CHECKING:
    from rexmit_studies.selfsimilar.windows import Shown

COLOURS = dict(zip(VARIANTS, (RED, BLACK, GREEN, BLUE), strict=True))
SINCE = "time since the run began (s)"
#: H beyond these is drawn at the edge.
LIMITS = (0.3, 1.3)
#: The round trip, s.
ROUND_TRIP_S = 0.0744


@styled
def throughput(each: Numbers) -> Figure:
    """each: Mbps by variant, seed and second."""
    fig, axes = canvas(rows=len(VARIANTS), height=0.7 + 1.35 * len(VARIANTS), sharey=True)
    seconds = np.arange(each.shape[2] + 1.0)
    for ax, (variant, name), rates in zip(axes, labels().items(), each, strict=True):
        low, high = np.quantile(rates, [0.025, 0.975], axis=0)
        ax.stairs(high, seconds, baseline=low, fill=True, color=COLOURS[variant], alpha=0.2, lw=0)
        ax.stairs(rates[0], seconds, baseline=None, color=COLOURS[variant], lw=1.0)
        mean = np.cumsum(rates[0]) / seconds[1:]
        ax.plot(seconds[1:], mean, color=GREY, lw=1.0, ls="--")
        ax.set_title(name, fontsize=9, pad=3)
        ax.set_ylabel("Mbps")
        ax.set_xlim(0, seconds[-1])
    axes[0].set_ylim(bottom=0)
    axes[-1].set_xlabel(SINCE)
    heading(fig, "Throughput per second (dashed: mean so far)")
    return Figure(fig, "fig4-throughput")


@styled
def windows(shown: Mapping[str, Shown]) -> Figure:
    fig, axes = canvas(rows=len(shown), height=0.7 + 1.35 * len(shown))
    for ax, (variant, s) in zip(axes, shown.items(), strict=True):
        keep = thin.extremes(s.time, s.cwnd)
        ax.step(s.time[keep], s.cwnd[keep], where="post", color=COLOURS[variant], lw=0.9)
        ax.axhline(offered() / RUN_S * ROUND_TRIP_S, color=GREY, ls="--", lw=0.8)
        ax.set_ylim(bottom=0)
        ax.set_xlim(0, 100)
        ax.set_ylabel("packets")
        ax.set_title(labels()[variant], fontsize=9, pad=3)
    axes[-1].set_xlabel(SINCE)
    heading(fig, "Congestion window (dashed: what the source needs)")
    return Figure(fig, "fig5-cwnd")


@styled
def round_trips(shown: Mapping[str, Shown]) -> Figure:
    fig, axes = canvas(rows=len(shown), height=0.7 + 1.2 * len(shown), sharey=True)
    for ax, (variant, s) in zip(axes, shown.items(), strict=True):
        there = np.isfinite(s.rtt)
        time, rtt = s.time[there], s.rtt[there] * 1e3
        keep = thin.extremes(time, rtt)
        ax.plot(time[keep], rtt[keep], color=COLOURS[variant], lw=0.8)
        ax.set_xlim(0, 100)
        ax.set_ylabel("RTT (ms)")
        ax.set_title(labels()[variant], fontsize=9, pad=3)
    axes[0].set_ylim(bottom=0)
    axes[-1].set_xlabel(SINCE)
    heading(fig, "Round-trip time")
    return Figure(fig, "fig6-rtt")


@styled
def retransmissions(shown: Mapping[str, Shown]) -> Figure:
    fig, (ax,) = canvas(rows=1, height=2.4)
    for k, (variant, s) in enumerate(shown.items()):
        at = len(shown) - 1 - k
        ax.plot(
            s.resent,
            np.full(len(s.resent), at),
            ls="none",
            marker="|",
            ms=12,
            mew=0.8,
            color=COLOURS[variant],
        )
        ax.annotate(
            f"{len(s.resent)}", (100, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8,
            annotation_clip=False,
        )  # fmt: skip
    ax.set_yticks(range(len(shown)), [labels()[v] for v in reversed(list(shown))])
    ax.set_ylim(-0.6, len(shown) - 0.4)
    ax.set_xlim(0, 100)
    ax.grid(axis="y", visible=False)
    ax.set_xlabel(SINCE)
    heading(fig, "Packets sent again, and how many")
    return Figure(fig, "fig7-retransmissions")


@styled
def arrivals(background: Numbers, flows: Numbers, alone: Numbers) -> Figure:
    """Bytes per 100 ms of the background, of the four flows, and of NewReno alone."""
    panels = [(f"background, {own.value('sources', SOURCES)} sources", background, GREY)]
    panels += [
        (f"{name} beside it", x, COLOURS[v]) for (v, name), x in zip(labels().items(), flows, strict=True)
    ]
    panels.append((f"{labels()['newreno']} with nobody beside it", alone, BLACK))
    fig, axes = canvas(rows=len(panels), height=0.7 + 1.05 * len(panels))
    for ax, (name, x, colour) in zip(axes, panels, strict=True):
        ax.stairs(x / 1e3, np.arange(len(x) + 1) * 0.1, fill=True, color=colour, lw=0)
        ax.set_xlim(0, 0.1 * len(x))
        ax.set_ylim(bottom=0)
        ax.set_ylabel("kB")
        ax.set_title(name, fontsize=9, pad=3)
    axes[-1].set_xlabel(SINCE)
    heading(fig, "Bytes per 100 ms, seed 1")
    return Figure(fig, "arrivals")


@styled
def hurst(found: Mapping[str, tuple[Numbers, Numbers, Numbers]]) -> Figure:
    """Of each estimator: H of the background (seeds), of the flows (variants, seeds), of the flows alone."""
    from rexmit_studies import paper

    printed = paper.figures("selfsimilar")
    fig, (ax,) = canvas(rows=1, height=4.2)
    columns = ["background", *VARIANTS]
    group = len(columns) + 1.5
    for m, (background, flows, alone) in enumerate(found.values()):
        for k, column in enumerate(columns):
            values = background if k == 0 else flows[k - 1]
            x = m * group + k
            colour = COLOURS.get(column, GREY)
            spread = x + 0.3 * np.linspace(-1, 1, len(values))
            label = labels().get(column, column) if m == 0 else None
            ax.plot(
                spread, np.clip(values, *LIMITS), ls="none", marker=".", ms=2.5, color=colour, label=label
            )
            if k:
                said = "alone" if m == 0 and k == len(columns) - 1 else None
                at = np.clip(alone[k - 1, 0], *LIMITS)
                ax.plot(x, at, ls="none", marker="x", ms=6, mew=1.4, color=ORANGE, zorder=5, label=said)
                value = float(printed[f"selfsimilar.table2.{column}.hurst"])  # type: ignore[arg-type]
                ax.plot([x - 0.45, x + 0.45], [value, value], color=colour, lw=1.0, alpha=0.6)
    ax.axhspan(1.0, 2.0, color="#f3f3f3", zorder=0.4)
    ax.set_ylim(LIMITS[0] - 0.02, LIMITS[1] + 0.02)
    middles = [m * group + (len(columns) - 1) / 2 for m in range(len(found))]
    ax.set_xticks(middles, [name.replace(", ", ",\n") for name in found])
    ax.grid(axis="x", visible=False)
    ax.set_ylabel("H (grey: not stationary)")
    legend_above(ax)
    heading(fig, "Hurst parameter by estimator")
    return Figure(fig, "hurst")
