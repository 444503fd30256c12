"""What only a simulator shows: a sender's own state, and queues from within."""

from __future__ import annotations

from typing import Any

import numpy as np

from rexmit.figures import thin
from rexmit.figures.style import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    RED,
    Figure,
    canvas,
    legend_above,
    scale_for,
    shade_episodes,
    styled,
    title,
)
from rexmit.frame import Frame
from rexmit.screen.say import figure

SINCE = "time since the run began (s)"


@styled
def cwnd(state: Frame, episodes: list[dict[str, Any]], flow: dict[str, Any]) -> Figure:
    """The sender's congestion window, slow-start threshold and flight; below, its timer and what it rests on.

    state: the flow's `state` rows, times in s since the run began.
    """
    time = state["time"]
    ssthresh, flight = state["ssthresh_bytes"], state["flight_bytes"].astype(float)
    largest = max((float(v.max()) for v in (state["cwnd_bytes"], flight) if len(v)), default=1.0)
    scale, unit = scale_for(max(largest, 1.0), "B")
    fig, (upper, lower) = canvas(rows=2, height=5.0, gridspec_kw={"height_ratios": (3, 2)})
    low, high = (float(time[0]), float(time[-1])) if len(time) else (0.0, 1.0)
    upper.set_xlim(low - 0.01 * (high - low), high + 0.01 * (high - low))
    # What is above everything says no more than that it does not limit.
    ssthresh = np.where(ssthresh > 1.5 * largest, np.nan, ssthresh)
    series: tuple[tuple[str, Any, dict[str, Any]], ...] = (
        ("in flight (SACKed or not)", flight, {"color": GREY, "lw": 0.7}),
        ("ssthresh", ssthresh, {"color": ORANGE, "lw": 1.1, "ls": "--"}),
        ("cwnd", state["cwnd_bytes"], {"color": BLACK, "lw": 1.1}),
    )
    for label, values, look in series:
        keep = thin.extremes(time, np.nan_to_num(values, nan=-1.0))
        upper.step(time[keep], values[keep] / scale, where="post", label=label, gid=label, **look)
    upper.set_ylim(bottom=0)
    upper.set_ylabel(f"bytes ({unit})")
    timers = (("RTO", "rto_s", RED), ("SRTT", "srtt_s", BLUE), ("RTTVAR", "rttvar_s", GREEN))
    for label, name, colour in timers:
        values = state[name] * 1e3
        # Of a kernel, not every row has all of them.
        known = np.isfinite(values)
        values, when = values[known], time[known]
        keep = thin.extremes(when, values)
        lower.step(when[keep], values[keep], where="post", color=colour, lw=0.9, label=label, gid=label)
    lower.set_yscale("log")
    lower.set_ylabel("timer (ms)")
    lower.set_xlabel(SINCE)
    for ax in (upper, lower):
        shade_episodes(ax, episodes, high, most_numbers=14 if ax is upper else 0)
    legend_above(upper)
    legend_above(lower, numbered=False)
    title(fig, "Congestion window and timer", {**flow, "vantage": None})
    return Figure(fig, "cwnd")


@styled
def queue(rows: Frame, drops: Frame, what: str) -> Figure:
    """A queue's occupancy after each packet that came or went, and how long each packet waited in it.

    rows: the link's `queues` rows in one direction; drops: its `drops` rows; times in s since the run began.
    what: which link, for the title.
    """
    time, packets = rows["time"], rows["packets"]
    gone = np.isfinite(rows["waited_s"])
    full = drops.equals("cause", "queue-full") | drops.equals("cause", "aqm")
    fig, (upper, lower) = canvas(rows=2, height=4.6)
    high = float(time[-1]) if len(time) else 1.0
    upper.set_xlim(-0.01 * high, 1.01 * high)
    keep = thin.extremes(time, packets)
    upper.step(time[keep], packets[keep], where="post", color=BLACK, lw=0.8, label="waiting", gid="occupancy")
    if full.any():
        most = float(packets.max()) if len(packets) else 1.0
        when = drops["time"][full]
        upper.plot(
            when,
            np.full(len(when), most * 1.06),
            ls="none",
            marker="x",
            ms=3.5,
            color=RED,
            label="dropped by the queue",
            gid="dropped",
        )
    upper.set_ylim(bottom=0)
    upper.set_ylabel("packets in the queue")
    waited = rows["waited_s"][gone] * 1e3
    keep = thin.cells(time[gone], waited)
    lower.plot(
        time[gone][keep],
        waited[keep],
        ls="none",
        marker=".",
        ms=1.6,
        color=BLUE,
        gid="waited",
    )
    lower.set_ylim(bottom=0)
    lower.set_ylabel("waited in it (ms)")
    lower.set_xlabel(SINCE)
    legend_above(upper)
    fig.suptitle(f"Queue,  {figure(what)}", x=0.01, ha="left", fontsize=9.5, color="#333333")
    return Figure(fig, "queue")
