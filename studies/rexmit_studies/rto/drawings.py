"""The figures of study `rto`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import NullLocator

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
    styled,
)
from rexmit_studies.rto import gaps
from rexmit_studies.rto.channel import beyond
from rexmit_studies.rto.measured import Sample, of_papers_stack, others, reread, tests
from rexmit_studies.rto.setting import (
    CURED,
    LOSSY,
    PAPERS,
    POOR,
    SAFE,
    SEGMENTS,
    SHORTEST_GAP,
    STRETCHES,
    TESTS,
    TIMER_OF_24,
    channels,
    variants,
)
from rexmit_studies.rto.table1 import paper_value
from rexmit_studies.rto.timer import POOR_MBPS, gain, level_mbps, timer_idle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from rexmit_studies.study import Results

COLOUR = {1: ORANGE, 2: RED, 3: GREEN, 4: BLUE, 5: PURPLE}
STACK_COLOUR = {
    PAPERS: RED,
    CURED: BLUE,
    "linux-2.4": GREY,
    "linux-2.6-cubic": BLACK,
    TIMER_OF_24: SKY,
    "rfc-sack": PURPLE,
    SAFE: GREEN,
}


def _plain(axis: Axis, ticks: list[float]) -> None:
    """Plain numbers on a logarithmic axis."""
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_minor_locator(NullLocator())


def fastest(samples: Iterable[Sample]) -> float:
    """Where an axis of throughput ends, Mbps: behind the paper's radio, or behind the user's."""
    return max(5.2, *(1.04 * float(np.max(one["throughput_mbps"])) for one in samples))


def _steps(ax: Axes, values: Any, colour: str, label: str, **style: Any) -> None:
    """The share of runs with at most x."""
    x = np.sort(values)
    ax.step(x, np.arange(1, len(x) + 1) / len(x), where="post", color=colour, label=label, **style)


@styled
def bursts() -> Figure:
    """How long bursts of erroneous frames are in the fitted channels."""
    fig, (ax,) = canvas(height=3.6)
    longest = 0.0
    for test in TESTS:
        channel, colour = channels()[test], COLOUR[test]
        _, low, high = channel.longest(SEGMENTS)
        longest = max(longest, 1.04 * high)
        tail = beyond(channel, high + 4)
        bursts_in_all = SEGMENTS * channel.burst_begins
        ax.plot(np.arange(len(tail)) + 1, bursts_in_all * tail, color=colour, label=f"test {test}")
        height = 0.55 * 0.78 ** TESTS.index(test)
        ax.plot([low, high], [height, height], color=colour, linewidth=2.2, alpha=0.55)
        ax.plot(paper_value(test, "max_error_frame_burst"), height, "o", color=colour, markersize=5)
    ax.axhline(1, color=GREY, linewidth=0.6, linestyle=":")
    ax.set_yscale("log")
    ax.set_ylim(0.12, 1200)
    _plain(ax.yaxis, [1, 10, 100, 1000])
    ax.set_xlim(0, max(95, longest))
    ax.set_xlabel("length of a burst of erroneous frames (frames)")
    ax.set_ylabel("bursts as long or longer,\nper transfer")
    legend_above(ax)
    return Figure(fig, "channel-bursts")


@styled
def throughput(results: Results) -> Figure:
    """The throughput of all transfers of the five tests, with the paper's five."""
    fig, (ax,) = canvas(height=3.4)
    for test in TESTS:
        values = tests(results)[test]["throughput_mbps"]
        _steps(ax, values, COLOUR[test], f"test {test}")
        theirs = paper_value(test, "throughput_mbps")
        ax.plot(
            theirs, np.mean(values <= theirs), "D", color=COLOUR[test], markersize=6, markeredgecolor="white"
        )
    ax.set_xlim(0, fastest(tests(results)[test] for test in TESTS))
    ax.set_ylim(-0.02, 1.03)
    ax.set_xlabel("throughput (Mbps)")
    ax.set_ylabel("share of transfers\nwith at most this")
    legend_above(ax)
    return Figure(fig, "throughput")


@styled
def idle_threshold(results: Results) -> Figure:
    """Total idle time against the threshold, with the paper's totals."""
    fig, (ax,) = canvas(height=3.6)
    grid = np.geomspace(SHORTEST_GAP, 0.4, 300)
    found = gaps.threshold(results)
    for test in TESTS:
        ax.plot(1e3 * grid, gaps.curve(tests(results)[test], grid), color=COLOUR[test], label=f"test {test}")
        ax.axhline(paper_value(test, "total_idle_s"), color=COLOUR[test], linewidth=0.7, linestyle="--")
    ax.axvspan(1e3 * found.low, 1e3 * found.high, color=GREEN, alpha=0.15, linewidth=0)
    ax.axvline(1e3 * found.s, color=GREEN, linewidth=0.9)
    ax.axvline(200, color=GREY, linewidth=0.8, linestyle=":")
    ax.annotate("least RTO", (200, 0.02), xytext=(-3, 0), textcoords="offset points", ha="right", fontsize=8)
    ax.annotate(
        f"fitted: {1e3 * found.s:.1f} ms",
        (1e3 * found.high, 0.02),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=8,
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(0.015, 600)
    ax.set_xlim(5, 400)
    _plain(ax.xaxis, [5, 10, 20, 50, 100, 200, 400])
    _plain(ax.yaxis, [0.1, 1, 10, 100])
    ax.set_xlabel("shortest gap that counts as idle (ms)")
    ax.set_ylabel("total idle time,\nmean of transfers (s)")
    legend_above(ax)
    return Figure(fig, "idle-threshold")


@styled
def idle_or_loss(results: Results) -> Figure:
    """Throughput against idle time and against the loss rate, tests 2 and 4."""
    fig, (left, right) = _pair(3.3)
    for test in POOR:
        sample, colour = tests(results)[test], COLOUR[test]
        idle = sample.idle(gaps.threshold(results).s)[0]
        dots: dict[str, Any] = {"s": 7, "color": colour, "alpha": 0.5, "linewidths": 0}
        left.scatter(idle, sample["throughput_mbps"], label=f"test {test}", **dots)
        right.scatter(sample["ip_loss_percent"], sample["throughput_mbps"], **dots)
        mark: dict[str, Any] = {"marker": "D", "s": 40, "color": colour, "edgecolors": BLACK, "zorder": 5}
        left.scatter(paper_value(test, "total_idle_s"), paper_value(test, "throughput_mbps"), **mark)
        right.scatter(paper_value(test, "ip_loss_percent"), paper_value(test, "throughput_mbps"), **mark)
    left.set_xscale("log")
    _plain(left.xaxis, [3, 10, 30, 100, 300, 1000, 3000])
    for ax in (left, right):
        ax.axhline(level_mbps(results, POOR_MBPS), color=GREY, linewidth=0.6, linestyle=":")
        ax.set_ylim(0, fastest(tests(results)[test] for test in POOR))
    left.set_xlabel("total idle time (s)")
    right.set_xlabel("datagrams lost (%)")
    left.set_ylabel("throughput (Mbps)")
    legend_above(left)
    return Figure(fig, "idle-or-loss")


def _pair(height: float) -> tuple[Any, tuple[Axes, Axes]]:
    """Two panels side by side over one vertical axis."""
    from matplotlib.figure import Figure as MplFigure

    fig = MplFigure(figsize=(7.4, height), layout="constrained")
    left, right = fig.subplots(1, 2, sharey=True)
    return fig, (left, right)


@styled
def idle_distribution(results: Results) -> Figure:
    """How many gaps of which length a transfer has, by stack."""
    fig, panels = _pair(3.5)
    shown = (PAPERS, CURED, "linux-2.4", "rfc-sack", SAFE)
    most = 50.0
    for ax, test in zip(panels, POOR, strict=True):
        for name in shown:
            sample = of_papers_stack(results)[test] if name == PAPERS else others(results)[test, name]
            x = np.sort(sample.gap_s[sample.gap_s > 0.1])[::-1]
            per_run = np.arange(1, len(x) + 1) / len(sample["took_s"])
            most = max(most, 1.3 * len(x) / len(sample["took_s"]))
            # The cure lies so close that the paper's stack has to show below it.
            width = 2.6 if name == PAPERS else 1.0
            ax.step(x, per_run, where="pre", color=STACK_COLOUR[name], label=name, linewidth=width)
        ax.plot(paper_value(test, "max_idle_s"), 1, "D", color=BLACK, markersize=5)
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlim(0.15, 150)
        _plain(ax.xaxis, [0.2, 1, 5, 20, 57, 120])
        ax.set_xlabel(f"idle time (s), test {test}")
    for ax in panels:
        _plain(ax.yaxis, [tick for tick in (0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if tick < most])
        ax.set_ylim(0.15, most)
    panels[0].set_ylabel("gaps as long or longer,\nper transfer")
    _legend_over(fig, panels[0])
    return Figure(fig, "idle-distribution")


def _legend_over(fig: Any, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    fig.legend(
        handles, labels, loc="outside upper left", ncols=len(labels), handletextpad=0.4, columnspacing=1.2
    )


@styled
def gains(results: Results) -> Figure:
    """What each change brings, paired: throughput and idle time."""
    fig, (left, right) = _pair(3.6)
    lane, ticks = 0.0, []
    for test in POOR:
        before = of_papers_stack(results)[test]
        for name in variants(test):
            found = gain(results, test, name)
            saved = _saved(before, others(results)[test, name])
            for ax, estimate in ((left, found), (right, saved)):
                ax.errorbar(
                    estimate.value,
                    lane,
                    xerr=[[estimate.value - estimate.low], [estimate.high - estimate.value]],
                    fmt="o",
                    color=COLOUR[test],
                    markersize=4,
                    elinewidth=1.2,
                )
            ticks.append((lane, f"test {test}: {name}"))
            lane += 1
        lane += 0.6
    left.set_yticks([at for at, _ in ticks], [name for _, name in ticks])
    left.invert_yaxis()
    for ax in (left, right):
        ax.axvline(0, color=GREY, linewidth=0.8)
        ax.grid(axis="y", visible=False)
    left.set_xlabel(f"throughput gained over {PAPERS} (Mbps)")
    right.set_xlabel(f"idle time saved over {PAPERS} (s)")
    return Figure(fig, "gains")


def _saved(before: Sample, after: Sample) -> Any:
    from rexmit import stats

    return stats.paired(timer_idle(before), timer_idle(after))


@styled
def readings(results: Results) -> Figure:
    """Throughput where the channel's periods are counted in frames, and where they are in time."""
    fig, (ax,) = canvas(height=3.2)
    for test in LOSSY:
        _steps(ax, tests(results)[test]["throughput_mbps"], COLOUR[test], f"test {test}, in frames")
        for name, line in zip(STRETCHES, ("--", ":"), strict=True):
            values = reread(results)[test][name]["throughput_mbps"]
            _steps(ax, values, COLOUR[test], f"test {test}, {name}", linestyle=line)
        ax.plot(paper_value(test, "throughput_mbps"), -0.045, "D", color=COLOUR[test], clip_on=False)
    every = [reread(results)[test][name] for test in LOSSY for name in STRETCHES]
    ax.set_xlim(0, fastest([*every, *(tests(results)[test] for test in LOSSY)]))
    ax.set_ylim(-0.02, 1.03)
    ax.set_xlabel("throughput (Mbps)")
    ax.set_ylabel("share of transfers\nwith at most this")
    legend_above(ax, columns=3)
    return Figure(fig, "frames-or-time")


@styled
def exchange(
    steps: list[dict[str, Any]], situations: list[dict[str, Any]], before: int, begin: float
) -> Figure:
    """Segments and ACKs of the scripted exchange against time, in three panels of different scale."""
    from matplotlib.figure import Figure as MplFigure

    fig = MplFigure(figsize=(7.4, 3.4), layout="constrained")
    panels = fig.subplots(1, 3, sharey=True, width_ratios=[5, 3, 4])
    spans = [(-0.28, 3.2), (2.99, 3.05), (0, 62)]
    looks = {"new": ("o", BLACK), "timeout": ("D", RED), "loss-state": ("s", ORANGE)}
    for ax, (low, high) in zip(panels, spans, strict=True):
        for why, (marker, colour) in looks.items():
            sent = [
                (step["time_s"] - begin, one["segment"] - before + 1)
                for step in steps
                for one in step["sent"]
                if one["why"] == why
            ]
            ax.plot(*zip(*sent, strict=True), marker, color=colour, markersize=4.5, label=_said(why))
        times = [step["time_s"] - begin for step in steps] + [high]
        smss = steps[0]["smss_bytes"]
        acked = [step["una"] / smss - before + 1 for step in steps]
        ax.step(
            times,
            [*acked, acked[-1]],
            where="post",
            color=GREEN,
            linewidth=1.2,
            label="next that ACKs ask for",
        )
        ax.set_xlim(low, high)
        ax.set_ylim(0.2, 9.6)
    for number, step in enumerate(situations, start=1):
        panel, dy = (panels[0], -0.62) if number <= 5 else (panels[1], 0.5)
        segment = 1 if 1 < number <= 5 else step["una"] / step["smss_bytes"] - before + 1
        dx = -0.1 if number == 1 else 0
        panel.annotate(
            f"({number})", (step["time_s"] - begin + dx, segment + dy), ha="center", va="center", fontsize=8
        )
    last = situations[-1]["time_s"] - begin
    fired = next(s["time_s"] - begin for s in steps if s["event"] == "timer" and s["time_s"] - begin > last)
    panels[2].annotate(
        "", (fired, 8.6), (last, 8.6), arrowprops={"arrowstyle": "<->", "color": GREY, "linewidth": 0.8}
    )
    panels[2].annotate(
        f"{fired - last:.1f} s", ((fired + last) / 2, 8.75), ha="center", va="bottom", fontsize=8
    )
    panels[0].set_ylabel("segment")
    panels[0].set_yticks(range(1, 9))
    panels[1].set_xlabel("time since the eight segments left (s)")
    _legend_over(fig, panels[0])
    return Figure(fig, "table2-exchange")


def _said(why: str) -> str:
    return {"new": "sent first", "timeout": "resent by the timer", "loss-state": "resent after it"}[why]
