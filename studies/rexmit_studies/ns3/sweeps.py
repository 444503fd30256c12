"""What the paper's single runs leave to luck: the same set-ups with rexmit's own errors, over many seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rexmit.running.many_runs import Runs
from rexmit.scenario import Scenario
from rexmit_studies import own, scenario
from rexmit_studies.ns3 import cases
from rexmit_studies.ns3.cases import Numbers
from rexmit_studies.study import Plan

SEEDS = 200
FAST_SEEDS = 40
#: Delays at which the square-root formula is put to the test, and the error rate there: one frame in 173.
FORMULA_DELAYS_MS = (5, 10, 20, 50, 100)
FORMULA_ERRORS = 1e-5
FORMULA_S = 30

#: Nothing is kept of these runs but their counts; and where the application always has data to send, the
#: sender does the same as with writes at 100 Mbps, at a third of the cost.
COUNTS = {
    "record.capture": False,
    "record.state": False,
    "record.queues": False,
    "record.drops": False,
    "flow.bulk.workload.kind": "endless",
}


def declare(plan: Plan) -> None:
    seeds = plan.seeds(SEEDS)
    plan.runs("error seeds", [counted(cases.drawn(float(e))) for e in cases.ERROR_RATES], seeds)
    worst = counted(cases.drawn(float(cases.ERROR_RATES[0])))
    plan.runs("silence seeds", worst, seeds, tables=("flows",))
    plan.runs("queue seeds", [counted({cases.QUEUE: q}) for q in cases.QUEUES], plan.seeds(SEEDS // 2))
    plan.runs("variant seeds", [counted({cases.STACK: f"ns3.20-{v}"}) for v in cases.VARIANTS], seeds)
    changed = [counted({cases.RATE: "50Mbps", cases.DELAY: "5ms", **set}) for set in fast().values()]
    plan.runs("fast seeds", changed, plan.seeds(FAST_SEEDS))
    plan.runs("formula seeds", [counted(formula(d)) for d in FORMULA_DELAYS_MS], plan.seeds(SEEDS // 2))


#: What section 1.2 says of the 50 Mbps link, beside the delay: error rates and queues around the base case.
FAST_ERRORS = ("1e-5", "1e-6", "1e-7")
FAST_QUEUES = (5, 10, 20, 100)
FAST_DELAYS = (1, 5, 10)


def fast() -> dict[str, dict[str, Any]]:
    """The 50 Mbps link with one thing changed, by what."""
    made: dict[str, dict[str, Any]] = {f"delay {d} ms": {cases.DELAY: f"{d}ms"} for d in FAST_DELAYS}
    made |= {f"errors {e}": cases.drawn(float(e)) for e in FAST_ERRORS}
    made |= {f"queue {q}": {cases.QUEUE: q} for q in FAST_QUEUES}
    return made


def fast_mbps(runs: Runs) -> dict[str, Numbers]:
    """Throughput of each, seed by seed."""
    names = list(fast())
    return dict(zip(names, throughput_mbps(runs, len(names)), strict=True))


def formula(delay_ms: float) -> dict[str, Any]:
    """Errors alone lose packets: the link is never full, the queue never either."""
    end = f"{FORMULA_S + 1}s"
    return {
        cases.RATE: "50Mbps",
        cases.DELAY: f"{delay_ms}ms",
        cases.QUEUE: 1000,
        **cases.drawn(FORMULA_ERRORS),
        "duration": end,
        "flow.bulk.stop": end,
    }


def counted(set: Mapping[str, Any]) -> Scenario:
    """The base case with something set, as the random runs run it: with errors of rexmit's own."""
    errors = own.value("error_rate", float(cases.BASE_ERRORS))
    base = {} if cases.ERRORS + "kind" in set else cases.drawn(errors)
    return Scenario.load(scenario(cases.NAME)).with_({**COUNTS, **base, **set})


def throughput_mbps(runs: Runs, variants: int, seconds: float = 9.0) -> Numbers:
    """As the paper counts, a row for each variant, a column for each seed.

    Sent by TCP, less what the queue dropped: what still waits at the end, six packets of 9,250 in the base
    case, is counted as sent.
    """
    rows = runs.summary.to_arrow()
    sent = dict(zip(rows["run"].to_pylist(), rows["data_packets"].to_pylist(), strict=True))
    size = {
        run: octets / max(1, sent[run])
        for run, octets in zip(rows["run"].to_pylist(), rows["data_bytes"].to_pylist(), strict=True)
    }
    for loss in runs.losses.to_arrow().to_pylist():
        if loss["cause"] == "queue-full" and loss["direction"] == "forward":
            sent[loss["run"]] -= loss["packets"]
    each = np.array([sent[run] * size[run] for run in sorted(sent)], dtype=float).reshape(variants, -1)
    return each * 8 / cases.MEGABIT / seconds


def column(runs: Runs, name: str, variants: int) -> Numbers:
    """A column of the summary, a row for each variant."""
    rows = runs.summary.to_arrow().sort_by("run")
    return np.array(rows[name].to_pylist(), dtype=float).reshape(variants, -1)


def slopes(runs: Runs) -> Numbers:
    """Of log throughput on log delay, one for each seed: -1 where they are inversely proportional."""
    thr = throughput_mbps(runs, len(FORMULA_DELAYS_MS), FORMULA_S)
    found: Numbers = np.polyfit(np.log(FORMULA_DELAYS_MS), np.log(thr), 1)[0]
    return found


def pauses_s(runs: Runs) -> Numbers:
    """The longest time in which each run's sender sent nothing, s; 0 where it was never idle for long."""
    longest = np.zeros(len(runs))
    flows = runs.table("flows").to_arrow()
    for run, pause in zip(flows["run"].to_pylist(), flows["idle_longest_s"].to_pylist(), strict=True):
        longest[run] = max(longest[run], pause or 0.0)
    return longest


def quantiles(values: Numbers, at: Sequence[float] = (0.025, 0.5, 0.975)) -> list[float]:
    return [float(q) for q in np.quantile(values, at)]
