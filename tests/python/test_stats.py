"""Estimates and tests against values known from elsewhere, and verdicts that follow from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rexmit import stats
from rexmit.stats import Test, holm
from rexmit_studies.study import Claim
from rexmit_studies.verdict import judge


def test_a_mean_has_students_interval() -> None:
    # t(0.975, 4) = 2.776445; of 1 to 5: s = 1.581139, half = 2.776445 * 1.581139 / sqrt(5) = 1.963243
    found = stats.mean([1, 2, 3, 4, 5, None])
    assert found.value == 3
    assert found.n == 5
    assert found.high - found.value == pytest.approx(1.963243, abs=1e-6)
    assert 1.5 in found
    assert 1.0 not in found


def test_one_value_has_no_interval_and_none_no_mean() -> None:
    assert math.isnan(stats.mean([4.0]).low)
    assert math.isnan(stats.mean([]).value)
    assert stats.mean([7, 7, 7]) == stats.Estimate(7, 7, 7, 3)


def test_pairs_that_lack_one_are_left_out() -> None:
    found = stats.paired([3, 5, None, 9], [1, 2, 3, math.nan])
    assert found.value == 2.5
    assert found.n == 2
    with pytest.raises(ValueError, match="3 values cannot be paired with 2"):
        stats.paired([1, 2, 3], [1, 2])


def test_a_share_has_wilsons_interval() -> None:
    # Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20.
    assert stats.proportion(81, 263).low == pytest.approx(0.2553, abs=5e-5)
    assert stats.proportion(81, 263).high == pytest.approx(0.3662, abs=5e-5)
    assert stats.proportion(15, 148).low == pytest.approx(0.0624, abs=5e-5)
    assert stats.proportion(0, 20).high == pytest.approx(0.1611, abs=5e-5)
    assert stats.proportion(0, 0).n == 0


def test_a_further_run_lies_in_the_central_interval_about_as_often_as_it_says() -> None:
    draws = np.random.default_rng(5)
    inside = 0
    for _ in range(2000):
        sample = draws.exponential(size=100)
        low, high = stats.central(sample)
        inside += low <= draws.exponential() <= high
    assert 0.94 < inside / 2000 < 0.96
    assert stats.central([3.0, 1.0, 2.0]) == (1.0, 3.0)


def test_quantile_and_bootstrap_have_intervals() -> None:
    values = np.arange(1.0, 102.0)
    median = stats.quantile(values)
    assert median.value == 51
    assert (median.low, median.high) == (41, 61)
    again = [stats.bootstrap(values, np.mean) for _ in range(2)]
    assert again[0] == again[1]
    t = stats.mean(values)
    assert again[0].low == pytest.approx(t.low, abs=0.6)


def test_holm_against_its_own_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_a_paired_test_takes_its_direction_from_its_effect() -> None:
    # t = 2 / (0.5 / sqrt(5)) = 8.944272 with 4 degrees of freedom: p = 0.000864
    faster = Test.paired("a less b", [3, 4, 5, 6, 7], [1.5, 1.5, 3.0, 4.5, 4.5], "s")
    assert faster.effect == pytest.approx(2.0)
    assert faster.p == pytest.approx(0.000864, abs=1e-6)
    assert faster.speaks(faster.p) == 1
    slower = Test.paired("b less a", [1.5, 1.5, 3.0, 4.5, 4.5], [3, 4, 5, 6, 7])
    assert slower.speaks(slower.p) == -1
    assert slower.speaks(0.2) == 0


def test_what_is_undefined_is_nan_without_a_warning() -> None:
    found = stats.ratio([2.0, 3.0, 0.0], [4.0, 0.0, 0.0])
    assert found[0] == 0.5
    assert np.isnan(found[1:]).all()
    assert np.isnan(stats.ratio(1.0, 0.0))
    assert stats.known_mean([1.0, math.nan, 3.0]) == 2
    assert math.isnan(stats.known_mean([math.nan]))
    assert math.isnan(stats.known_mean([]))
    assert stats.mean(found).n == 1


def test_differences_without_spread_count_as_signs() -> None:
    assert Test.paired("none", [1, 1, 1], [1, 1, 1]).p == 1
    assert Test.paired("two", [3, 3], [1, 1]).p == 0.5
    assert Test.paired("many", [3] * 10, [1] * 10).p == pytest.approx(2 / 1024)
    assert Test.paired("one", [3], [1]).p == 1


def test_alike_needs_the_interval_within_the_margin() -> None:
    draws = np.random.default_rng(3)
    a = draws.normal(10, 1, 100)
    near, far = a + draws.normal(0, 0.2, 100), a + 5 + draws.normal(0, 0.2, 100)
    assert Test.alike("near", a, near, 0.5).speaks(Test.alike("near", a, near, 0.5).p) == 1
    assert Test.alike("far", a, far, 0.5).speaks(Test.alike("far", a, far, 0.5).p) == -1
    few = Test.alike("few", [1.0, 2.0, 3.0], [1.4, 1.2, 3.9], 0.5)
    assert few.speaks(few.p) == 0


def test_a_share_is_tested_against_one_half() -> None:
    test = Test.share("runs", 9, 10)
    assert test.effect == pytest.approx(0.4)
    assert test.p == pytest.approx(22 / 1024)


def claim(key: str, *ps: float, effect: float = 1.0) -> Claim:
    tests = [Test("t", effect, (effect - 0.1, effect + 0.1), p, 10) for p in ps]
    return Claim(key, "seen", tests)


def test_verdicts_are_corrected_over_the_whole_study() -> None:
    assert judge([claim("a", 0.02)])[0].verdict == "holds"
    found = judge([claim("a", 0.02), claim("b", 0.6), claim("c", 0.5)])
    assert [judged.verdict for judged in found] == ["not decided"] * 3
    assert found[0].p == pytest.approx((0.06,))


def test_a_claim_needs_all_its_tests_and_fails_by_one() -> None:
    assert judge([claim("a", 0.001, 0.3)])[0].verdict == "not decided"
    assert judge([claim("a", 0.001, 0.002)])[0].verdict == "holds"
    mixed = Claim("a", "seen", [*claim("a", 0.001).tests, *claim("a", 0.0001, effect=-2.0).tests])
    judged = judge([mixed])[0]
    assert judged.verdict == "fails"
    assert judged.deciding is mixed.tests[1]


def test_a_claim_without_tests_is_settled_or_refused() -> None:
    assert judge([Claim("a", "one trace", settled="fails")])[0].verdict == "fails"
    with pytest.raises(ValueError, match="neither a test nor a settled verdict"):
        Claim("a", "nothing")
