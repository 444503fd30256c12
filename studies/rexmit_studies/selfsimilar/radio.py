"""Future work of the paper: the flow's last hop is a radio, whose errors come in bursts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rexmit import stats
from rexmit.figures.style import Figure, canvas, legend_above, styled
from rexmit.scenario import Scenario
from rexmit_studies import scenario
from rexmit_studies.selfsimilar import load, runs
from rexmit_studies.selfsimilar.runs import NAME, VARIANTS, Numbers
from rexmit_studies.study import Claim, Drawing, Part, Plan, Results, Unfinished

#: Share of the packets that the radio loses, and those of a quick run; two packets in a row on average.
LOSSES, QUICK_LOSSES, BURST = (0.001, 0.005, 0.02), (0.005,), 2
SEEDS, QUICK = 8, 2
BATCH = "radio: {:g}% lost"


def _with(loss: float) -> Scenario:
    """The hop to the receiver loses so much of the data, in bursts."""
    errors = {
        "name": "radio",
        "kind": "gilbert-elliott",
        "mean_loss": loss,
        "mean_burst": f"{BURST} packets",
        # The link is declared from the receiver to the router.
        "direction": "back",
    }
    return Scenario.load(scenario(NAME)).with_({"link.right.channel": [errors]})


def declare(plan: Plan) -> None:
    for loss in QUICK_LOSSES if plan.quick else LOSSES:
        plan.runs(BATCH.format(100 * loss), runs.each(_with(loss)), plan.seeds(SEEDS, QUICK), bin=runs.BIN_S)


def by_loss(results: Results) -> dict[float, dict[str, Numbers]]:
    """Throughput by loss, Mbps: first without any, from the runs of Table 2. Raises Unfinished where no run
    over a radio was finished.
    """
    found = {0.0: load.arrived(results)}
    for loss in LOSSES:
        name = BATCH.format(100 * loss)
        if name in results:
            found[loss] = load.arrived(Results({"runs": results[name]}))
    if len(found) == 1:
        raise Unfinished(BATCH.format(100 * QUICK_LOSSES[0]))
    return found


def claim(results: Results) -> Claim:
    every = {loss: found for loss, found in by_loss(results).items() if loss}
    said = "; ".join(f"{loss:.1%} lost: {load.ranked(found)}" for loss, found in every.items())
    return Claim(
        f"{NAME}.claim.wireless_hop",
        f"throughput in Mbps, best first, with {said}",
        tests=[
            test for loss, found in every.items() for test in load.against_others(f"{loss:.1%} lost", found)
        ],
        reading=f"{runs.reading()}; the last hop loses data in bursts of {BURST} packets on average; "
        "best: above "
        "each of the others",
    )


def tables(results: Results) -> dict[str, Any]:
    every = by_loss(results)
    made: dict[str, list[str]] = {"lost by the radio": [f"{loss:.1%}" for loss in every]}
    for variant, name in runs.labels().items():
        means = [stats.mean(found[variant]) for found in every.values()]
        made[f"{name} Mbps"] = [f"{m.value:.2f} ± {(m.high - m.low) / 2:.2f}" for m in means]
    return {"throughput over a radio": made}


def drawing(results: Results) -> Iterator[Drawing]:
    yield Drawing(
        "radio",
        "The variants over a last hop that loses data in bursts, beside the study's own background. Bars: "
        "95% intervals of the means. The shares stand side by side, not to scale.",
        lambda: draw(by_loss(results)),
    )


@styled
def draw(every: Mapping[float, Mapping[str, Numbers]]) -> Figure:
    fig, (ax,) = canvas(rows=1, height=3.0)
    places = range(len(every))
    for variant, (colour, marker) in load.STYLES.items():
        means = [stats.mean(found[variant]) for found in every.values()]
        half = [(m.high - m.low) / 2 for m in means]
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 3.5, "lw": 1.0, "capsize": 2}
        ax.errorbar(places, [m.value for m in means], half, label=runs.labels()[variant], **style)
    ax.set_xticks(places, [f"{loss:.1%}" for loss in every])
    ax.set_ylim(bottom=0)
    ax.set_xlabel("data lost by the radio")
    ax.set_ylabel("throughput (Mbps)")
    legend_above(ax, columns=len(VARIANTS), numbered=False)
    return Figure(fig, "radio")


def text(results: Results) -> str:
    every = by_loss(results)
    low, high = min(loss for loss in every if loss), max(every)
    return f"""\
The second thing that the paper leaves for future work is a "wireless environment". Here the flow's last hop
loses
{low:.1%} to {high:.1%} of its data, in bursts of {BURST} packets on average, beside the same background. At
{high:.1%} the order is {load.ranked(every[high])} Mbps. A variant that repairs several holes in a round
trip keeps
more of its window; Vegas, whose window is the smallest, pays most for each burst."""


PART = Part("Over a radio", drawings=drawing, tables=tables, text=text)
