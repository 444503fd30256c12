"""Table 1 and section 2.1: what self-similar traffic is beside Poisson's, and what it costs a flow; Fig. "
"1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rexmit_studies import own
from rexmit_studies.rows import seen
from rexmit_studies.selfsimilar import hurst, load, runs, windows
from rexmit_studies.selfsimilar.runs import NAME, Numbers
from rexmit_studies.study import Part, Results, Statement

KEY = f"{NAME}.statement."
#: Time scales, s; peaks at the largest are compared with those at the smallest.
SCALES_S = (0.1, 1.0, 10.0)
#: Packets of the background have so many bytes.
PACKET_BYTES = runs.PACKET_BYTES
#: Traffic has peaks at a large time scale if they are so many times those of Poisson's there.
MUCH = 2.0
#: The least difference of loss or delay that counts, as a share.
LEAST = 0.1


def _background(results: Results) -> Numbers:
    """The background's packets sent per bin, a row for each seed."""
    found: Numbers = runs.series(results, "sent_packets", "background")[0]
    return found


def _poisson(like: Numbers) -> Numbers:
    """Poisson traffic with the same mean, as many series: its own random numbers, the same each time."""
    rng = np.random.default_rng(1)
    return rng.poisson(like.mean(axis=1, keepdims=True), like.shape).astype(float)


def swing(x: Numbers, seconds: float) -> Numbers:
    """The standard deviation over the mean of bins of so many seconds, for each series."""
    bins = runs.longer(x, seconds)
    found: Numbers = bins.std(axis=-1) / bins.mean(axis=-1)
    return found


def peak(x: Numbers, seconds: float) -> Numbers:
    """The largest bin over the mean of all, less 1."""
    bins = runs.longer(x, seconds)
    found: Numbers = bins.max(axis=-1) / bins.mean(axis=-1) - 1
    return found


def tables(results: Results) -> dict[str, Any]:
    x = _background(results)
    series = {f"{load.own_sources()} Pareto sources": x, "Poisson, the same mean": _poisson(x)}
    for sources, sub in load.by_load(results).items():
        if sources != load.own_sources():
            series[f"{sources} Pareto sources"] = _background(sub)
    made: dict[str, list[str]] = {"traffic": list(series)}
    for seconds in SCALES_S:
        made[f"swing in bins of {seconds:g} s"] = [f"{swing(s, seconds).mean():.1%}" for s in series.values()]
    made["highest bin of 1 s over the mean"] = [f"{peak(s, 1.0).mean():+.0%}" for s in series.values()]
    made["highest bin of 1 s Mbps"] = [
        f"{8e-6 * PACKET_BYTES * runs.longer(s, 1.0).max(axis=-1).mean():.1f}" for s in series.values()
    ]
    return {"Table 1: peaks by time scale": made}


def statements(results: Results) -> Iterator[Statement]:
    x = _background(results)
    flat = _poisson(x)
    small, large = SCALES_S[0], SCALES_S[-1]
    ours, poisson = (swing(s, large) / swing(s, small) for s in (x, flat))
    scale = f"from bins of {small:g} s to bins of {large:g} s"
    hits, n = int((poisson < 1 / MUCH).sum()), len(poisson)
    said = f"{scale} the swing of Poisson traffic of the same mean falls to {poisson.mean():.0%}"
    yield seen(KEY + "table1_poisson_scales", hits, n, said)
    hits = int((swing(x, large) > MUCH * swing(flat, large)).sum())
    said = f"{scale} the background's swing falls to {ours.mean():.0%} only, and is then "
    said += f"{(swing(x, large) / swing(flat, large)).mean():.0f} times Poisson's"
    yield seen(KEY + "table1_self_scales", hits, n, said)
    yield from _multiplexed(results)
    yield _costs(results)
    yield _transitions(results)


def _multiplexed(results: Results) -> Iterator[Statement]:
    """Peaks of few sources and of many."""
    by_load = load.by_load(results)
    few, many = (_background(by_load[n]) for n in (min(by_load), max(by_load)))
    n = min(len(few), len(many))
    for name, pair in (("poisson", (_poisson(few), _poisson(many))), ("self", (few, many))):
        low, high = (peak(x[:n], 1.0) for x in pair)
        absolute = [8e-6 * PACKET_BYTES * runs.longer(x[:n], 1.0).max(axis=-1).mean() for x in pair]
        said = (
            f"from {min(by_load)} to {max(by_load)} sources' worth the highest bin of 1 s goes from "
            f"{low.mean():+.0%} above the mean to {high.mean():+.0%}"
        )
        if name == "poisson":
            yield seen(KEY + "table1_poisson_mux", int((high < low).sum()), n, said)
        else:
            said += f" (from {absolute[0]:.1f} to {absolute[1]:.1f} Mbps)"
            if high.mean() < low.mean():
                said += ": beside the load the peaks are smoothed"
            yield seen(KEY + "table1_self_mux", int((high >= low).sum()), n, said)


def _costs(results: Results) -> Statement:
    """What the flow loses beside Pareto sources, and beside exponential ones of the same mean."""
    if hurst.CONTROL not in results:
        return Statement(KEY + "loss_delay", "the control was not run", None)
    lost = []
    for batch in (results["runs"], results[hurst.CONTROL]):
        sub = Results({"runs": batch})
        mine = runs.series(sub, "lost_packets").sum(axis=2).sum(axis=0)
        beside = runs.series(sub, "lost_packets", "background").sum(axis=2).mean(axis=0)
        lost.append(mine + beside)
    n = len(lost[1])
    pareto, exponential = lost[0][:n], lost[1]
    # If exponential sources cost no packet at all, Pareto's cost is larger by any measure, if there is one.
    waits_ms = queued_ms()
    nothing = 0.0 if pareto.mean() == 0 else np.inf
    more = float(pareto.mean() / exponential.mean() - 1) if exponential.any() else nothing
    return seen(
        KEY + "loss_delay",
        int((pareto > exponential).sum()),
        n,
        f"the bottleneck drops {pareto.mean():,.0f} packets in 100 s beside Pareto sources and "
        f"{exponential.mean():,.0f} beside exponential ones of the same mean; delay is not judged (a full "
        f"queue is {waits_ms:.3g} ms)",
        effect=(more, LEAST),
    )


def queued_ms() -> float:
    """How long a packet waits behind a full queue, ms; the queue as ns-2 counts it."""
    packets, mbps = own.value("queue", runs.QUEUE), own.value("rate", runs.BOTTLENECK_MBPS)
    return float(8e-3 * packets * (PACKET_BYTES + runs.HEADER_BYTES) / mbps)


def _transitions(results: Results) -> Statement:
    """Fig. 1: Tahoe's ways between slow start and congestion avoidance, in the run of seed 1."""
    tahoe = windows.shown(results)["tahoe"]
    slow = tahoe.cwnd < tahoe.ssthresh
    falls = np.diff(tahoe.cwnd) < 0
    up = slow[:-1] & ~slow[1:] & ~falls
    back = ~slow[:-1] & slow[1:]
    by_loss = back & falls
    return Statement(
        KEY + "fig1_transitions",
        f"Tahoe, seed 1: {int(up.sum())} times from slow start to congestion avoidance, where cwnd reaches "
        f"ssthresh, and {int(back.sum())} times back, {int(by_loss.sum())} of them where cwnd falls",
        int(up.sum()) > 0 and int(back.sum()) == int(by_loss.sum()) > 0,
        drawing="fig5-cwnd",
    )


TEXT = """\
The paper's Table 1 sets self-similar traffic against Poisson's: peaks at all time scales or at small ones
only,
which multiplexing smooths or does not. Beside the study's background stand Poisson series of the same mean.
The
swing is the standard deviation of a bin over its mean. Section 2.1 adds what self-similarity costs in loss
and
delay, and Fig. 1 shows how TCP goes from one state to another."""

PART = Part("Table 1: self-similar and Poisson traffic", tables=tables, text=TEXT, statements=statements)
