"""The axes of the study: the sender's stack, the hop, and the fades of test 2."""

from __future__ import annotations

from rexmit_studies.axes import Axis, one_key, wire_stacks
from rexmit_studies.rto.setting import BETWEEN, FADE, PAPERS, RATE_MBPS, TRIES

#: What depends on all tests, and on tests 2 and 4. The cure is tried on the paper's stack only.
TESTS = ("rto.table1.*", "rto.claim.idle_dominates", "rto.claim.ack_loss_matters")
CURE = ("rto.claim.cure",)
RADIO = ("rto.claim.other_radios",)
SHAPES = (
    "rto.idle.threshold",
    "rto.statement.table1_levels",
    "rto.statement.table1_variable",
    "rto.statement.table1_idle",
)


AXES = (
    Axis(
        "stack",
        "stack of the sender in Table I",
        PAPERS,
        TESTS,
        names=wire_stacks,
        key="flow.transfer.stack",
        may=("rto.setup.*", "rto.max_error_free_throughput_mbps", *SHAPES, *RADIO),
    ),
    Axis(
        "fade",
        "mean length of a fade in test 2, frames",
        FADE,
        ("rto.table1.2.*", "rto.claim.idle_dominates", "rto.claim.ack_loss_matters", *CURE),
        low=1,
        high=200,
        owns=("link.air.channel.fading*",),
        counts="frames",
        may=(*SHAPES, *RADIO),
    ),
    Axis(
        "between",
        "mean number of frames between two fades in test 2",
        BETWEEN,
        ("rto.table1.2.*", "rto.claim.idle_dominates", "rto.claim.ack_loss_matters", *CURE),
        low=5,
        high=100_000,
        counts="frames",
        may=(*SHAPES, *RADIO),
    ),
    Axis(
        "rate",
        "rate of the air",
        RATE_MBPS,
        (*TESTS, *CURE, "rto.setup.wireless", "rto.max_error_free_throughput_mbps"),
        low=1,
        high=54,
        **one_key("link.air.rate", "Mbps"),
        may=SHAPES,
    ),
    Axis(
        "tries",
        "how often a frame is sent at most",
        TRIES,
        (*TESTS, *CURE, "rto.setup.mac_retransmissions"),
        low=1,
        high=16,
        **one_key("link.air.arq.tries"),
        whole=True,
        may=(*SHAPES, *RADIO),
    ),
)
