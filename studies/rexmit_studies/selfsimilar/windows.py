"""Figs. 5 to 7: congestion window, round-trip time, retransmissions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from rexmit_studies import rows
from rexmit_studies.selfsimilar import drawings
from rexmit_studies.selfsimilar.runs import NAME, VARIANTS, Numbers, labels
from rexmit_studies.study import Drawing, Results, Row


@dataclass(frozen=True)
class Shown:
    """A sender's state through one run: time (s), cwnd and ssthresh (packets; infinite before the first "
    "loss),
    RTT samples (s), and when it sent again.
    """

    time: Numbers
    cwnd: Numbers
    ssthresh: Numbers
    rtt: Numbers
    resent: Numbers


def kept(results: Results) -> int:
    """How many seeds there are of which the senders' states were kept."""
    return len(results["shown"]) // len(VARIANTS)


def shown(results: Results, seed: int = 0) -> dict[str, Shown]:
    """The run of one seed, counted from 0, by variant."""
    state, truth = (results["shown"].table(name).to_arrow(unit="ns") for name in ("state", "truth"))
    # A stack of the user's that is a real endpoint has a window at the receiver too.
    state = state.filter(state["from_client"])
    n, found = kept(results), {}
    for k, variant in enumerate(VARIANTS):
        own = state.filter(pc.equal(state["run"], k * n + seed))
        again = truth.filter(pc.equal(truth["run"], k * n + seed))
        found[variant] = Shown(
            _seconds(own["time"]),
            own["cwnd_bytes"].to_numpy() / own["smss_bytes"].to_numpy(),
            np.array([np.inf if v is None else v for v in own["ssthresh_bytes"].to_pylist()], dtype=float)
            / own["smss_bytes"].to_numpy(),
            np.array([np.nan if v is None else v for v in own["rtt_s"].to_pylist()], dtype=float),
            _seconds(again["time"]),
        )
    return found


def _seconds(column: object) -> Numbers:
    found = np.asarray(column.to_numpy())  # type: ignore[attr-defined]
    if found.dtype.kind == "M":
        return found.astype("datetime64[ns]").astype(np.int64) / 1e9
    return found.astype(np.float64)


def notes(results: Results) -> Iterator[Row]:
    found, named = shown(results), labels()
    said = "; ".join(
        f"{named[v]} {np.median(s.cwnd[s.time > 10]):.0f} (least {s.cwnd[s.time > 10].min():.0f})"
        for v, s in found.items()
    )
    high = all(np.median(found[v].cwnd[found[v].time > 10]) >= 100 for v in ("newreno", "sack"))
    back = all(found[v].cwnd[found[v].time > 10].min() < 2 for v in ("tahoe", "vegas"))
    stay = all(found[v].cwnd[found[v].time > 10].min() >= 25 for v in ("newreno", "sack"))
    yield rows.stated(
        f"{NAME}.note.cwnd",
        f"median cwnd after 10 s, packets: {said}",
        same=high and stay and back,
        definition="cwnd in the run of seed 1, once it has settled",
        why="how high the window drifts is set by the last loss alone, since the source and not the window "
        "limits the flow; Vegas, which loses nothing, has no cause to return to 1",
    )
    tahoe = found["tahoe"].rtt
    spread = np.nanquantile(tahoe, [0.05, 0.95])
    # The delay of the access links was chosen such that the round trip is so long.
    yield rows.fitted(
        rows.stated(
            f"{NAME}.note.rtt",
            f"Tahoe: {np.nanmedian(tahoe):.3f} s, 90% of samples {spread[0]:.3f} to {spread[1]:.3f} s",
            same=bool(abs(np.nanmedian(tahoe) - 0.075) <= 0.006 and spread[1] - spread[0] <= 0.011),
            definition="samples of Tahoe's timer, in its ticks of 10 ms, in the run of seed 1",
            why="samples are whole ticks, so that one number cannot be constant and 0.075 s at once",
        )
    )


def draws(results: Results) -> Iterator[Drawing]:
    found = shown(results)
    yield Drawing(
        "fig5-cwnd",
        "Fig. 5: the congestion window of the four variants, seed 1. Dashed: what the source needs.",
        lambda: drawings.windows(found),
    )
    yield Drawing(
        "fig6-rtt",
        "Fig. 6: round-trip times as the senders measure them, in ticks of 10 ms, seed 1.",
        lambda: drawings.round_trips(found),
    )
    yield Drawing(
        "fig7-retransmissions",
        "Fig. 7: when packets were sent again, seed 1.",
        lambda: drawings.retransmissions(found),
    )


TEXT = """\
A flow that has nothing more to send than its source gives it still opens its window with every ACK: ns-2's
agents do not validate the window (RFC 7661 does). So the window says little about throughput here, and 57
packets, what the source has on the way in one round trip, are enough."""
