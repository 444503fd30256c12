"""What the paper says of its Figs. 2 to 8, held against ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rexmit import stats
from rexmit_studies import own
from rexmit_studies.rows import each_tried
from rexmit_studies.study import Missing, Results, Statement
from rexmit_studies.wireless import trace
from rexmit_studies.wireless.disconnected import NO_LOSS
from rexmit_studies.wireless.measures import LABELS, NAME
from rexmit_studies.wireless.uptime import FEWER, UPS, UpTimes, crossing_said, variants_apart

if TYPE_CHECKING:
    from rexmit_studies.wireless.trace import Numbers, Trace

KEY = f"{NAME}.statement."
#: Variants are similar if their means lie within this share of Reno's.
SIMILAR = 0.1
#: The window of the stacks, packets.
WINDOW = 50.0


def _widest(found: Trace) -> float:
    """The largest window after the first disconnection, packets."""
    time, cwnd, _ = found.cwnd
    return float(cwnd[time > found.up].max())


def of_cycles(results: Results) -> Iterator[Statement | Missing]:
    """Figs. 2 and 3."""
    if trace.users_schedule():
        # Both runs have the user's disconnections in place of their cycles.
        for name in ("fig2_short", "fig3_better"):
            yield Missing(KEY + name, "the disconnections are yours, not the cycle that it speaks of")
        return
    two, three = (results["traces"][f"fig{k}"] for k in (2, 3))
    yield Statement(
        KEY + "fig2_short",
        f"behind the first disconnection cwnd is {_widest(two):.0f} packets at most, of a window of 50",
        _widest(two) < 25,
        drawing="fig2",
    )
    through = [len(np.unique(t.acked[1])) for t in (two, three)]
    yield Statement(
        KEY + "fig3_better",
        f"{through[1]} packets are acknowledged, {through[0]} in Fig. 2",
        through[1] > 1.5 * through[0],
        drawing="fig3",
    )


def of_up_times(results: Results) -> Iterator[Statement]:
    """Fig. 4 and its two companions that are only told of."""
    found = UpTimes(results)
    for name, what, at in (("fig4_rises", "throughput", None), ("fig4_goodput", "goodput", 5.0)):
        every = {
            share: [getattr(found, what)(share, up) for up in ups]
            for share, ups in (("9%", UPS), ("28.6%", FEWER))
        }
        rising = all(_rises(each) for each in every.values())
        crossing = found.crossing(what)
        said = "; ".join(
            f"p = {share}: {each[0].mean():.4g} to {each[-1].mean():.4g}" for share, each in every.items()
        )
        told = f"means {'rise' if rising else 'do not rise'} from point to point ({said})"
        if at is None:
            yield Statement(KEY + name, told, rising, drawing="fig4")
            yield _crossing(KEY + "fig4_below_3", crossing, 3.0, f"{NAME}.figure4.crossing_m1_s")
        else:
            near = _crossing(KEY + name, crossing, at, f"{NAME}.figure4.goodput_crossing_m1_s")
            yield Statement(
                KEY + name, f"{told}; {near.found}", rising and bool(near.agrees), near.rows, "fig4"
            )
    took = [found.took["9%", up] for up in UPS]
    yield Statement(
        KEY + "fig4_transfer_falls",
        f"from {took[0].mean():.0f} s at 1 s up to {took[-1].mean():.0f} s at 10 s, p = 9%",
        _rises(took[::-1]),
        drawing="fig4",
    )
    later = {up: stats.mean(found.took["9%", up]).value for up in UPS if up >= 5}
    met_none = sum(found.undisturbed("9%", up) for up in later)
    n = sum(len(found.took["9%", up]) for up in later)
    yield Statement(
        KEY + "fig4_transfer_constant",
        ("it goes on falling: " if _rises([found.took["9%", up] for up in later][::-1]) else "")
        + ", ".join(f"{mean:.0f} s at {up:g} s" for up, mean in later.items())
        + f"; {met_none} of {n} transfers met no disconnection",
        met_none == n,
        rows=[f"{NAME}.figure4.transfer_floor_s"],
        drawing="fig4",
    )
    apart = variants_apart(results)
    worst = max(apart.values(), key=abs)
    yield Statement(
        KEY + "fig4_variants",
        "mean throughput over six points of the figure: "
        + ", ".join(f"{LABELS[v]} {share:+.1%} of Reno's at most" for v, share in apart.items()),
        abs(worst) <= SIMILAR,
        drawing="fig4-variants",
    )


def _rises(points: Sequence[Numbers]) -> bool:
    """From the first to the last the mean rises, and nowhere between does it fall, as paired seeds tell at
    95%.
    """
    falls = any(stats.paired(b, a).high < 0 for a, b in pairwise(points))
    return stats.paired(points[-1], points[0]).low > 0 and not falls


def _crossing(key: str, at: stats.Estimate, printed: float, row: str) -> Statement:
    if np.isnan(at.value):
        return Statement(key, crossing_said(at), None, rows=[row], drawing="fig4")
    return Statement(
        key,
        crossing_said(at),
        # On the paper's grid of whole seconds.
        printed - 1 < at.value <= printed or printed in at,
        rows=[row],
        drawing="fig4",
    )


def of_variants(results: Results) -> Iterator[Statement | Missing]:
    """Figs. 5 to 8."""
    makes = {
        "fig5_exponential": _exponential,
        "fig5_waits": _waits,
        "fig5_again": _again,
        "fig5_ssthresh": _halved,
    }
    yield from each_tried(KEY, makes, results["traces"]["alike"]["tahoe"], NO_LOSS)
    yield _alike(results)


def _exponential(one: Trace) -> Statement:
    first, last = trace.slow_start(one)
    fired, _ = trace.first_timeout(one)
    before = one.enqueued[1][one.enqueued[0] < fired - 1e-9]
    return Statement(
        KEY + "fig5_exponential",
        f"windows of 1, 2, 4, ... hold packets {first} to {last}; then up to {before.max():.0f} before the "
        "timeout, "
        "counted from 0",
        # With the user's times and rates congestion avoidance gets to another packet.
        (first, last) == (0, 112) and (bool(own.current()) or abs(before.max() - 235) <= 1),
        rows=[f"{NAME}.trace.slow_start_packets"],
        drawing="fig5",
    )


def _waits(one: Trace) -> Statement:
    back = trace.gone(one)[0][1]
    fired, resent = trace.first_timeout(one, back)
    # With the user's times the timer fires at another moment; what the paper shows is that it is waited for.
    between = int(((one.enqueued[0] > back) & (one.enqueued[0] < fired - 1e-9)).sum())
    return Statement(
        KEY + "fig5_waits",
        f"{between} packets leave between {back:g} s and the timeout at {fired:.3f} s, which resends "
        f"{resent}",
        between == 0 and (bool(own.current()) or abs(fired - 4.105) < 5e-4),
        rows=[f"{NAME}.trace.first_loss.timeout_s"],
        drawing="fig5",
    )


def _again(one: Trace) -> Statement:
    fired, _ = trace.first_timeout(one)
    time, _, ssthresh = one.cwnd
    next_s = trace.gone(one)[1][0]
    after = float(ssthresh[(time >= fired) & (time < next_s)][-1])
    second = trace.loss(one, 1)
    return Statement(
        KEY + "fig5_again",
        f"ssthresh is {after:g} packets behind the timeout, and the next loss is at {second.at:.1f} s",
        abs(2 * after - (_window(one, fired) if own.current() else WINDOW)) <= 1
        and abs(second.at - next_s) < 0.05,
        rows=[f"{NAME}.trace.second_loss.at_s"],
        drawing="fig5",
    )


def _window(one: Trace, at: float) -> float:
    """What the sender may have under way before a moment, packets."""
    time, cwnd, _ = one.cwnd
    return min(float(cwnd[time < at - 1e-9][-1]), WINDOW)


def _halved(one: Trace) -> Statement:
    fired, _ = trace.first_timeout(one)
    time, _, ssthresh = one.cwnd
    window = _window(one, fired)
    after = float(ssthresh[time >= fired][0])
    printed = max(window, 2.0)
    yours = bool(own.current()) and own.current().depends(KEY + "fig5_ssthresh") is not False
    half = "half of what" if abs(2 * after - printed) <= 1 else "where"
    return Statement(
        KEY + "fig5_ssthresh",
        f"the window is {window:g} packets before the timeout, and ssthresh is {after:g} behind it: {half} "
        f"the formula gives{',' if half != 'where' else ''} {printed:g}"
        + ("" if yours else ". The paper itself goes on with 25: it left out the half"),
        after == printed,
        drawing="fig5",
    )


def _alike(results: Results) -> Statement:
    alike = results["traces"]["alike"]
    same = len({each.events() for each in alike.values()}) == 1
    fast = sum(each.fast for each in alike.values())
    return Statement(
        KEY + "fig6_to_8_alike",
        f"the four runs are {'the same packet by packet' if same else 'not the same'}, with {fast} fast "
        "retransmissions",
        same and fast == 0,
        drawing="fig6",
    )
