"""Tests 3 and 5 with stalls: the air stands still now and then, and loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np

from rexmit_studies.rto.compared import columns
from rexmit_studies.rto.measured import samples, tests
from rexmit_studies.rto.setting import FILE_BYTES, channels, transfer
from rexmit_studies.rto.table1 import paper_value
from rexmit_studies.study import Part

if TYPE_CHECKING:
    from rexmit_studies.rto.measured import Sample
    from rexmit_studies.study import Plan, Results

TESTS = (3, 5)
NAME = "stalls"
#: Mean time between two stalls, s: chosen, the same for both tests.
EVERY_S = 4.0


@cache
def mean_s(test: int) -> float:
    """The mean stall whose longest is, in half of the transfers, as long as the paper's longest idle time.

    Of n exponential stalls the longest is below x with probability (1 - exp(-x/mean))^n.
    """
    stalls = 8e-6 * FILE_BYTES / paper_value(test, "throughput_mbps") / EVERY_S
    return paper_value(test, "max_idle_s") / -log(1 - 0.5 ** (1 / stalls))


def channel(test: int) -> dict[str, Any]:
    """Both directions stand still, and what waits passes afterwards."""
    schedule = {"up": f"{EVERY_S:g}s", "down": f"{1e3 * mean_s(test):.3f}ms"}
    return {"name": "stalls", "kind": "outage", "hold": True, "schedule": schedule}


def declare(runs: Plan, seeds: Sequence[int]) -> None:
    scenarios = [
        transfer(None).with_({"link.air.channel": [channels()[test].spec(), channel(test)]}) for test in TESTS
    ]
    runs.runs(NAME, scenarios, seeds, ("flows", "idle", "retransmissions"), idle=0.005)


def _samples(results: Results) -> dict[int, Sample]:
    if f"{NAME}: samples" not in results:
        results[f"{NAME}: samples"] = dict(zip(TESTS, samples(results[NAME]), strict=True))
    found: dict[int, Sample] = results[f"{NAME}: samples"]
    return found


def _tables(results: Results) -> dict[str, Any]:
    found = _samples(results)
    return {
        f"test {test} without stalls and with": columns(
            results, test, {"without": tests(results)[test], "with stalls": found[test]}, ("max_idle_s",)
        )
        for test in TESTS
    }


def _text(results: Results) -> str:
    found, without = _samples(results), tests(results)
    again = float(np.mean(found[5]["retransmissions"]))
    told = ", ".join(f"{1e3 * mean_s(test):.0f} ms in test {test}" for test in TESTS)
    spread = "; ".join(
        f"test {test}: {np.mean(without[test]['rtt_stddev_ms']):.1f} ms without, "
        f"{np.mean(found[test]['rtt_stddev_ms']):.1f} with, "
        f"{paper_value(test, 'rtt_stddev_ms'):g} in the paper"
        for test in TESTS
    )
    return f"""
The paper's good transfers stood still at times, and lost next to nothing. Here the air does: every
{EVERY_S:g} s on average (chosen), for a time of exponential length. Its mean is fitted to one number, the
longest idle time: {told}. All else in the tables is what TCP makes of it. The deviation of the RTT comes with
the stalls ({spread}); the mean RTT does not, which is the receiver's window over the rate. What does not
fit is that stalls beyond the least RTO make the timer fire, which resends the window: {again:.0f} segments
in test 5, where the paper has {paper_value(5, "retransmissions"):.0f}. Its stall of
{paper_value(5, "max_idle_s"):g} s fired none.
""".strip()


PART = Part("Tests 3 and 5: stalls", text=_text, tables=_tables)
