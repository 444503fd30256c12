"""Section 1.6: Tahoe, Reno and NewReno."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rexmit import stats
from rexmit_studies.ns3 import drawings, sweeps
from rexmit_studies.ns3.cases import Case
from rexmit_studies.study import Drawing, Part, Results

NAMES = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "NewReno"}


def case(results: Results, variant: str) -> Case:
    found: Case = results["paper"][variant]
    return found


def reductions(case: Case) -> list[tuple[float, float, float]]:
    """Where cwnd falls below its ssthresh or to it: when, before, after."""
    time, cwnd = case.cwnd
    falls = np.flatnonzero(np.diff(cwnd) < 0) + 1
    return [(float(time[i]), float(cwnd[i - 1]), float(cwnd[i])) for i in falls]


def timeouts(case: Case) -> int:
    """Retransmissions that the timer sent."""
    return sum(why == "timeout" for why in case.host.text("reason"))


def leaving(case: Case) -> list[dict[str, float]]:
    """For each fast recovery: the ACK that ends it, the first new one, and what had been sent by then."""
    acks_at, acks = case.acks
    sent = case.host.where(case.host.equals("event", "sent"))
    found = []
    for r in case.recoveries:
        first = acks[(acks_at > r["start_s"]) & (acks > r["hole"])]
        before = sent["time"] < r["start_s"]
        top = float((sent["seq"] + sent["payload_bytes"])[before & (sent["payload_bytes"] > 0)].max())
        if len(first):
            found.append({**r, "first_new": float(first[0]), "sent": top})
    return found


def tables(results: Results) -> dict[str, Any]:
    found = {name: case(results, v) for v, name in NAMES.items()}
    thr = sweeps.throughput_mbps(results["variant seeds"], len(NAMES))
    means = [stats.mean(row) for row in thr]
    return {
        "the three variants": {
            "variant": list(found),
            "throughput Mbps": [round(c.throughput_mbps, 3) for c in found.values()],
            f"mean of {thr.shape[1]} seeds": [f"{m.value:.3f} ({m.low:.3f} to {m.high:.3f})" for m in means],
            "losses": [len(c.drops) for c in found.values()],
            "timeouts": [timeouts(c) for c in found.values()],
            "first reduction": [_first(c) for c in found.values()],
            "least cwnd after it": [_least(c) for c in found.values()],
        }
    }


def _first(case: Case) -> str:
    found = reductions(case)
    if not found:
        return "none"
    _, before, after = found[0]
    return f"{before:,.0f} to {after:,.0f} B"


def _least(case: Case) -> str:
    found = reductions(case)
    return f"{min(after for _, _, after in found):,.0f} B" if found else "none"


def draws(results: Results) -> Iterator[Drawing]:
    found = {name: case(results, v) for v, name in NAMES.items()}
    yield Drawing(
        "fig7-variants",
        "Fig. 7: the congestion window of the three variants in the base case, with the losses above.",
        lambda: drawings.windows(found, "Congestion window of the variants", "fig7-variants"),
    )


def text(results: Results) -> str:
    tahoe, reno, newreno = (case(results, v) for v in NAMES)
    thr = sweeps.throughput_mbps(results["variant seeds"], len(NAMES))
    over_reno, over_tahoe = stats.paired(thr[2], thr[1]), stats.paired(thr[1], thr[0])
    first = leaving(reno)[0]
    whole = sum(r["ack"] > r["first_new"] for r in leaving(newreno))
    return f"""\
All three see the same first loss at cwnd 17,688 bytes. **Tahoe** goes back to one segment, 536 bytes, at
each of its {len(reductions(tahoe))} reductions. The paper says "every time a timeout occurs", and a line
above that none occurs: the trace has {timeouts(tahoe)} timeouts, it is the third duplicate ACK that sends
Tahoe back. **Reno** leaves its first fast recovery at the first new ACK, {first["first_new"]:.0f}, with ten
holes still open. It enters a second one for the next hole, sends nothing new in it, and so gets no three
duplicate ACKs for the third: {timeouts(reno)} timeout at 1.366 s. So it is not true that no variant times
out; ns-3.20's own trace of Reno has this timeout. **NewReno** stays until everything that had been sent
before is acknowledged, in all of its {len(newreno.recoveries)} recoveries; in {whole} of them that is later
than the first new ACK.

The paper leaves the comparison at the shape of the curves. Over {thr.shape[1]} seeds, paired, NewReno sends
{over_reno.value:.3f} Mbps more than Reno ({over_reno.low:.3f} to {over_reno.high:.3f}), and Reno
{over_tahoe.value:.3f} more than Tahoe ({over_tahoe.low:.3f} to {over_tahoe.high:.3f})."""


PART = Part("1.6 Tahoe, Reno, NewReno", drawings=draws, tables=tables, text=text)
