"""What is said of simulated transfers against the simulator's own word (validation/simulated.py)."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "validation"))

import simulated


def test_forty_random_scenarios_are_told_as_they_were() -> None:
    scores: dict[str, simulated.Score] = defaultdict(simulated.Score)
    differences = [found for seed in range(1, 41) for found in simulated.compare(seed, scores)]
    assert differences == []
    assert sum(score.flows for score in scores.values()) > 80
    assert sum(score.retransmissions for score in scores.values()) > 1900
    assert sum(score.unmatched for score in scores.values()) == 0
    assert {stack: score.confused for stack, score in scores.items() if score.confused} == {}


def test_slow_start_after_a_fast_retransmit_is_recovery_and_after_a_timeout_loss_state() -> None:
    class Table:
        def __init__(self, causes: list[str]) -> None:
            self.causes = causes

        def to_arrow(self, unit: str) -> object:
            import pyarrow as pa

            n = len(self.causes)
            numbers = pa.array(range(n), pa.int64())
            columns = {"flow": pa.array([0] * n), "time": numbers, "seq_start": numbers, "copy": numbers}
            return pa.table(columns | {"cause": self.causes})

    class Run:
        truth = Table(["recovery", "loss-state", "timeout", "loss-state", "recovery", "loss-state"])

    causes = [row["cause"] for row in simulated._truth(Run())]  # type: ignore[arg-type]
    assert causes == ["recovery", "recovery", "timeout", "loss-state", "recovery", "recovery"]
