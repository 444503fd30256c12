"""The axes of the study: the link of section 1. No axis changes the captured download of section 2."""

from __future__ import annotations

from rexmit_studies.axes import Axis, one_key, wire_stacks
from rexmit_studies.ns3 import cases

#: What depends on the base case, on the 50 Mbps link, and on each table.
BASE = (
    "ns3.base_*",
    "ns3.setup.first_fast_recovery_cwnd_bytes",
    "ns3.setup.cwnd_after_bytes",
    "ns3.first_recovery_exit.*",
    "ns3.dupacks_*",
    "ns3.statement.fig1[a-d]*",
    "ns3.statement.fig7_*",
    "ns3.claim.variants",
)
FAST = (
    "ns3.bandwidth_50_mbps.*",
    "ns3.statement.fig2_waits",
    "ns3.statement.fast_others",
    "ns3.claim.sender_waits",
)
TABLE1 = ("ns3.table1.*", "ns3.statement.fig3_*", "ns3.statement.fig4_*")
#: What names figures of these tables among others.
MAY1, MAY2 = ("ns3.claim.delay_rules",), ("ns3.claim.silence",)
TABLE2 = ("ns3.table2.*", "ns3.statement.fig5_*", "ns3.claim.error_saturates")
TABLE3 = ("ns3.table3.*", "ns3.statement.fig6_*", "ns3.claim.queue_saturates")

#: What is of the base case's sender, in whose place another stack stands.
OF_SENDER = ("ns3.base_*", "ns3.setup.variant", *TABLE1, *TABLE2, *TABLE3, *FAST)
MAY_OF_SENDER = (
    "ns3.setup.first_fast_recovery_cwnd_bytes",
    "ns3.setup.cwnd_after_bytes",
    "ns3.first_recovery_exit.*",
    "ns3.dupacks_*",
    "ns3.statement.fig1[a-d]*",
    "ns3.claim.sender_waits",
    *MAY1,
    *MAY2,
)

AXES = (
    Axis(
        "stack",
        "stack of the sender, but for the variants of section 1.6",
        cases.BASE_STACK,
        OF_SENDER,
        names=wire_stacks,
        sets=lambda stack: {cases.STACK: stack},
        key=cases.STACK,
        may=MAY_OF_SENDER,
    ),
    Axis(
        "rate",
        "rate of the link",
        cases.BASE_RATE,
        ("ns3.setup.bandwidth_mbps", *BASE, *TABLE1, *TABLE2, *TABLE3),
        # ns-3.20's errors are known for as many frames as 50 Mbps carry.
        low=0.1,
        high=50,
        **one_key(cases.RATE, "Mbps"),
        may=(*MAY1, *MAY2),
    ),
    Axis(
        "delay",
        "propagation delay of the link, one way",
        cases.BASE_DELAY,
        ("ns3.setup.delay_ms", *BASE, *TABLE2, *TABLE3),
        low=0.01,
        high=500,
        **one_key(cases.DELAY, "ms"),
        may=MAY2,
    ),
    Axis(
        "queue",
        "packets that can wait at the sender",
        cases.BASE_QUEUE,
        ("ns3.setup.queue_packets", *BASE, *FAST, *TABLE1, *TABLE2),
        low=1,
        high=10_000,
        **one_key(cases.QUEUE),
        counts="packets",
        whole=True,
        may=(*MAY1, *MAY2),
    ),
    Axis(
        "error_rate",
        "probability that a byte of a frame is in error",
        float(cases.BASE_ERRORS),
        ("ns3.setup.error_rate", *BASE, *FAST, *TABLE1, *TABLE3),
        low=0,
        high=0.01,
        sets=cases.at_rate,
        key=cases.ERRORS + "rate",
        owns=(cases.ERRORS + "*",),
        may=MAY1,
    ),
)
