"""The axes of the study: the wireless hop, its errors, and its disconnections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rexmit_studies.axes import Axis, one_key, wire_stacks
from rexmit_studies.wireless.errors import channel
from rexmit_studies.wireless.measures import BER, DELAY_MS, DOWN_S, RATE_MBPS, SCHEDULE, UP_S
from rexmit_studies.wireless.trace import FIG5

TABLE1 = ("wireless.table1.*", "wireless.claim.ber")
TABLE2 = ("wireless.table2.*", "wireless.claim.reno_best", "wireless.claim.unlike_wired")
#: The random disconnections of Table 2 without its errors; and what is compared with them.
RANDOM = ("wireless.claim.disconnection_over_ber", "wireless.claim.variants_alike")
PROPOSAL = ("wireless.proposal.*", "wireless.claim.proposal_helps")
FIG4 = ("wireless.figure4.*", "wireless.statement.fig4_*", "wireless.claim.up_time_rules")
#: The run of Figs. 5 to 8, packet by packet.
FIGS5TO8 = ("wireless.trace.*", "wireless.statement.fig5_*")
#: What the run of Figs. 5 to 8 decides besides.
ALIKE = ("wireless.statement.fig6_*", "wireless.claim.variants_alike", "wireless.setup.ssthresh_packets")
CYCLES = ("wireless.statement.fig2_*", "wireless.statement.fig3_*")


def _errors(ber: Any) -> Mapping[str, Any]:
    return channel(f"{ber:g}", "one packet")


#: What is of a single sender, Tahoe in Table 1 and Reno in Fig. 4, in whose place another stack stands.
OF_SENDER = (*TABLE1, *FIG4, "wireless.claim.disconnection_over_ber")
WIRED = (
    "wireless.claim.unlike_wired",
    "wireless.statement.wired_reno",
    "wireless.statement.wired_sack",
    "wireless.statement.long_outages",
)

AXES = (
    Axis(
        "stack",
        "stack in the place of Tahoe in Table 1 and of Reno in Fig. 4",
        "ns2-reno",
        OF_SENDER,
        names=lambda: ["ns2-reno", *wire_stacks()],
        may=("wireless.error_model_packets.*",),
    ),
    Axis(
        "ber",
        "bit error rate of Table 2, and a further one in Table 1",
        float(BER),
        (*TABLE2, "wireless.claim.disconnection_over_ber"),
        low=1e-7,
        high=1e-4,
        sets=_errors,
        owns=("link.wireless.channel.data-errors*", "link.wireless.channel.ack-errors*"),
    ),
    Axis(
        "up",
        "mean time that the link is up in Table 2",
        UP_S,
        (*TABLE2, *RANDOM, *PROPOSAL),
        low=0.5,
        high=100,
        unit="s",
        key=f"{SCHEDULE}.up",
    ),
    Axis(
        "down",
        "mean time that the link is down in Table 2",
        DOWN_S,
        (*TABLE2, *RANDOM, *PROPOSAL),
        low=0.01,
        high=10,
        unit="s",
        key=f"{SCHEDULE}.down",
    ),
    Axis(
        "cycle_up",
        "time that the link is up in Figs. 5 to 8",
        FIG5[0],
        FIGS5TO8,
        low=0.5,
        high=9,
        unit="s",
        may=ALIKE,
    ),
    Axis(
        "cycle_down",
        "time that the link is down in Figs. 5 to 8",
        FIG5[1],
        FIGS5TO8,
        low=0.01,
        high=9,
        unit="s",
        may=ALIKE,
    ),
    Axis(
        "rate",
        "rate of the wireless hop",
        RATE_MBPS,
        ("wireless.setup.wireless_mbps", *TABLE1, *TABLE2, *RANDOM, *PROPOSAL, *FIG4, *FIGS5TO8, *CYCLES),
        low=0.1,
        high=10,
        **one_key("link.wireless.rate", "Mbps"),
        may=(*ALIKE, *WIRED),
    ),
    Axis(
        "delay",
        "propagation delay of the wireless hop, one way",
        DELAY_MS,
        ("wireless.setup.wireless_delay_ms", *TABLE1, *TABLE2, *RANDOM, *PROPOSAL, *FIG4, *FIGS5TO8, *CYCLES),
        low=1,
        high=1000,
        **one_key("link.wireless.delay", "ms"),
        may=(*ALIKE, *WIRED),
    ),
)
