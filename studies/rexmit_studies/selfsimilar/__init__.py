"""Study `selfsimilar`: Salleh and Abu Bakar, "Comparison of TCP Variants Over Self-Similar Traffic"."""

from __future__ import annotations

from rexmit_studies import paper
from rexmit_studies.selfsimilar import (
    axes,
    capture,
    hurst,
    load,
    radio,
    readings,
    runs,
    statements,
    table2,
    traffic,
    windows,
)
from rexmit_studies.selfsimilar.claims import claims
from rexmit_studies.study import Part, Plan, Results, Study


def plan(plan: Plan) -> None:
    """Four variants with the same background, seed by seed; the same alone; and a capture of our own."""
    runs.declare(plan)
    readings.declare(plan)
    load.declare(plan)
    radio.declare(plan)
    plan.call("capture", capture.read, worth=0.5)


def introduction(results: Results) -> str:
    n = runs.seeds(results)
    return f"""\
One TCP flow, fed at a constant rate, shares a 50 Mbps bottleneck and a queue of ten packets with sources that
switch on and off at random, for periods so unequal that their sum is self-similar. The paper runs ns-2 once
for each of four variants; beside that it measures the traffic of its own faculty's network.

**How rexmit repeats it.** The same dumbbell and ns-2.35's agents, {n} seeds; with one seed all four variants
meet the same background. What the paper does not say is a reading: the flow offers 6.2 Mbps in packets of
1000 bytes (775 a second, which gives the paper's number of packets), 38 sources send at 1 Mbps while on, half
of the time, and TCP's window never limits. Hurst parameters are the paper's (Kettani and Gubner's
optimisation), over bins of {runs.BIN_S * 1e3:.0f} ms, since the paper does not name its granularity; and by
other estimators.

**What came out.**

{table2.summary(results)}
{hurst.summary(results)}"""


ABOUT = paper.about(runs.NAME)
STUDY: Study = Study(
    name=runs.NAME,
    title=ABOUT.title,
    source=ABOUT.source,
    about=ABOUT.about,
    plan=plan,
    parts=[
        traffic.PART,
        Part(
            "Table 2 and Fig. 4: the micro-flow",
            rows=table2.table,
            drawings=table2.draws,
            tables=table2.tables,
            text=table2.TEXT,
            statements=statements.of_throughput,
        ),
        Part(
            "Figs. 5 to 7: window, round-trip time, retransmissions",
            rows=windows.notes,
            drawings=windows.draws,
            text=windows.TEXT,
            statements=statements.of_windows,
        ),
        hurst.PART,
        readings.PART,
        load.PART,
        radio.PART,
        Part(
            "Fig. 3: a LAN, five minutes",
            rows=capture.table,
            drawings=capture.draws,
            text=capture.text,
            statements=statements.of_capture,
        ),
    ],
    claims=claims,
    introduction=introduction,
    compares=("flow.micro.stack",),
    axes=axes.AXES,
    of_capture=lambda paths: capture.captured(paths, STUDY),
)
