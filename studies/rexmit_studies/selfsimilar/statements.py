"""What the paper says of its Figs. 3 to 7, held against ours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rexmit_studies.rows import seen
from rexmit_studies.selfsimilar import runs, windows
from rexmit_studies.selfsimilar.claims import AT
from rexmit_studies.selfsimilar.runs import NAME, Numbers
from rexmit_studies.study import Results, Statement

KEY = f"{NAME}.statement."
#: The beginning, in which Vegas is ahead, and the moment from which it rises no more, s.
BEGINNING_S, TURN_S = 10, 50
#: A throughput so far that has grown by more than this has gone on increasing.
GROWN = 0.01
LEAST = runs.LEAST
#: Windows and round trips are looked at from then on, s.
SETTLED_S = 10
#: The RTT that the paper has for Tahoe, and how far a constant may be from it, s.
TAHOE_S, CONSTANT_S = 0.075, 0.0025
#: A spike: so much above the median, s; it goes with a retransmission that lies so near, s.
SPIKE_S, BESIDE_S = 0.015, 0.2


def of_throughput(results: Results) -> Iterator[Statement]:
    """Fig. 4, over all seeds."""
    rate = runs.longer(runs.series(results, "arrived_bytes"), 1.0) * 8 / 1e6
    rate = rate * runs.payload_share(results)[..., None]
    so_far = np.cumsum(rate, axis=2) / np.arange(1, rate.shape[2] + 1)
    n = rate.shape[1]
    vegas, others = AT["vegas"], [k for v, k in AT.items() if v != "vegas"]
    newreno, rest = AT["newreno"], [k for v, k in AT.items() if v != "newreno"]
    best = so_far[newreno, :, -1] > so_far[rest, :, -1].max(axis=0)
    named = runs.labels()
    means = ", ".join(f"{named[v]} {so_far[k, :, -1].mean():.2f}" for v, k in AT.items())
    above = so_far[newreno, :, -1] / so_far[rest, :, -1].max(axis=0) - 1
    yield seen(
        KEY + "fig4_newreno",
        int(best.sum()),
        n,
        f"means of {means} Mbps",
        drawing="fig4-throughput",
        effect=(float(above.mean()), LEAST),
    )
    ahead = so_far[vegas, :, BEGINNING_S - 1] > so_far[others, :, BEGINNING_S - 1].max(axis=0)
    first, next_ = (so_far[k, :, BEGINNING_S - 1] for k in (vegas, others))
    said = f"Vegas {first.mean():.2f} Mbps in the first {BEGINNING_S} s, the best of the others "
    said += f"{next_.max(axis=0).mean():.2f}"
    more = float((first / next_.max(axis=0) - 1).mean())
    name = KEY + "fig4_vegas_ahead"
    yield seen(name, int(ahead.sum()), n, said, drawing="fig4-throughput", effect=(more, LEAST))
    growth = so_far[..., -1] / so_far[..., TURN_S - 1] - 1
    lost = runs.longer(runs.series(results, "lost_packets"), 1.0)
    begins = (lost[vegas, :, :TURN_S].sum(axis=1) == 0) & (lost[vegas, :, TURN_S:].sum(axis=1) > 0)
    stays = (growth[vegas] < GROWN) & begins
    late = (lost[vegas, :, TURN_S:].sum(axis=1) > 0).sum()
    told = f"Vegas's throughput so far changes by {growth[vegas].mean():+.1%} from 50 s on; it drops "
    told += f"packets then in {late} runs"
    yield seen(KEY + "fig4_vegas_stays", int(stays.sum()), n, told, drawing="fig4-throughput")
    rise = (growth[others] > GROWN).all(axis=0)
    told = "from 50 s on the throughput so far changes by "
    told += ", ".join(f"{growth[k].mean():+.1%} ({named[v]})" for v, k in AT.items() if v != "vegas")
    yield seen(KEY + "fig4_others_rise", int(rise.sum()), n, told, drawing="fig4-throughput")


def of_windows(results: Results) -> Iterator[Statement]:
    """Figs. 5 to 7, over the runs whose senders are kept."""
    every = [windows.shown(results, k) for k in range(windows.kept(results))]
    n, cwnd_row, rtt_row = len(every), [f"{NAME}.note.cwnd"], [f"{NAME}.note.rtt"]

    def cwnd(run: dict[str, windows.Shown], variant: str) -> Numbers:
        found: Numbers = run[variant].cwnd[run[variant].time > SETTLED_S]
        return found

    fast = ("newreno", "sack")
    middle = [[float(np.median(cwnd(run, v))) for v in fast] for run in every]
    about = sum(all(150 <= m <= 250 for m in two) for two in middle)
    said = "medians behind 10 s of " + "; ".join(f"{a:.0f} and {b:.0f}" for a, b in middle) + " packets"
    yield seen(KEY + "fig5_high", about, n, said, cwnd_row, "fig5-cwnd")
    least = [[float(cwnd(run, v).min()) for v in fast] for run in every]
    floor = sum(min(two) >= 25 for two in least)
    said = "least windows behind 10 s of " + "; ".join(f"{a:.0f} and {b:.0f}" for a, b in least)
    yield seen(KEY + "fig5_floor", floor, n, said, cwnd_row, "fig5-cwnd")
    ones = [[_times_at_one(cwnd(run, v)) for v in ("tahoe", "vegas")] for run in every]
    often = sum(min(two) >= 2 for two in ones)
    said = "times at 1 behind 10 s, Tahoe and Vegas: " + "; ".join(f"{a} and {b}" for a, b in ones)
    yield seen(KEY + "fig5_one", often, n, said, cwnd_row, "fig5-cwnd")
    spread = [{v: _spread(s.rtt[s.time > SETTLED_S]) for v, s in run.items()} for run in every]
    constant = sum(
        max(abs(one["tahoe"][0] - TAHOE_S), abs(one["tahoe"][1] - TAHOE_S)) <= CONSTANT_S for one in spread
    )
    low, high = (1e3 * np.mean([one["tahoe"][k] for one in spread]) for k in (0, 1))
    said = f"98% of Tahoe's samples lie from {low:.0f} to {high:.0f} ms, in ticks of 10 ms"
    yield seen(KEY + "fig6_tahoe", constant, n, said, rtt_row, "fig6-rtt")
    silent = [v for v in AT if not all(np.isfinite(one[v]).all() for one in spread)]
    if silent:
        said = f"no RTT samples are recorded of {runs.labels()[silent[0]]}"
        yield Statement(KEY + "fig6_others", said, None, rtt_row, "fig6-rtt")
        yield _spikes([{v: s for v, s in run.items() if v not in silent} for run in every])
        return
    width = {v: 1e3 * float(np.mean([one[v][1] - one[v][0] for one in spread])) for v in AT}
    varies = sum(
        all(one[v][1] - one[v][0] > 1.5 * (one["tahoe"][1] - one["tahoe"][0]) for v in AT if v != "tahoe")
        for one in spread
    )
    named = runs.labels()
    said = "98% of the samples span " + ", ".join(f"{w:.0f} ms ({named[v]})" for v, w in width.items())
    said += ": more than half as much again as Tahoe's is asked of each of the others"
    yield seen(KEY + "fig6_others", varies, n, said, rtt_row, "fig6-rtt")
    yield _spikes(every)


def _times_at_one(cwnd: Numbers) -> int:
    low = cwnd < 2
    return int((low[1:] & ~low[:-1]).sum()) + int(low[0]) if len(cwnd) else 0


def _spread(rtt: Numbers) -> tuple[float, float]:
    """Where 98% of the samples lie; NaN: there is none."""
    if not np.isfinite(rtt).any():
        return float("nan"), float("nan")
    low, high = np.nanquantile(rtt, [0.01, 0.99])
    return float(low), float(high)


def _spikes(every: list[dict[str, windows.Shown]]) -> Statement:
    """How many spikes lie beside a retransmission, and how much of the time does."""
    spikes = beside = 0
    covered, whole = 0.0, 0.0
    for run in every:
        for s in run.values():
            there = np.isfinite(s.rtt)
            time, rtt = s.time[there], s.rtt[there]
            high = rtt > np.median(rtt) + SPIKE_S
            begins = time[high & np.append(True, ~high[:-1])]
            spikes += len(begins)
            beside += int(_distance(begins, s.resent, BESIDE_S).sum())
            grid = np.arange(0, 100, 0.05)
            covered += float(_distance(grid, s.resent, BESIDE_S).sum())
            whole += len(grid)
    if not spikes:
        return Statement(
            KEY + "fig6_spikes", "no spike of more than 15 ms above the median", False, drawing="fig6-rtt"
        )
    share, usual = beside / spikes, covered / whole
    return Statement(
        KEY + "fig6_spikes",
        f"{share:.0%} of {spikes} spikes (15 ms above the median) lie within {BESIDE_S} s of a "
        "retransmission, as does "
        f"{usual:.0%} of the time",
        share > 0.5 and share > 2 * usual,
        drawing="fig7-retransmissions",
    )


def _distance(at: Numbers, events: Numbers, within: float) -> NDArray[np.bool_]:
    """Which moments lie so near an event."""
    if not len(events):
        return np.zeros(len(at), dtype=bool)
    place = np.searchsorted(events, at)
    left = np.abs(at - events[np.maximum(place - 1, 0)])
    right = np.abs(events[np.minimum(place, len(events) - 1)] - at)
    return np.asarray(np.minimum(left, right) <= within)


def of_capture(results: Results) -> Iterator[Statement]:
    """Fig. 3."""
    from rexmit_studies.selfsimilar import capture

    h = capture.papers_way(results["capture"])
    yield Statement(
        KEY + "fig3_dependent",
        f"our LAN's is {h:.2f} by the same estimator: another network",
        None,
        rows=[f"{NAME}.capture.hurst"],
        drawing="capture-packets-scaling",
    )
