"""rexmit against what is known from outside it, on the captures that ship with the tests.

`validation/causes.py` is the whole score, over more captures; here every bar of it must be met on these.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
sys.path.insert(0, str(ROOT / "validation"))

import causes  # noqa: E402
import truth  # noqa: E402

RUNS = causes.runs_of(DATA)


def missed(score: causes.Score) -> list[str]:
    return [
        f"{c.capture}, {c.side}: {c.what}: truth {c.true}, rexmit {c.rexmit} (bar: {c.bar})"
        for c in score.checks
        if c.met is False
    ]


def scored(score: causes.Score) -> int:
    return sum(c.met is not None for c in score.checks)


@pytest.mark.parametrize("name", sorted(truth.kernel_counters(DATA / "truth.toml")))
def test_counts_and_causes_are_those_of_the_kernel(name: str) -> None:
    score = causes.Score()
    causes.score_kernel(DATA, name, score)
    assert missed(score) == []
    assert scored(score) == 11


@pytest.mark.parametrize("name", RUNS)
def test_losses_and_triggers_are_those_of_the_bridge_that_dropped_the_packets(name: str) -> None:
    score = causes.Score()
    causes.score_testbed(DATA, name, score)
    assert missed(score) == []
    assert scored(score) >= 2


@pytest.mark.parametrize("name", RUNS)
def test_nothing_is_found_in_a_transfer_that_has_lost_nothing_yet(name: str, tmp_path: Path) -> None:
    score = causes.Score()
    causes.score_clean(DATA, name, score, tmp_path)
    assert missed(score) == []
    assert scored(score) >= 3


def test_the_drop_log_and_the_two_captures_tell_the_same() -> None:
    for name in RUNS:
        receiver = DATA / f"{name}.rcv.pcap.gz"
        if not receiver.exists():
            continue
        real = truth.transfer(DATA / f"{name}.snd.pcap.gz", receiver)
        by_captures = real.lost()
        log = truth.add_drops(real, DATA / f"{name}.drops.csv.gz")
        assert by_captures == sum(n for (way, _), n in log.items() if way == "data"), name


def test_every_retransmission_has_a_tracepoint() -> None:
    for name in RUNS:
        real = truth.transfer(DATA / f"{name}.snd.pcap.gz")
        assert truth.add_causes(real, DATA / f"{name}.trace.txt.gz") == 0, name
