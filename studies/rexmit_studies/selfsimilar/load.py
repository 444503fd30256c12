"""Future work of the paper: the variants from light to heavy load, and beside sources without heavy tails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rexmit import stats
from rexmit.figures.style import BLACK, BLUE, GREEN, RED, Figure, canvas, legend_above, styled
from rexmit.scenario import Scenario
from rexmit.stats import Test
from rexmit_studies import own, scenario
from rexmit_studies.declared import Declared
from rexmit_studies.selfsimilar import hurst, runs, table2
from rexmit_studies.selfsimilar.runs import NAME, VARIANTS, Numbers
from rexmit_studies.study import Claim, Drawing, Part, Plan, Results

#: Sources beside the flow: 5 to 40 Mbps on average of the bottleneck's 50. The study's own number comes with
#: them, from the runs of Table 2.
SOURCES, QUICK_SOURCES = (10, 19, 57, 80), (10, 80)
SEEDS, CONTROL_SEEDS, QUICK = 8, 20, 2
BATCH = "load: {} sources"
#: Bins are looked at from then on, for jitter, s.
SETTLED_S = 20
STYLES = {"tahoe": (RED, "s"), "newreno": (BLACK, "o"), "vegas": (GREEN, "^"), "sack": (BLUE, "v")}


def _with(sources: int, **load: Any) -> Scenario:
    """So many datagram sources, with something of their ON and OFF times set."""
    keys = {"flow.background.count": sources}
    workload = {f"flow.background.workload.{key}": value for key, value in load.items()}
    return Scenario.load(scenario(NAME)).with_(keys | workload)


def _exponential() -> Scenario:
    """As many sources of the same mean as the study's own, whose times have no heavy tail."""
    # The workload is set as a whole, so that no axis reaches into it: the user's rate goes in here.
    rate = f"{own.value('source_rate', runs.SOURCE_MBPS):.12g}Mbps"
    on_off = {"kind": "on-off", "rate": rate, "on": "500ms", "off": "500ms", "distribution": "exponential"}
    return Scenario.load(scenario(NAME)).with_({"flow.background.workload": on_off})


def declare(plan: Plan) -> None:
    seeds = plan.seeds(SEEDS, QUICK)
    for sources in QUICK_SOURCES if plan.quick else SOURCES:
        plan.runs(BATCH.format(sources), runs.each(_with(sources)), seeds, keeps=("sources",), bin=runs.BIN_S)
    control = plan.seeds(CONTROL_SEEDS, QUICK)
    each = runs.each(_exponential())
    plan.runs(hurst.CONTROL, each, control, keeps=("shape",), bin=runs.BIN_S)


def own_sources() -> int:
    """The number of the study's own runs."""
    return int(own.value("sources", runs.SOURCES))


def by_load(results: Results) -> dict[int, Results]:
    """The study's results at each number of sources."""
    found = {own_sources(): results}
    for sources in SOURCES:
        name = BATCH.format(sources)
        if name in results and sources not in found:
            found[sources] = Results({"runs": results[name]})
    return dict(sorted(found.items()))


def best_other(arrived: Mapping[str, Numbers]) -> str:
    """Of those that are not NewReno the one with the largest mean."""
    return max((v for v in arrived if v != "newreno"), key=lambda v: float(arrived[v].mean()))


def arrived(results: Results) -> dict[str, Numbers]:
    """Throughput, Mbps of what came to the receiver, by variant; a value for each seed."""
    return dict(zip(VARIANTS, table2.throughput(results), strict=True))


def against_others(where: str, found: Mapping[str, Numbers]) -> list[Test]:
    """That NewReno is above each of the others."""
    named = runs.labels()
    return [
        runs.less(f"{where}: {named['newreno']} less {named[v]}", found["newreno"], values)
        for v, values in found.items()
        if v != "newreno"
    ]


def ranked(found: Mapping[str, Numbers]) -> str:
    """`Vegas 4.90, SACK 4.12`: best first."""
    named, order = runs.labels(), sorted(found, key=lambda v: -float(found[v].mean()))
    return ", ".join(f"{named[v]} {found[v].mean():.2f}" for v in order)


def claim(results: Results) -> Claim:
    each = {sources: arrived(sub) for sources, sub in by_load(results).items()}
    tests = [test for sources, found in each.items() for test in against_others(f"{sources} sources", found)]
    said = "; ".join(f"{sources} sources: {ranked(found)}" for sources, found in each.items())
    return Claim(
        f"{NAME}.claim.load",
        f"throughput in Mbps, best first, beside {said}",
        tests=tests,
        reading=f"datagram sources of {own.value('source_rate', runs.SOURCE_MBPS):g} Mbps while on, "
        f"{on_share()} of the time; best: above each of the others",
    )


def on_share() -> str:
    """For how much of the time a source is on, in words."""
    found = Declared(own.applied(runs.variants()[0]))
    on, off = (found.number(f"flow.background.workload.{key}") for key in ("on", "off"))
    return "half" if on == off else f"{on / (on + off):.0%}"


def jitter_ms(results: Results) -> Numbers:
    """How far the packets that arrive in a bin stray from the source's rate, as time of that rate, once
    settled, in the median over the seeds; by variant. NaN where nothing arrived in most bins.
    """
    x = runs.series(results, "arrived_bytes")[..., round(SETTLED_S / runs.BIN_S) :]
    return 1e3 * runs.BIN_S * stats.ratio(np.median(x.std(axis=2), axis=1), np.median(x, axis=(1, 2)))


def offered_mbps() -> float:
    """What the source offers, Mbps as throughput is counted: with the headers of the paper's packets, or of
    payload where the user's stack cuts others.
    """
    headers = 1.04 if own.mine("stack") is None else 1.0
    return float(own.value("flow_rate", runs.FLOW_MBPS)) * headers


def leaders(found: Mapping[str, Numbers]) -> str:
    """`NewReno and SACK`: those whose mean is the largest, or less than what counts below it."""
    named, means = runs.labels(), {v: float(values.mean()) for v, values in found.items()}
    most = max(means.values())
    first = [named[v] for v, mean in means.items() if mean >= most * (1 - runs.LEAST)]
    return " and ".join(filter(None, [", ".join(first[:-1]), first[-1]]))


def tables(results: Results) -> dict[str, Any]:
    rows: dict[str, Results] = {f"{n} sources": sub for n, sub in by_load(results).items()}
    if hurst.CONTROL in results:
        rows[f"{own_sources()} exponential sources"] = Results({"runs": results[hurst.CONTROL]})
    made: dict[str, list[Any]] = {"background": list(rows), "H of it": [], "H of it, local Whittle": []}
    named = runs.labels()
    made |= {f"{name} Mbps": [] for name in named.values()}
    beside: dict[str, list[Any]] = {"background": list(rows)}
    beside |= {f"H, {name}": [] for name in named.values()}
    beside |= {f"jitter of {name} ms": [] for name in named.values()}
    for sub in rows.values():
        made["H of it"].append(f"{hurst.of_background(sub).mean():.2f}")
        made["H of it, local Whittle"].append(f"{hurst.of_background(sub, 'local Whittle').mean():.2f}")
        jitter = jitter_ms(sub)
        for k, (variant, name) in enumerate(named.items()):
            mean = stats.mean(arrived(sub)[variant])
            made[f"{name} Mbps"].append(f"{mean.value:.2f} ± {(mean.high - mean.low) / 2:.2f}")
            beside[f"H, {name}"].append(f"{hurst.of_flow(sub)[k].mean():.2f}")
            beside[f"jitter of {name} ms"].append(f"{jitter[k]:.2f}")
    return {"throughput by load": made, "H and jitter by load": beside}


def drawing(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "load",
        "The variants against the number of sources (each half a Mbps on average, of 50): throughput, H "
        "of what "
        "arrives by the paper's estimator, and jitter. Bars: 95% intervals of the means. Dashed: what the "
        "flow's source offers.",
        lambda: draw(by_load(results)),
    )


@styled
def draw(every: Mapping[int, Results]) -> Figure:
    fig, axes = canvas(rows=3, height=6.0)
    x, named = list(every), runs.labels()
    jitter = [jitter_ms(sub) for sub in every.values()]
    for k, (variant, (colour, marker)) in enumerate(STYLES.items()):
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 3.5, "lw": 1.0}
        means = [stats.mean(arrived(sub)[variant]) for sub in every.values()]
        half = [(m.high - m.low) / 2 for m in means]
        axes[0].errorbar(x, [m.value for m in means], half, label=named[variant], capsize=2, **style)
        axes[1].plot(x, [float(hurst.of_flow(sub)[k].mean()) for sub in every.values()], **style)
        axes[2].plot(x, [float(one[k]) for one in jitter], **style)
    axes[0].axhline(offered_mbps(), color="#888888", lw=0.8, ls="--")
    axes[0].set_ylim(bottom=0)
    axes[0].set_ylabel("throughput\n(Mbps)")
    axes[1].set_ylabel("H, the paper's\nestimator")
    axes[2].set_ylabel("jitter (ms)")
    axes[2].set_xlabel("sources of the background")
    legend_above(axes[0], columns=4, numbered=False)
    return Figure(fig, "load")


def text(results: Results) -> str:
    each = {sources: arrived(sub) for sources, sub in by_load(results).items()}
    said = "; ".join(f"{leaders(found)} at {sources}" for sources, found in each.items())
    return f"""\
The paper leaves the load for future work: "varying load capacity of background traffic from low to high
load". Its
Fig. 2 was built for H against load and for jitter, of which it shows nothing. Here is all of it: the same
flow
beside {min(each)} to {max(each)} sources, {SEEDS} seeds each.

Beside few sources each variant carries what its source offers. Beside many the flow no longer keeps up, and
then they differ. Within 1% of the best are {said}. So the ranking of Table 2 belongs to one load. H says
little of it: the estimator has about as much at every load, and about as much beside sources whose times have
no heavy tail (the last line of the tables). Jitter is how far a bin's packets stray from the source's rate,
in time."""


PART = Part("From light to heavy load", drawings=drawing, tables=tables, text=text)
