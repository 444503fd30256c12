"""The paper's figures that no capture's figure answers: windows in a row, throughput against a setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

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
from rexmit_studies.ns3 import cases
from rexmit_studies.ns3.cases import Case, Numbers

SINCE = "time since the run began (s)"


@styled
def windows(cases: Mapping[str, Case], what: str, name: str) -> Figure:
    """The congestion window of several runs below each other, each on its own scale; crosses mark losses."""
    fig, axes = canvas(rows=len(cases), height=0.6 + 1.75 * len(cases))
    for ax, (label, case) in zip(axes, cases.items(), strict=True):
        time, cwnd = case.cwnd
        keep = thin.extremes(time, cwnd)
        ax.step(time[keep], cwnd[keep] / 1e3, where="post", color=BLACK, lw=0.9, label="cwnd", gid="cwnd")
        top = float(cwnd.max()) / 1e3
        for cause, colour, said in (("queue-full", RED, "queue full"), ("channel", ORANGE, "frame in error")):
            lost = case.drops["time"][case.drops.equals("cause", cause)]
            ax.plot(
                lost, np.full(len(lost), 1.08 * top), ls="none", marker="x", ms=3.5, color=colour, label=said
            )
        ax.set_ylim(0, 1.18 * top)
        ax.set_xlim(0.95, 10.05)
        ax.set_ylabel("cwnd (kB)")
        ax.set_title(label, fontsize=9, pad=3)
    _legend(fig, axes[0], what)
    axes[-1].set_xlabel(SINCE)
    return Figure(fig, name)


@styled
def against(
    setting: str,
    x: Sequence[float],
    paper: Sequence[float],
    ours: Sequence[float],
    name: str,
    spread: Numbers | None = None,
    lines: Mapping[str, tuple[Numbers, Numbers]] | None = None,
    log: bool = False,
    title: str = "Throughput",
) -> Figure:
    """Throughput against one setting, on a logarithmic axis: the paper's points, rexmit's, and where 95% of
    rexmit's own random runs lie.

    spread: a row for each x, a column for each seed.  lines: curves by label.
    """
    fig, (ax,) = canvas(rows=1, height=3.3)
    if spread is not None:
        low, mid, high = np.quantile(spread, [0.025, 0.5, 0.975], axis=1)
        ax.fill_between(x, low, high, color=SHADE, zorder=0.6, label=f"95% of {spread.shape[1]} seeds")
        ax.plot(x, mid, color="#b08a3e", lw=0.9, label="their median")
    styles = ("--", ":", "-.")
    for (label, (at, values)), style in zip((lines or {}).items(), styles, strict=False):
        ax.plot(at, values, color=GREY, ls=style, lw=1.1, label=label)
    ax.plot(x, ours, color=BLACK, lw=0.9, marker=".", ms=5, label=f"rexmit, {cases.lost()}")
    ax.plot(x, paper, ls="none", marker="o", ms=8, mfc="none", mec=RED, mew=1.3, label="paper")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(x)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: short(v)))
    if log:
        plain_log(ax.yaxis)
    else:
        ax.set_ylim(bottom=0)
    ax.set_xlabel(setting)
    ax.set_ylabel("throughput (2$^{20}$ bit/s)")
    legend_above(ax, columns=3)
    heading(fig, title)
    return Figure(fig, name)


@styled
def occupancy(cases: Mapping[str, Case], name: str) -> Figure:
    """How many packets wait, run below run."""
    fig, axes = canvas(rows=len(cases), height=0.6 + 1.6 * len(cases))
    for ax, (label, case) in zip(axes, cases.items(), strict=True):
        time, waiting = case.queue["time"], case.queue["packets"]
        keep = thin.extremes(time, waiting)
        ax.step(time[keep], waiting[keep], where="post", color=BLACK, lw=0.8, label="waiting")
        full = case.full["time"]
        ax.plot(full, np.full(len(full), 1.08 * waiting.max()), ls="none", marker="x", ms=3.5, color=RED,
                label="queue full")  # fmt: skip
        ax.set_ylim(0, 1.18 * waiting.max())
        ax.set_ylabel("packets")
        ax.set_title(f"{label}: at most {case.most_waiting}", fontsize=9, pad=3)
    axes[0].set_xlim(0.95, 10.05)
    axes[-1].set_xlabel(SINCE)
    _legend(fig, axes[0], "Queue occupancy")
    return Figure(fig, name)


@styled
def silence(case: Case, sends: Sequence[Mapping[str, Any]]) -> Figure:
    """Every segment that node 0 sends at error rate 1e-3, whether it arrived, and the timer behind it."""
    fig, (upper, lower) = canvas(rows=2, height=4.6, gridspec_kw={"height_ratios": (3, 2)})
    kinds = (
        ("new, arrived", False, True, "o", BLACK),
        ("new, in error", False, False, "x", BLACK),
        ("again, arrived", True, True, "D", BLUE),
        ("again, in error", True, False, "x", RED),
    )
    for label, again, arrived, marker, colour in kinds:
        chosen = [s for s in sends if s["again"] is again and s["arrived"] is arrived]
        at, seq = [s["at_s"] for s in chosen], [s["seq"] / 1e3 for s in chosen]
        upper.plot(at, seq, ls="none", marker=marker, ms=5, color=colour, label=label)
    time, number = case.acks
    upper.step(np.append(time, 10.0), np.append(number, number[-1]) / 1e3, where="post", color=GREEN, lw=0.9,
               label="ACK")  # fmt: skip
    upper.set_ylabel("sequence number (kB)")
    rows = case.state
    lower.step(np.append(rows["time"], 10.0), np.append(rows["rto_s"], rows["rto_s"][-1]), where="post",
               color=RED, lw=1.1, label="RTO with its back-off")  # fmt: skip
    lower.set_yscale("log", base=2)
    lower.yaxis.set_major_locator(FixedLocator([0.2, 0.4, 0.8, 1.6, 3.2, 6.4]))
    lower.yaxis.set_minor_locator(NullLocator())
    lower.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    lower.set_ylabel("RTO (s)")
    lower.set_xlabel(SINCE)
    for ax in (upper, lower):
        ax.axvspan(3, 8, color=SHADE, zorder=0.4)
    upper.annotate("the paper's silence", (5.5, 1), xycoords=("data", "axes fraction"), xytext=(0, -11),
                   textcoords="offset points", ha="center", fontsize=8, color="#6b4e16")  # fmt: skip
    upper.set_xlim(0.95, 10.05)
    legend_above(upper)
    heading(fig, "Node 0 at an error rate of 1e-3")
    return Figure(fig, "fig-silence")


@styled
def round_trips(answers: tuple[Numbers, Numbers], path: tuple[Numbers, Numbers]) -> Figure:
    """What a receiver's capture gives as RTT, beside that of the path: both on one logarithmic axis."""
    fig, (ax,) = canvas(rows=1, height=3.6)
    series = (
        ("from a segment's arrival to this host's own ACK (what the paper plots)", answers, BLACK),
        ("of the path, by echoed timestamps", path, BLUE),
    )
    for label, (time, length), colour in series:
        keep = thin.cells(time, np.log10(length))
        ax.plot(time[keep], length[keep] * 1e3, ls="none", marker=".", ms=1.8, color=colour, label=label)
    plain_log(ax.yaxis, (1.0,))
    ax.set_ylabel("milliseconds")
    ax.set_xlabel("time since the first packet of the capture (s)")
    legend_above(ax, columns=1)
    heading(fig, "Round-trip times at the receiver")
    return Figure(fig, "fig10-rtt")


def plain_log(axis: Any, at: Sequence[float] = (1.0, 2.0, 5.0)) -> None:
    """A logarithmic axis with plain numbers at these multiples of the powers of ten."""
    axis.axes.set_yscale("log") if axis.axis_name == "y" else axis.axes.set_xscale("log")
    axis.set_major_locator(LogLocator(10, at, numticks=20))
    axis.set_major_formatter(FuncFormatter(lambda v, _: short(v)))
    axis.set_minor_formatter(NullFormatter())


def short(value: float) -> str:
    """`0.01`, `100`, but `1e-3`."""
    return f"{value:g}" if value >= 0.002 else f"{value:.0e}".replace("e-0", "e-")


def heading(fig: Any, what: str) -> None:
    fig.suptitle(what, x=0.01, ha="left", fontsize=9.5, color="#333333")


def _legend(fig: Any, ax: Any, what: str) -> None:
    heading(fig, what)
    handles, labels = ax.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper right", ncols=len(labels), fontsize=8, frameon=False,
               borderaxespad=0.2)  # fmt: skip
