"""The figures that no capture's own figure answers: kinds over phases, what decides them, OS X's switch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter

from rexmit.figures import thin
from rexmit.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    SHADE,
    Figure,
    canvas,
    legend_above,
    styled,
)
from rexmit_studies.interruption import setups
from rexmit_studies.interruption.osx import Repair
from rexmit_studies.interruption.phases import Transfer, met
from rexmit_studies.interruption.sections import IN_WORDS
from rexmit_studies.interruption.traces import Trace

KIND_STYLE = {"without": (BLUE, "o"), "with": (ORANGE, "s"), "intermittent": (RED, "D")}
KINDS = tuple(KIND_STYLE)


@styled
def windows(traces: Mapping[str, Trace], paper: Mapping[str, int], name: str) -> Figure:
    """Fig. 7: the window that the server advertises, one panel a sender; dashed where the paper's ends."""
    fig, axes = canvas(rows=len(traces), height=0.9 + 1.6 * len(traces))
    for ax, (label, trace) in zip(axes, traces.items(), strict=True):
        rows = trace.packets
        acks = ~rows["data"] & (rows["ack"] > 1)
        order = np.argsort(rows["time"][acks], kind="stable")
        time, window = rows["time"][acks][order], rows["window_bytes"][acks][order]
        keep = thin.extremes(time, window)
        ax.step(
            time[keep], window[keep] / 1e3, where="post", color=BLACK, lw=1.0, label="rexmit", gid="window"
        )
        ax.axhline(paper[label] / 1e3, color=RED, lw=1.0, ls="--", label="where the paper's ends")
        ax.set_ylim(0, 1.15 * max(float(window.max()), paper[label]) / 1e3)
        ax.set_ylabel("window (kB)")
        ax.set_title(f"{label}: {int(window.max()):,} bytes at most", fontsize=9, pad=3)
    axes[-1].set_xlabel("time since the SYN (s)")
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper right", ncols=2, fontsize=8, frameon=False)
    heading(fig, "Advertised window")
    return Figure(fig, name)


@styled
def over_phases(found: Mapping[str, Sequence[Transfer]], name: str) -> Figure:
    """Every section of every transfer: when its outage came, and of which kind it is."""
    fig, axes = canvas(rows=len(found), height=0.8 + 0.85 * len(found))
    sections = [s for transfers in found.values() for _, s in met(transfers)]
    # The paper's transfers end within 25 s; OS X's take longer.
    last = max([25.0, *(s.back_s for name, of in found.items() if name != "osx" for _, s in met(of))])
    most = max((s.lost for s in sections if s.back_s - setups.outage() <= last), default=100)
    for ax, (system, transfers) in zip(axes, found.items(), strict=True):
        every = met(transfers)
        for kind, (colour, marker) in KIND_STYLE.items():
            at = [s.back_s - setups.outage() for _, s in every if s.kind == kind]
            lost = [s.lost for _, s in every if s.kind == kind]
            ax.plot(at, lost, ls="none", marker=marker, ms=2.8, mew=0, color=colour, label=IN_WORDS[kind])
        ax.set_ylim(0, 1.08 * most)
        ax.locator_params(axis="y", nbins=3)
        ax.set_xlim(-0.012 * last, last)
        ax.set_title(setups.title(system), fontsize=8.5, pad=2)
    axes[len(axes) // 2].set_ylabel("lost segments")
    axes[-1].set_xlabel("when the interruption begins (s since the SYN)")
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(
        handles, labels, loc="outside upper right", ncols=3, fontsize=8, frameon=False, markerscale=1.8
    )
    heading(fig, "Sections over all phases")
    return Figure(fig, name)


@styled
def what_decides(found: Mapping[str, Sequence[Transfer]], name: str) -> Figure:
    """How long the repair was in coming, against what was under way, in interruptions' worth of the air."""
    fig, (ax,) = canvas(rows=1, height=3.6)
    pairs = [pair for transfers in found.values() for pair in met(transfers)]
    for kind, (colour, marker) in KIND_STYLE.items():
        mine = [(t, s) for t, s in pairs if s.kind == kind]
        x = [s.flight_bytes / setups.outage_bytes(t.mbps) for t, s in mine]
        y = [1e3 * max(s.lag_s, 1e-4) for _, s in mine]
        ax.plot(x, y, ls="none", marker=marker, ms=3, mew=0, alpha=0.7, color=colour, label=IN_WORDS[kind])
    ax.axvline(1.0, color=GREY, lw=1.0, ls="--")
    ratios = [s.flight_bytes / setups.outage_bytes(t.mbps) for t, s in pairs if s.flight_bytes]
    low, high = min([0.06, *(0.9 * x for x in ratios)]), max([8.0, *(1.1 * x for x in ratios)])
    ax.axvspan(low / 2, 1.0, color=SHADE, zorder=0.3)
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    lags = [1e3 * s.lag_s for _, s in pairs]
    ax.set_ylim(0, max(20.0, 1.08 * max(lags, default=0.0)))
    ax.set_xticks([at for at in (0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low <= at <= high])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.set_xlabel(f"in flight when the repair begins / what the air carries in {1e3 * setups.outage():g} ms")
    ax.set_ylabel("from the link's return\nto the first repair (ms)")
    legend_above(ax, columns=3)
    heading(fig, "What decides whether there is a time lag")
    return Figure(fig, name)


@styled
def osx_switch(found: Mapping[str, Sequence[Repair]], name: str) -> Figure:
    """Timeouts and length of a repair against the round trip after the outage / SRTT."""
    fig, (upper, lower) = canvas(rows=2, height=4.6)
    styles = {"osx-10.7": (RED, "D"), "osx-10.9": (GREEN, "^"), "linux-2.6-reno": (BLUE, "o")}
    titles = {"osx-10.7": "OS X 10.7", "osx-10.9": "OS X 10.9", "linux-2.6-reno": "Linux 2.6, Reno"}
    for system, repairs in found.items():
        colour, marker = styles[system]
        ratio = [r.ratio for r in repairs]
        for ax, values in (
            (upper, [r.section.timeouts for r in repairs]),
            (lower, [r.section.length_s for r in repairs]),
        ):
            ax.plot(ratio, values, ls="none", marker=marker, ms=4, color=colour, mew=0, alpha=0.8,
                    label=titles[system])  # fmt: skip
    for ax in (upper, lower):
        ax.axvline(1.0, color=GREY, lw=1.0, ls="--")
        ax.set_ylim(bottom=0)
    upper.set_ylabel("timeouts")
    lower.set_ylabel("length of the repair (s)")
    lower.set_xlabel("first round trip after the interruption / SRTT before it")
    legend_above(upper)
    heading(fig, "OS X 10.7: one segment a timeout, or all of them behind one")
    return Figure(fig, name)


def heading(fig: Any, what: str) -> None:
    fig.suptitle(what, x=0.01, ha="left", fontsize=9.5, color="#333333")
