"""The square-root formula beside what was sent: sqrt(3 / 2b) MSS / (RTT sqrt p)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rexmit.figures.style import BLACK, GREY, Figure, canvas, legend_above, styled
from rexmit_studies.ns3 import cases, sweeps
from rexmit_studies.ns3.cases import Case, Numbers
from rexmit_studies.ns3.drawings import heading, plain_log

#: What an ACK weighs on the wire: 40 bytes of headers and the two of PPP.
ACK_BYTES = 42


def round_trip(case: Case) -> float:
    """Mean round trip, s: both propagations, both transmissions and the mean wait in the queue."""
    return 2 * case.delay_s + (cases.FRAME_BYTES + ACK_BYTES) * 8 / case.rate_bps + case.queueing_delay_s


def loss_events(case: Case) -> int:
    """Fast recoveries and timeouts, at least one."""
    timeouts = int((np.diff(case.state["backoff"]) > 0).sum())
    return max(1, len(case.recoveries) + timeouts)


def mbps(case: Case) -> float:
    """As the paper writes it (b = 1), in 2^20 bit/s. p: loss events in packets sent."""
    p = loss_events(case) / len(case.left)
    return _rate(p, round_trip(case))


def _rate(p: float, rtt_s: float, acked: int = 1) -> float:
    """acked: segments that an ACK acknowledges, b."""
    return math.sqrt(1.5 / acked / p) * cases.SEGMENT_BYTES * 8 / rtt_s / cases.MEGABIT


def lines(found: Sequence[Case], x: Sequence[float]) -> dict[str, tuple[Numbers, Numbers]]:
    return {"the paper's formula": (np.array(x), np.array([mbps(case) for case in found]))}


@styled
def given_loss(values: Sequence[float]) -> Figure:
    """Mean throughput of random runs at one error rate, and the formula with one and two segments an ACK."""
    delays = np.array(sweeps.FORMULA_DELAYS_MS, dtype=float)
    p = 1 - (1 - sweeps.FORMULA_ERRORS) ** cases.FRAME_BYTES
    rtt = 2 * delays / 1e3 + (cases.FRAME_BYTES + ACK_BYTES) * 8 / 50e6
    fig, (ax,) = canvas(rows=1, height=3.3)
    for acked, style, label in ((1, "--", "the paper's formula"), (2, ":", "with one ACK for two segments")):
        ax.plot(rtt * 1e3, [_rate(p, t, acked) for t in rtt], color=GREY, ls=style, lw=1.1, label=label)
    ax.plot(rtt * 1e3, values, color=BLACK, marker=".", ms=6, lw=0.9, label="rexmit")
    plain_log(ax.xaxis)
    plain_log(ax.yaxis)
    ax.set_xlabel("round-trip time (ms)")
    ax.set_ylabel("throughput (2$^{20}$ bit/s)")
    legend_above(ax)
    heading(fig, "Throughput and round-trip time at one error rate")
    return Figure(fig, "formula-at-a-given-loss")
