"""Other lengths of outage than the paper's 200 ms: its introduction has tens of milliseconds to seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.ticker import FuncFormatter

from rexmit import stats
from rexmit.figures.style import BLACK, BLUE, GREEN, GREY, ORANGE, RED, Figure, canvas, legend_above, styled
from rexmit.running.many_runs import Runs
from rexmit.stats import Test
from rexmit_studies.interruption import phases, sections, setups
from rexmit_studies.interruption.sections import Section
from rexmit_studies.study import Claim, Drawing, Part, Plan, Results

#: Lengths, s, and those of a quick run.
LENGTHS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
QUICK_S = (0.05, 0.2, 0.5, 5.0)
#: One of each: what Compound and HyStart change is seen at 200 ms.
SYSTEMS = ("reno", "cubic", "westwood", "windows7", "osx")
#: Draws of phase and air rate at each length.
DRAWS, QUICK_DRAWS = 12, 2
#: Quickly: what an outage costs beyond its own length is less than this on average, s, as at 200 ms.
QUICKLY_S = 0.8
#: Lengths that the claim speaks of, s: "tens of milliseconds through several seconds"; we take it to ten.
CLAIMED_S = (0.05, 10.0)
LONG_S = 10.0


@dataclass(frozen=True)
class Met:
    """One transfer through outages of one length. cost_s: of each outage, beyond its own length; NaN: the
    transfer met none, or did not end.
    """

    cost_s: float
    sections: list[Section]

    def share(self, kind: str) -> float:
        """Of its sections those of a kind."""
        found = [s for s in self.sections if s.outages and s.kind != "other"]
        return float(np.mean([s.kind == kind for s in found])) if found else float("nan")


def asked(quick: bool) -> tuple[float, ...]:
    """The lengths that are run, s."""
    return QUICK_S if quick else LENGTHS_S


def period(length_s: float) -> float:
    """The link is up between outages for as long as in the paper, and behind long ones for three times their
    length, so that a timer that backed off fires before the next one.
    """
    return length_s + max(setups.PERIOD_S - setups.OUTAGE_S, 3 * length_s)


def _draws(n: int) -> list[tuple[float, float]]:
    """Phases (s) and air rates (Mbps): the first outage falls into the paper's period, so that each transfer
    meets one.
    """
    return [(at * setups.PERIOD_S / setups.period(), mbps) for at, mbps in phases.draws(n)]


def declare(plan: Plan) -> None:
    n = len(plan.seeds(DRAWS, QUICK_DRAWS))
    plan.runs(
        "lengths",
        [_transfer(system, *draw, length) for length in asked(plan.quick) for system in SYSTEMS
         for draw in _draws(n)],
        tables=sections.TABLES,
    )  # fmt: skip


def _transfer(system: str, at_s: float, mbps: float, length_s: float) -> Any:
    outages = {
        f"{setups.SCHEDULE}.for": f"{1e3 * length_s:g}ms",
        f"{setups.SCHEDULE}.every": f"{period(length_s):g}s",
        "duration": f"{setups.lasts(outages=False):g}s",
    }
    return setups.setup(
        system,
        {**setups.server(setups.FIG7_LINUX), **setups.steady(mbps, at_s), **outages, **setups.BARE},
    )


_read: WeakKeyDictionary[Runs, dict[tuple[float, str], list[Met]]] = WeakKeyDictionary()


def found(results: Results) -> dict[tuple[float, str], list[Met]]:
    """The transfers by length and system, in the order of the draws."""
    runs: Runs = results["lengths"]
    if runs not in _read:
        _read[runs] = _transfers(runs, asked(results.quick))
    return _read[runs]


def _transfers(runs: Runs, lengths: Sequence[float]) -> dict[tuple[float, str], list[Met]]:
    n = len(runs) // len(lengths) // len(SYSTEMS)
    cases = [(length, system, draw) for length in lengths for system in SYSTEMS for draw in _draws(n)]
    last_s = setups.lasts(outages=False)
    down = [setups.periodic(at, period(length), length, last_s) for length, _, (at, _) in cases]
    each = sections.of_runs(runs, [at for _, _, (at, _) in cases], down=down)
    lasted, mss = runs.summary.to_arrow()["duration_s"].to_pylist(), phases.segments(runs)
    made: dict[tuple[float, str], list[Met]] = {}
    for k, (length, system, (_, mbps)) in enumerate(cases):
        cost = phases.beyond_undisturbed_s(mss[k], lasted[k], mbps, down[k]) - length
        made.setdefault((length, system), []).append(Met(cost, each[k]))
    return made


def _cost(results: Results, length: float, system: str) -> phases.Floats:
    return np.array([one.cost_s for one in found(results)[length, system]])


def _named(transfers: Sequence[Met], number: int, kind: str, longer_s: float = 0.0) -> int:
    """Transfers whose section of this number is of this kind, and long."""
    return sum(
        any(s.number == number and s.kind == kind and s.length_s > longer_s for s in one.sections)
        for one in transfers
    )


def tables(results: Results) -> dict[str, Any]:
    every = found(results)
    lengths = list(dict.fromkeys(length for length, _ in every))
    made: dict[str, list[str]] = {"outage": [_told(length) for length in lengths]}
    for system in SYSTEMS:
        made[f"{setups.title(system)}, with time lag"] = [
            _percent(every[length, system], "with") for length in lengths
        ]
    made["OS X, intermittent"] = [_percent(every[length, "osx"], "intermittent") for length in lengths]
    for system in SYSTEMS:
        made[f"{setups.title(system)}, cost beyond the outage s"] = [
            _mean(_cost(results, length, system)) for length in lengths
        ]
    n = len(every[lengths[0], "osx"])
    osx = {
        "outage": made["outage"],
        f"(2) intermittent for more than 10 s, of {n} transfers": [
            str(_named(every[length, "osx"], 2, "intermittent", LONG_S)) for length in lengths
        ],
        f"(3) with a plain time lag, of {n} transfers": [
            _third(every[length, "osx"], "with") for length in lengths
        ],
    }
    return {"sections and cost by the length of the outages": made, "OS X's sections (2) and (3)": osx}


def _third(transfers: Sequence[Met], kind: str) -> str:
    """The same as a cell for section (3), which transfers that met two outages do not have."""
    if not any(s.number == 3 for one in transfers for s in one.sections):
        return "no section (3)"
    return str(_named(transfers, 3, kind))


def _told(length_s: float) -> str:
    return f"{1e3 * length_s:g} ms" if length_s < 1 else f"{length_s:g} s"


def _percent(transfers: Sequence[Met], kind: str) -> str:
    shares = [one.share(kind) for one in transfers]
    return f"{np.nanmean(shares):.0%}" if np.isfinite(shares).any() else "no section"


def _mean(costs: phases.Floats) -> str:
    costs = costs[np.isfinite(costs)]
    if len(costs) < 2:
        return "none ended"
    mean = stats.mean(costs)
    return f"{mean.value:.2f} ± {(mean.high - mean.low) / 2:.2f}"


STYLES = dict(zip(SYSTEMS, ((BLACK, "o"), (BLUE, "s"), (GREEN, "^"), (ORANGE, "v"), (RED, "D")), strict=True))


def drawing(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "lengths",
        "Outages of 10 ms to 10 s: the share of sections that a timer begins, and what an outage costs "
        "beyond its own length. Dotted: the paper's 200 ms. From one second on every section begins with "
        "a timer, whose back-off can add as much again as the outage is long.",
        lambda: draw(results),
    )


@styled
def draw(results: Results) -> Figure:
    every = found(results)
    lengths = list(dict.fromkeys(length for length, _ in every))
    fig, (upper, lower) = canvas(rows=2, height=4.6)
    for system, (colour, marker) in STYLES.items():
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 3.5, "lw": 1.0}
        timed = [
            100 * (1 - stats.known_mean([one.share("without") for one in every[length, system]]))
            for length in lengths
        ]
        upper.plot(lengths, timed, label=setups.title(system), **style)
        costs = [_cost(results, length, system) for length in lengths]
        lower.plot(lengths, [stats.known_mean(c) for c in costs], **style)
    for ax in (upper, lower):
        ax.set_xscale("log")
        ax.axvline(setups.OUTAGE_S, color=GREY, lw=1.0, ls=":")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: _told(v)))
    upper.set_ylabel("sections that\na timer begins (%)")
    upper.set_ylim(-3, 103)
    lower.set_yscale("log")
    lower.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    lower.set_ylabel("cost beyond\nthe outage (s)")
    lower.set_xlabel("length of an outage")
    legend_above(upper, columns=5, numbered=False)
    return Figure(fig, "lengths")


def claim(results: Results) -> Claim:
    every = found(results)
    low, high = CLAIMED_S
    lengths = [x for x in dict.fromkeys(length for length, _ in every) if low <= x <= high]
    tests, said = [], []
    for length in lengths:
        costs = np.array([_cost(results, length, system) for system in setups.LINUX])
        worst = costs.max(axis=0)
        worst = worst[np.isfinite(worst)]
        said.append(f"{_told(length)} " + (f"{worst.mean():.2f} s" if len(worst) else "(none ended)"))
        what = (
            f"outages of {_told(length)}: {QUICKLY_S:g} s less what the dearest of the three costs beyond it"
        )
        tests.append(Test.mean(what, QUICKLY_S - worst, unit="s"))
    return Claim(
        "interruption.claim.other_lengths",
        "beyond its own length an outage costs the slowest of the three, on average: " + ", ".join(said),
        tests=tests,
        reading=f"{phases.told_of_draws()}; quickly: within {QUICKLY_S:g} s beyond the outage",
    )


def text(results: Results) -> str:
    every = found(results)
    n = len(every[asked(results.quick)[0], "osx"])
    third = {length: _named(every[length, "osx"], 3, "with") for length in (0.2, 0.5)}
    flat = {length: _named(every[length, "osx"], 2, "intermittent", LONG_S) for length in (0.2, 0.5)}
    return f"""\
The paper's introduction speaks of tens of milliseconds through several seconds, and tries 200 ms. Here are
10 ms to 10 s, {n} draws of phase and air each. Between two outages the link is up for 4.8 s, as in the paper,
or for three times their length where that is longer.

**A longer outage is another experiment.** The longer it lasts, the more the air would have carried in it, and
so the larger the window that outlasts it has to be: at 50 ms hardly any section of Linux begins with a timer,
from half a second on nearly all do. And then it is the timer's back-off that costs: the timer fires while the
link is still down, doubles, and goes on waiting behind its return.

**OS X's sections (2) and (3).** With 200 ms (2) is intermittent for more than ten seconds in {flat[0.2]} of
{n} transfers, and (3) has a plain time lag in {third[0.2]}. With 500 ms it is {flat[0.5]} and {third[0.5]}:
there the timer fires for one segment a second time, and OS X's rule, which is for a first timeout only, does
not apply. So the paper's pair of sections is that of outages longer than it says."""


PART = Part("Other lengths of outage", drawings=drawing, tables=tables, text=text)
