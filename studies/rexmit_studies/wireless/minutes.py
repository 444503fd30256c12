"""Disconnections of up to a minute: one of them in a transfer, and what it costs beyond its own length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit import stats
from rexmit.arrow import gather
from rexmit.figures.style import BLACK, GREY, Figure, canvas, styled
from rexmit_studies.rows import seen
from rexmit_studies.study import Drawing, Part, Plan, Results, Statement
from rexmit_studies.wireless.measures import NAME, SCHEDULE, durations, load, transfer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rexmit.scenario import Scenario

    Numbers = NDArray[np.float64]

#: Lengths of the disconnection, s, and those of a quick run.
LENGTHS_S = (0.1, 0.3, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 45.0, 60.0)
QUICK_S = (0.3, 5.0, 60.0)
#: When it begins, s after the start: 20 moments within one round trip and more.
BEGINS_S, QUICK_BEGINS_S = tuple(5 + 0.05 * k for k in range(20)), (5.0, 5.3)
#: A file of so many packets, and when it is given up, s.
PACKETS, PATIENCE = 1000, 400
#: At most so long is the timer of ns-2 as of 1998 set, s.
LONGEST_TIMER_S = 64


def lengths(quick: bool) -> tuple[float, ...]:
    """The lengths that are run, s."""
    return QUICK_S if quick else LENGTHS_S


def begins(quick: bool) -> tuple[float, ...]:
    """When the disconnection begins, one a run, s."""
    return QUICK_BEGINS_S if quick else BEGINS_S


def _scenario(begin_s: float, length_s: float) -> Scenario:
    once = {"intervals": [[f"{begin_s:g}s", f"{length_s:g}s"]]}
    return load(
        "wireless-outage", {"flow.ftp.stack": "ns2-reno", SCHEDULE: once} | transfer(PACKETS, PATIENCE)
    )


def declare(plan: Plan) -> None:
    """Reno through one disconnection of each length, and one that comes behind the end of the file."""
    each = [_scenario(at, length) for length in lengths(plan.quick) for at in begins(plan.quick)]
    plan.runs("up to a minute", [*each, _scenario(PATIENCE - 1.0, 0.1)])


def found(results: Results) -> dict[float, tuple[Numbers, Numbers]]:
    """By length: what the disconnection cost beyond it, s, and how often the timer fired."""
    runs = results["up to a minute"]
    took = np.array([one[0] for one in durations(runs, PATIENCE)])
    rows = gather(runs.summary)
    fired = rows["timeouts"].to_numpy()[np.argsort(rows["run"].to_numpy())]
    n = len(begins(results.quick))
    return {
        length: (took[k * n : (k + 1) * n] - took[-1] - length, fired[k * n : (k + 1) * n])
        for k, length in enumerate(lengths(results.quick))
    }


def tables(results: Results) -> dict[str, Any]:
    """Cost and timeouts by length."""
    every = found(results)
    costs = [stats.mean(cost) for cost, _ in every.values()]
    return {
        "one disconnection": {
            "length s": [f"{length:g}" for length in every],
            "cost beyond it, mean s": [f"{m.value:.1f} ± {(m.high - m.low) / 2:.1f}" for m in costs],
            "from": [f"{cost.min():.1f}" for cost, _ in every.values()],
            "to": [f"{cost.max():.1f}" for cost, _ in every.values()],
            "timeouts, mean": [f"{fired.mean():.1f}" for _, fired in every.values()],
        }
    }


def drawing(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "minutes",
        "What one disconnection costs Reno beyond its own length: each dot a run, the line their mean. "
        "The timer "
        "doubles while the link is down, and what is left of its last doubling is waited for behind the "
        "link's return: up to as long again (dashed), and no more than 64 s.",
        lambda: draw(results),
    )


@styled
def draw(results: Results) -> Figure:
    every = found(results)
    fig, (ax,) = canvas(rows=1, height=3.0)
    for length, (cost, _) in every.items():
        ax.plot(np.full(len(cost), length), cost, ls="none", marker=".", ms=3, color=GREY)
    x = list(every)
    ax.plot(x, [cost.mean() for cost, _ in every.values()], color=BLACK, marker="o", ms=3.5, lw=1.0)
    ax.plot(x, x, color=GREY, ls="--", lw=1.0)
    ax.set_xlabel("length of the disconnection (s)")
    ax.set_ylabel("cost beyond it (s)")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    return Figure(fig, "minutes")


def statements(results: Results) -> Iterator[Statement]:
    """The minute that the paper speaks of."""
    length, (cost, fired) = list(found(results).items())[-1]
    hits = int(((fired > 1) & (cost > 0)).sum())
    yield seen(
        f"{NAME}.statement.long_outages",
        hits,
        len(cost),
        f"a disconnection of {length:g} s has the timer fire {fired.mean():.0f} times, and costs "
        f"{cost.mean():.0f} s "
        "beyond the minute itself",
        drawing="minutes",
    )


TEXT = f"""\
The paper says that disconnections can last a minute, and tries 2 s at most. Here one disconnection falls
into a
transfer of {PACKETS} packets by Reno. It costs more than its own length, since the timer doubles with each
try in
vain, up to {LONGEST_TIMER_S} s: what is left of the last wait comes on top."""

PART = Part("Disconnections of a minute", drawings=drawing, tables=tables, text=TEXT, statements=statements)
