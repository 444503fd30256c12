"""What the study runs, and its series by variant and seed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from rexmit.scenario import Scenario
from rexmit.stats import Test
from rexmit_studies import own, scenario
from rexmit_studies.study import Plan, Results

if TYPE_CHECKING:
    from rexmit.running.many_runs import Runs

Numbers = NDArray[np.float64]

NAME = "selfsimilar"
VARIANTS = {"tahoe": "Tahoe", "newreno": "NewReno", "vegas": "Vegas", "sack": "SACK"}
SEEDS, QUICK = 50, 2
#: Seeds of which the senders' states are kept.
SENDERS = 4
#: Bins of the series, s.
BIN_S = 0.1
#: What the scenario sets: background sources, the shape of their times, and Mbps while on; the flow's Mbps;
#: the bottleneck's Mbps; its queue as ns-2 counts, with the packet that is being sent.
SOURCES, SHAPE, SOURCE_MBPS, FLOW_MBPS, BOTTLENECK_MBPS, QUEUE = 38, 1.2, 1.0, 6.2, 50.0, 10
#: Bytes of payload in a packet; s of a run.
PACKET_BYTES, HEADER_BYTES, RUN_S = 1000, 40, 100
#: The run whose windows and round-trip times are drawn.
SHOWN = 1


def stack(variant: str) -> str:
    """The flow's stack; the user's stands in the place of NewReno."""
    return str(own.value("stack", variant)) if variant == "newreno" else variant


def labels() -> dict[str, str]:
    """The variants as tables and claims call them."""
    mine = own.mine("stack")
    return VARIANTS if mine is None else {**VARIANTS, "newreno": str(mine)}


def each(base: Scenario) -> list[Scenario]:
    """A scenario with each of the four, in the paper's order."""
    return [base.with_({"flow.micro.stack": stack(name)}) for name in VARIANTS]


def variants(**more: Any) -> list[Scenario]:
    """The study's scenario with each of the four."""
    return each(Scenario.load(scenario(NAME)).with_(more))


def offered() -> float:
    """Packets that a source which never pauses offers in a run."""
    return float(own.value("flow_rate", FLOW_MBPS)) * 1e6 / 8 / PACKET_BYTES * RUN_S


def reading(throughputs: bool = True) -> str:
    """Names the simulated transfers on which the claims are tested, and their parameters. throughputs:
    whether these are compared.
    """
    sources, rate = own.value("sources", SOURCES), own.value("flow_rate", FLOW_MBPS)
    said = f"{sources} sources, {rate:g} Mbps in packets of 1000 bytes, a window that never limits"
    if not throughputs:
        return said
    payload = "" if own.mine("stack") is None else "; throughput is of payload"
    return f"{said}{payload}; throughputs within {LEAST:.0%} of each other are alike"


def declare(plan: Plan) -> None:
    plan.runs("runs", variants(), plan.seeds(SEEDS, QUICK), bin=BIN_S)
    # The same flows without anybody beside them: one source that begins when the run is all but over.
    nobody = {
        "flow.background.count": 1,
        "flow.background.start": "99.99s",
        "flow.background.start_within": "1ms",
    }
    plan.runs("alone", variants(**nobody), [SHOWN], bin=BIN_S)
    plan.runs("shown", variants(), plan.seeds(SENDERS, 1), tables=("state", "truth"))


def seeds(results: Results) -> int:
    """How many seeds each variant was run with."""
    return len(results["runs"]) // len(VARIANTS)


def series(
    results: Results, column: str, flow: str = "micro", direction: str = "forward", batch: str = "runs"
) -> Numbers:
    """Shape (variants, seeds, bins), bins of BIN_S."""
    return _series(results[batch], column, flow, direction)


@lru_cache(maxsize=16)
def _series(runs: Runs, column: str, flow: str, direction: str) -> Numbers:
    rows = _rows(runs)
    rows = rows.filter(pc.and_(pc.equal(rows["flow"], flow), pc.equal(rows["direction"], direction)))
    found: Numbers = rows[column].to_numpy().astype(np.float64)
    return found.reshape(len(VARIANTS), len(runs) // len(VARIANTS), -1)


@lru_cache(maxsize=2)
def _rows(runs: Runs) -> Any:
    return runs.series.to_arrow()


def totals(results: Results, column: str, direction: str = "forward") -> Numbers:
    """Sums over the run, shape (variants, seeds)."""
    found: Numbers = series(results, column, direction=direction).sum(axis=2)
    return found


def summed(results: Results, name: str) -> Numbers:
    """A column of the runs' summary for the micro-flow, shape (variants, seeds)."""
    rows = results["runs"].summary.to_arrow().sort_by("run")
    rows = rows.filter(pc.equal(rows["flow"], "micro"))
    return np.array(rows[name].to_pylist(), dtype=float).reshape(len(VARIANTS), -1)


def payload_share(results: Results) -> Numbers:
    """What a throughput in bytes on the link is multiplied with, shape (variants, seeds): 1, and with a stack
    of the user's the payload's share, for another stack cuts the same stream into packets of another size.
    """
    arrived = totals(results, "arrived_bytes")
    if own.mine("stack") is None:
        return np.ones_like(arrived)
    return summed(results, "delivered_bytes") / np.maximum(arrived, 1.0)


#: The least difference of two throughputs that a reader of the figure could see, as a share.
LEAST = 0.01


def less(what: str, ours: Numbers, theirs: Numbers) -> Test:
    """That one throughput is above another, Mbps. A difference of less than the least that a reader of the
    figure could see speaks neither for nor against: copies that were not needed make as much.
    """
    test = Test.paired(what, ours, theirs, "Mbps")
    least = LEAST * float(np.mean(theirs))
    if abs(test.effect) <= least:
        return replace(test, p=1.0)
    beyond = (ours - theirs) - np.sign(test.effect) * least
    return replace(test, p=Test.mean(what, beyond).p)


def longer(x: Numbers, seconds: float) -> Numbers:
    """Series in bins of so many seconds, along the last axis."""
    step = round(seconds / BIN_S)
    n = x.shape[-1] // step
    found: Numbers = x[..., : n * step].reshape(*x.shape[:-1], n, step).sum(axis=-1)
    return found
