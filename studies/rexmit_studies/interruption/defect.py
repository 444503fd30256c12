"""OS X's intermittent sections: where they come from, and what ends them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rexmit_studies.interruption import drawings, osx, phases, setups
from rexmit_studies.study import Drawing, Part, Results


def drawing(results: Results) -> Iterator[Drawing]:
    found = {system: osx.of(results, system) for system in osx.SYSTEMS}
    yield Drawing(
        "osx-switch",
        "46 segments lost as a whole, and a path that is longer from the outage on. Below 1 OS X 10.7 takes "
        "a timeout for each lost segment; above it one timeout for all. OS X 10.9, which asks timestamps, "
        "and Linux do not change.",
        lambda: drawings.osx_switch(found, "osx-switch"),
    )


def tables(results: Results) -> dict[str, Any]:
    made: dict[str, list[str]] = {"RTT after / SRTT": []}
    made |= {f"{name}: timeouts": [] for name in osx.SYSTEMS} | {"osx-10.7: repaired after s": []}
    by_step = {name: {r.detour_ms: r for r in reversed(osx.of(results, name))} for name in osx.SYSTEMS}
    for step, repair in sorted(by_step["osx-10.7"].items()):
        made["RTT after / SRTT"].append(f"{repair.ratio:.2f}")
        made["osx-10.7: repaired after s"].append(f"{repair.section.length_s:.2f}")
        for name in osx.SYSTEMS:
            other = by_step[name].get(step)
            made[f"{name}: timeouts"].append(str(other.section.timeouts) if other else "–")
    return {"the round trip after the outage": made}


def ended_by_an_outage(results: Results) -> tuple[int, int]:
    """Intermittent sections in which the timer fired twice in a row for one segment, and that ended within
    three seconds behind a later outage; and how many there are.
    """
    found = 0
    every = [(t, s) for t, s in phases.met(phases.sweep(results)["osx"]) if s.kind == "intermittent"]
    for transfer, section in every:
        down = setups.down(transfer.phase_s, setups.period(), section.end_s)
        if down:
            since = section.end_s - down[-1][1]
            found += section.backoff > 0 and down[-1][0] > section.repair_s and since < 3.0
    return found, len(every)


def text(results: Results) -> str:
    inside, outside = osx.switch(results)
    after = [r.ratio for r in osx.of(results, "osx-10.7")]
    over, n = ended_by_an_outage(results)
    slow = [s.length_s for _, s in phases.met(phases.sweep(results)["osx"]) if s.kind == "intermittent"]
    alone = min(r.section.length_s for r in osx.of(results, "osx-10.7") if r.ratio < 1)
    low, mid, high = (float(q) for q in np.quantile(slow, (0.05, 0.5, 0.95))) if slow else (0.0, 0.0, 0.0)
    return f"""\
The paper leaves the cause for further study. OS X 10.7's source (xnu-1699) has one: after a timeout an ACK
that comes **within one SRTT** is taken as proof that the timeout was needless. cwnd and the next sequence
number are set back as if nothing had been lost, and the back-off is forgotten. Timestamps, which would tell,
are not asked; and the SACK holes were thrown away when the timer fired. So the sender sends one new segment,
gets one duplicate ACK, which is not enough, and waits for the timer again: one timeout for each lost segment.

**The sweep.** The server offers 46 segments, so that one outage takes all that is under way, and behind the
outage the path is longer by 0 to 200 ms: the first round trip is {min(after):.2f} to {max(after):.2f} of
SRTT. Up to {inside:.2f} it is one segment a timeout, from {outside:.2f} on one timeout for all. It is the
source's rule: the switch lies at 1.

**Why it is always on.** Before the outage a queue stood, and SRTT was mostly queue. After it the queue is
empty, and the ACK of the retransmission comes back in a few milliseconds. Behind a deep buffer every timeout
after an outage looks needless.

**What ends it.** In {over} of the {n} intermittent sections over all phases a later outage does. It takes a
retransmission, the timer has to fire a second time for one segment, and the rule, which is for the first
timeout only, does not apply: OS X then repairs everything within a few round trips. That is the paper's (g)
and (h). A retransmission leaves every half second or so and an outage is 200 ms long, so that it may need the
second or third outage: the sections last {low:.1f} to {high:.1f} s (5 to 95%; median {mid:.1f}). Left alone,
46 timeouts take {alone:.0f} s and more.

**What came after it.** OS X 10.9 asks timestamps. It takes two timeouts here instead of 46, and Linux one."""


PARTS = [Part("OS X: the cause, and what ends it", drawings=drawing, tables=tables, text=text)]
