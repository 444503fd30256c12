"""A paper's figures and what stands beside them: compared digit by digit, by the runs, and together."""

from __future__ import annotations

from contextvars import copy_context
from dataclasses import replace

import numpy as np
import pytest

import rexmit_studies as studies
from rexmit.stats import Test
from rexmit_studies import cells, load, paper, rows
from rexmit_studies.axes import find
from rexmit_studies.own import CURRENT, Own
from rexmit_studies.study import Row
from rexmit_studies.together import contradicted, share_as_far, together


def test_every_figure_of_the_papers_has_a_key() -> None:
    known = {name: paper.figures(name) for name in studies.ALL}
    assert {name: len(found) for name, found in known.items()} == {
        "interruption": 41,
        "rto": 140,
        "ns3": 67,
        "wireless": 51,
        "selfsimilar": 43,
    }
    assert known["rto"]["rto.table1.2.max_idle_s"] == 57.4
    assert known["rto"]["rto.table2.6.event"] == "ack 4 arrives"
    assert known["ns3"]["ns3.table3.10.mean_cwnd_bytes"] == 9884
    assert known["wireless"]["wireless.trace.first_loss.acks"] == (187, 196)
    assert known["selfsimilar"]["selfsimilar.table2.vegas.hurst"] == 0.90
    assert "interruption.sections.note" not in known["interruption"]
    assert paper.printed("ns3.table1.5").text == "4.200"
    assert paper.printed("ns3.table2.1e-7").decimals == (3,)
    assert [len(paper.claims(name)) for name in studies.ALL] == [6, 5, 8, 7, 5]


def test_an_unknown_key_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"ns3\.table1\.6 is no figure .* did you mean ns3\.table1\.5\?"):
        rows.exact("ns3.table1.6", 4.2, "x")


@pytest.mark.parametrize(
    ("value", "truncated", "same"),
    [
        (4.2004, False, True),
        (4.2006, False, False),
        (4.2006, True, True),
        (4.1999999999999, True, True),
        (4.1999, True, False),
        (float("nan"), True, False),
    ],
)
def test_exact_compares_the_printed_digits(value: float, truncated: bool, same: bool) -> None:
    row = rows.exact("ns3.table1.5", value, "x", truncated=truncated, why="so it is")
    assert row.reproduced == same
    assert row.why == ("" if same else "so it is")


def test_what_is_not_reproduced_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="no reason is given"):
        rows.exact("ns3.table1.5", 4.3, "x")


def test_lists_and_texts_are_compared_whole() -> None:
    assert rows.exact("wireless.trace.first_loss.acks", (187, 196), "x").reproduced
    assert not rows.exact("wireless.trace.first_loss.acks", (187, 197), "x", why="y").reproduced
    assert rows.setup("rto.setup.sack", True).grade == "set"
    assert rows.setup("rto.setup.sack", False, why="z").grade == "no"


def test_a_sample_is_reproduced_where_the_runs_lie() -> None:
    key = "rto.table1.1.avg_lost_packet_burst"  # 1.73
    row = rows.sampled(key, [1.734, 1.8, None, 1.9], "x")
    assert row.grade == "mean"  # 1.73 may have been 1.734
    assert row.n == 3
    assert row.interval == (1.734, 1.9)
    assert not rows.sampled(key, [1.75, 1.9], "x").reproduced
    assert "2 runs, too few" in rows.sampled(key, [1.75, 1.9], "x").why
    assert rows.sampled(key, [], "x").rexmit is None


def test_a_mean_far_off_counts_as_scatter_with_the_runs_that_are_as_far() -> None:
    key, values = "rto.table1.4.throughput_mbps", [0.4, 0.5, *(2.0 + k / 100 for k in range(48))]  # 0.50
    row = rows.sampled(key, values, "x")
    assert row.grade == "scatter"
    assert row.share == pytest.approx(2 / 50)
    # A mean that is not known is met by anything: that says no more than the scatter does.
    wild = rows.sampled(key, [0.0] * 39 + [100.0], "x")
    assert wild.mean is not None
    assert 0.5 in wild.mean
    assert wild.grade == "scatter"
    # A fitted row says nothing where it fits, and is not reproduced where it does not.
    assert rows.fitted(row).grade == "fitted"
    assert not rows.fitted(row).reproduced
    assert rows.fitted(rows.sampled(key, [3.0, 4.0], "x")).grade == "no"


def test_a_pattern_is_reproduced_where_most_runs_have_it() -> None:
    key = "interruption.sections.osx.intermittent"
    assert rows.shown(key, 51, 100, "x").grade == "scatter"
    assert rows.shown(key, 51, 100, "x").share == 0.51
    assert rows.shown(key, 50, 100, "x", "seldom").why == "Sometimes: seldom"
    assert rows.shown(key, 6, 100, "x", "seldom").why == "Sometimes: seldom"
    assert rows.shown(key, 5, 100, "x", "seldom").why == "seldom"
    assert not rows.shown(key, 0, 0, "x").reproduced


def test_a_statement_agrees_where_most_runs_show_it_and_a_reader_could_see_it() -> None:
    key = "selfsimilar.statement.fig4_newreno"
    assert rows.seen(key, 26, 50, "x").agrees is True
    assert rows.seen(key, 25, 50, "x").agrees is False
    assert rows.seen(key, 25, 50, "x").found == "x (sometimes: so in 25 of 50 runs)"
    assert rows.seen(key, 0, 0, "x").agrees is None
    assert rows.seen(key, 50, 50, "x", effect=(0.02, 0.01)).agrees is True
    small = rows.seen(key, 50, 50, "x", effect=(0.0003, 0.01))
    assert small.agrees is False
    assert small.found.endswith("by 0.03% on average, and less than 1% counts as no difference")


def pair(goodput: float, delay: float) -> list[Row]:
    """Two rows whose runs rise together, graded against figures of Table 2 moved to a place."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=100)
    both = [x, x + 0.1 * rng.normal(size=100)]
    keys = ("wireless.table2.sack.goodput", "wireless.table2.sack.delay_s")  # 0.916, 0.464114
    return [
        rows.sampled(key, printed + 0.01 * (values - at), "x", together="both")
        for key, printed, values, at in zip(keys, (0.916, 0.464114), both, (goodput, delay), strict=True)
    ]


def test_what_was_fitted_to_the_papers_value_is_not_fitted_with_the_users() -> None:
    axis = find(load("rto").axes, "fade", "20", "rto")
    assert axis is not None

    def grades() -> list[str]:
        keys = ("rto.table1.2.fer", "rto.table1.1.fer")
        return [rows.fitted(rows.sampled(key, [0.1, 0.15, 0.2], "of frames")).grade for key in keys]

    assert grades() == ["fitted", "fitted"]
    context = copy_context()
    context.run(CURRENT.set, Own(axes=(axis,)))
    # The fades are of test 2: what the others have is fitted still.
    assert context.run(grades) == ["scatter", "fitted"]


def test_an_effect_that_all_runs_have_alike_has_the_digits_of_an_effect() -> None:
    x = [4.16e-4, 4.16e-4 * (1 + 1e-9)]
    said = cells.effect(Test.mean("more", x, unit="Mbps"))
    assert said == "more: +0.000416 Mbps (0.000416 to 0.000416), n 2"
    assert cells.effect(Test.mean("more", [], unit="s")) == "more: not known, n 0"


def test_rows_that_stand_alone_may_not_stand_together() -> None:
    alike, apart = pair(1.0, 1.0), pair(1.0, -1.0)
    assert all(row.reproduced for row in alike + apart)
    (found,), (refused,) = together(alike), together(apart)
    assert found.reproduced is True
    assert refused.reproduced is False
    assert refused.share == 0
    told = [contradicted(row, [refused], []) for row in apart]
    assert [row.grade for row in told] == ["no", "no"]
    assert "0% of 100 runs are as far" in told[0].why
    assert [contradicted(row, [found], []).grade for row in alike] == [row.grade for row in alike]
    # Of a few runs nobody can say how they hang together.
    few = [replace(row, values=row.values[:10]) for row in apart]
    assert together(few)[0].reproduced is None


def test_groups_are_corrected_for_all_groups_of_the_study() -> None:
    (alone,) = together(pair(0.3, 0.05))
    assert alone.share is not None
    one = (alone.share * 100 + 1) / 101
    # By itself it is refused at 5%.
    assert 0.05 / 3 < one < 0.05
    assert (alone.reproduced, alone.p) == (False, pytest.approx(one))
    named = [replace(row, together=name) for name in ("a", "b", "c") for row in pair(1.0, 1.0)]
    fine = [row for row in named if row.together != "c"]
    among = together([*pair(0.3, 0.05), *fine])
    assert [group.name for group in among] == ["both", "a", "b"]
    assert among[0].p == pytest.approx(3 * one)
    assert [group.reproduced for group in among] == [True, True, True]
    # One that is far enough is refused among as many.
    assert together([*pair(1.0, -1.0), *fine])[0].reproduced is False


def test_runs_that_are_too_few_to_refuse_any_of_several_groups_decide_none() -> None:
    def of(runs: int, groups: int) -> list[bool | None]:
        each = [
            replace(row, values=row.values[:runs], together=str(k))
            for k in range(groups)
            for row in pair(1.0, -1.0)
        ]
        return [group.reproduced for group in together(each)]

    # The smallest p of 30 runs is 1 / 31.
    assert of(30, 1) == [False]
    assert of(30, 2) == [None, None]
    assert of(60, 2) == [False, False]


def test_figures_that_follow_from_one_another_do_so_in_printed_digits() -> None:
    """Two packets of 7,500 are 0.0267%, which the paper prints as 0.03."""
    lost = np.random.default_rng(3).integers(0, 5, 60)
    told = [
        rows.sampled("rto.table1.3.retransmissions", lost, "x", together="test 3"),
        rows.sampled("rto.table1.3.ip_loss_percent", 100 * lost / 7500, "x", together="test 3"),
    ]
    (found,) = together(told)
    assert found.keys == tuple(row.key for row in told)
    assert found.reproduced is True


def test_a_run_that_is_one_more_is_refused_about_once_in_twenty() -> None:
    rng = np.random.default_rng(2)
    shares = []
    for _ in range(200):
        runs = rng.normal(size=(51, 6)) @ rng.normal(size=(6, 6))
        shares.append(share_as_far(runs[:-1], runs[-1]))
    refused = sum((share * 50 + 1) / 51 <= 0.05 for share in shares)
    assert 2 <= refused <= 18
