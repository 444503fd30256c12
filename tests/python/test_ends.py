"""One story from both ends: simulated transfers of a fixed seed, every claim against the truth.

`python validation/ends.py --simulated 300 --live 60 --seed S` does the same for fresh ones.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation"))
import ends

TRANSFERS, SEED = 105, 1


@pytest.fixture(scope="module")
def score() -> ends.Score:
    found = ends.run(SEED, TRANSFERS, 0)
    assert found.made >= 0.95 * TRANSFERS, found.skipped
    return found


def wrong(score: ends.Score, certainty: str) -> list[ends.Claim]:
    return [c for c in score.claims if c.certainty == certainty and c.right is False]


@pytest.mark.slow
def test_what_is_known_is_so(score: ends.Score) -> None:
    assert wrong(score, "known") == []
    # Of each sort of claim some are known, so that the line above can fail.
    known = {c.what for c in score.claims if c.certainty == "known"}
    assert {"trigger", "timeouts", "idle", "outage", "cause"} <= known


def test_what_is_known_at_two_ends_does_not_contradict(score: ends.Score) -> None:
    assert score.contradictions == []
    assert score.pairs.total() > 500
    assert all(score.pairs[what] > 10 for what in ("trigger", "timeouts", "idle", "cause"))


def test_what_is_likely_is_wrong_in_one_of_ten_at_most(score: ends.Score) -> None:
    likely = [c for c in score.claims if c.certainty == "likely" and c.right is not None]
    assert len(wrong(score, "likely")) <= ends.LIKELY_WRONG_MOST * len(likely)


@pytest.mark.parametrize("what", ["outage", "trigger", "timeout", "cause"])
@pytest.mark.parametrize("side", ends.SIDES)
def test_enough_is_named(score: ends.Score, what: str, side: str) -> None:
    true, named = score.true[what, side], score.named[what, side]
    assert true > 20
    assert named >= ends.FLOOR[side] * true, f"{named} of {true}"


def test_the_receivers_bounds_of_an_outage_hold(score: ends.Score) -> None:
    seen = len(score.bounds)
    assert seen > 30
    assert sum(b.begin_in for b in score.bounds) >= ends.HELD * seen
    assert sum(b.end_in for b in score.bounds) >= ends.HELD * seen


def test_the_receivers_bounds_of_an_outage_are_no_wider_than_they_must_be(score: ends.Score) -> None:
    wide = [b for b in score.bounds if not b.narrow]
    assert len(wide) <= (1 - ends.HELD) * len(score.bounds), wide
