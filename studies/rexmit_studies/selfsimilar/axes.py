"""The axes of the study: the background's sources, the flow beside them, and what they share."""

from __future__ import annotations

from rexmit_studies.axes import Axis, one_key, wire_stacks
from rexmit_studies.selfsimilar.runs import BOTTLENECK_MBPS, FLOW_MBPS, QUEUE, SHAPE, SOURCE_MBPS, SOURCES

BACKGROUND = "flow.background."
#: Figures of the flow beside its background; and those that some seeds leave as they are.
FLOW = (
    "selfsimilar.table2.*",
    "selfsimilar.statement.fig4_*",
    "selfsimilar.claim.*",
)
SHOWN = (
    "selfsimilar.note.cwnd",
    "selfsimilar.note.rtt",
    "selfsimilar.statement.fig5_*",
    "selfsimilar.statement.fig6_*",
)
OF_BACKGROUND = ("selfsimilar.setup.hurst_background",)

#: What is of the traffic itself, and what the future work has; some of it keeps its own numbers.
TRAFFIC = ("selfsimilar.statement.table1_*", "selfsimilar.statement.loss_delay")
MAY_FLOW = ("selfsimilar.statement.loss_delay", "selfsimilar.statement.fig1_*")

AXES = (
    Axis(
        "stack",
        "stack of the flow that stands in the place of NewReno",
        "newreno",
        (
            "selfsimilar.table2.newreno.*",
            "selfsimilar.statement.fig4_newreno",
            "selfsimilar.claim.newreno_best",
            "selfsimilar.claim.load",
            "selfsimilar.claim.wireless_hop",
        ),
        names=lambda: ["newreno", *wire_stacks()],
        may=("selfsimilar.claim.*", "selfsimilar.statement.fig4_*", *SHOWN, *MAY_FLOW),
    ),
    Axis(
        "shape",
        "shape of the Pareto times for which a source is on and off",
        SHAPE,
        ("selfsimilar.setup.pareto_shape", *FLOW, *OF_BACKGROUND),
        low=1.05,
        high=3,
        **one_key(BACKGROUND + "workload.shape"),
        may=(*SHOWN, *TRAFFIC, *MAY_FLOW),
    ),
    Axis(
        "sources",
        "sources of the background",
        SOURCES,
        (*FLOW, *OF_BACKGROUND),
        low=1,
        high=200,
        **one_key(BACKGROUND + "count"),
        whole=True,
        may=(*SHOWN, *TRAFFIC, *MAY_FLOW),
    ),
    Axis(
        "source_rate",
        "rate of a source while it is on",
        SOURCE_MBPS,
        ("selfsimilar.setup.background_rate_kbps", *FLOW, *OF_BACKGROUND),
        low=0.01,
        high=10,
        **one_key(BACKGROUND + "workload.rate", "Mbps"),
        may=(*SHOWN, *TRAFFIC, *MAY_FLOW),
    ),
    Axis(
        "flow_rate",
        "rate that the flow's source offers",
        FLOW_MBPS,
        FLOW,
        low=0.1,
        high=50,
        **one_key("flow.micro.workload.rate", "Mbps"),
        may=(*SHOWN, *TRAFFIC, *MAY_FLOW),
    ),
    Axis(
        "rate",
        "rate of the bottleneck",
        BOTTLENECK_MBPS,
        ("selfsimilar.setup.bottleneck_mbps", *FLOW),
        low=1,
        high=1000,
        **one_key("link.bottleneck.rate", "Mbps"),
        may=(*SHOWN, *TRAFFIC, *MAY_FLOW),
    ),
    Axis(
        "queue",
        "packets in the bottleneck's queue, with the one that is being sent",
        QUEUE,
        ("selfsimilar.setup.queue_packets", *FLOW),
        low=2,
        high=10_000,
        # rexmit counts those that wait.
        sets=lambda packets: {"link.bottleneck.queue.packets": packets - 1},
        owns=("link.bottleneck.queue.packets",),
        counts="packets",
        whole=True,
        may=(*SHOWN, *TRAFFIC, *MAY_FLOW),
    ),
)
