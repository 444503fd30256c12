"""Study `rto`: the fitted channel, idle times, Table II, and that every figure and claim is answered."""

from __future__ import annotations

from contextvars import Context, copy_context
from typing import Any

import numpy as np
import pytest

import rexmit as rx
from rexmit.frame import Frame
from rexmit.running.many_runs import runs
from rexmit_studies import load, own, paper
from rexmit_studies.axes import find
from rexmit_studies.own import CURRENT, Own
from rexmit_studies.rto import fades, gaps, setting, table1, table2, timer
from rexmit_studies.rto.channel import Channel, beyond, excess, fit
from rexmit_studies.rto.measured import Sample, samples
from rexmit_studies.rto.setting import CURED, PAPERS, SAFE, SEGMENTS, TESTS, channels, transfer, variants
from rexmit_studies.rto.timer import rank_correlation
from rexmit_studies.run import Outcome
from rexmit_studies.study import Results
from studied import quick


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return quick("rto")


def test_every_figure_and_claim_of_the_paper_has_its_answer(outcome: Outcome) -> None:
    assert sorted(row.key for row in outcome.rows) == sorted(paper.figures("rto"))
    assert sorted(judged.claim.key for judged in outcome.claims) == sorted(paper.claims("rto"))


def test_every_figure_is_drawn(outcome: Outcome) -> None:
    names = [drawing.name for drawing in outcome.drawings]
    assert len(set(names)) == len(names) == 8
    for drawing in outcome.drawings:
        assert drawing.draw().fig.axes, drawing.name


def test_table_2_is_the_papers_line_by_line(outcome: Outcome) -> None:
    rows = [row for row in outcome.rows if row.key.startswith(("rto.table2.", "rto.formula."))]
    assert len(rows) == 8 * 8  # no ssthresh in the first line, and the formula
    # The script's ACKs are chosen: that the table comes out shows the stack's arithmetic, and no transfer.
    assert {row.grade for row in rows} == {"fitted"}


@pytest.mark.parametrize(("stack", "remains", "waits_s"), [(PAPERS, True, 57.6), (CURED, False, 3.6)])
def test_one_more_loss_waits_a_minute_and_four_seconds_with_the_cure(
    stack: str, remains: bool, waits_s: float
) -> None:
    survived, waited = table2.survives(stack)
    assert survived == remains
    assert waited == pytest.approx(waits_s, abs=0.1)


def bursts_of(channel: Channel, frames: int, seed: int) -> tuple[np.ndarray[Any, Any], float]:
    """The bursts of a channel that is simulated frame by frame, and its error rate."""
    random = np.random.default_rng(seed)
    change, hit = random.random(frames), random.random(frames)
    bad, errors = False, np.empty(frames, dtype=bool)
    for k in range(frames):
        bad ^= bool(change[k] < (channel.bad_to_good if bad else channel.good_to_bad))
        errors[k] = bad or hit[k] < channel.loss_good
    edges = np.flatnonzero(np.diff(np.concatenate([[0], errors.view(np.int8), [0]])))
    return edges[1::2] - edges[::2], float(errors.mean())


def test_the_law_of_bursts_is_that_of_the_channel_simulated_frame_by_frame() -> None:
    channel = Channel(0.01, 0.15, 0.07)
    bursts, rate = bursts_of(channel, 400_000, seed=5)
    assert rate == pytest.approx(channel.frame_error_rate, rel=0.03)
    assert bursts.mean() == pytest.approx(channel.mean_burst, rel=0.03)
    longer = beyond(channel, 12)
    for k in (1, 3, 12):
        expected = len(bursts) * longer[k]
        assert (bursts > k).sum() == pytest.approx(expected, abs=5 * expected**0.5)


def test_the_longest_burst_is_that_of_many_transfers() -> None:
    channel = Channel(0.01, 0.15, 0.07)
    middle, low, high = channel.longest(7500)
    longest = [bursts_of(channel, 8700, seed)[0].max() for seed in range(60)]
    assert abs(np.median(longest) - middle) <= 3
    assert np.mean([low <= one <= high for one in longest]) > 0.85


@pytest.mark.parametrize("test", TESTS)
def test_a_fit_meets_error_rate_and_mean_burst_exactly_and_the_longest_in_the_middle(test: int) -> None:
    figures: Any = paper.figures("rto")
    row, found = f"rto.table1.{test}", channels()[test]
    assert found.frame_error_rate == pytest.approx(figures[f"{row}.fer"], rel=1e-9)
    assert found.mean_burst == pytest.approx(figures[f"{row}.avg_error_frame_burst"], rel=1e-9)
    longest = int(figures[f"{row}.max_error_frame_burst"])
    assert found.longest(SEGMENTS)[0] == longest
    assert excess(found, longest, SEGMENTS) == pytest.approx(0, abs=1e-6)


def test_a_fit_finds_the_channel_whose_figures_it_is_given() -> None:
    channel = Channel(0.012, 0.13, 0.05)
    longest = channel.longest(50_000)[0]
    found = fit(channel.frame_error_rate, channel.mean_burst, longest, 50_000)
    assert found.bad_to_good == pytest.approx(channel.bad_to_good, rel=0.05)
    assert found.good_to_bad == pytest.approx(channel.good_to_bad, rel=0.08)
    assert found.loss_good == pytest.approx(channel.loss_good, rel=0.05)


def test_bursts_shorter_than_independent_errors_have_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter than independent errors"):
        fit(0.3, 1.2, 5, 7500)


def test_the_scenario_that_ships_is_test_2() -> None:
    import tomllib

    from rexmit_studies import scenario

    channel = tomllib.loads(scenario("rto").read_text())["link"][0]["channel"][0]
    fitted = channels()[2]
    for key in ("good_to_bad", "bad_to_good", "loss_good"):
        assert channel[key] == pytest.approx(getattr(fitted, key), rel=1e-4)


def test_a_run_meets_the_error_rate_that_was_fitted() -> None:
    found = samples(runs(transfer(channels()[2].spec()), range(1, 13), tables=("flows", "idle")))[0]
    assert np.mean(found["fer"]) == pytest.approx(0.157, rel=0.06)
    assert np.mean(found["avg_error_frame_burst"]) == pytest.approx(2.4, rel=0.08)
    assert 20 < np.median(found["max_error_frame_burst"]) < 70


def test_safe_acks_are_never_lost_and_data_is_as_before() -> None:
    safe = variants(2)[SAFE]
    batch = runs([transfer(channels()[2].spec()), safe], range(1, 7))
    links = batch.links.to_arrow().to_pylist()
    lost = {(row["variant"], row["direction"]): 0 for row in links}
    for row in links:
        lost[row["variant"], row["direction"]] += row["lost"]
    assert lost[0, "back"] > 0
    assert lost[1, "back"] == 0
    assert lost[1, "forward"] > 0


def gapped(lengths: list[list[float]]) -> Sample:
    sample = Sample({"throughput_mbps": np.zeros(len(lengths))})
    sample.gap_run = np.repeat(np.arange(len(lengths)), [len(one) for one in lengths])
    sample.gap_s = np.array([length for one in lengths for length in one])
    return sample


def test_the_threshold_is_where_gaps_add_up_to_the_total() -> None:
    sample = gapped([[0.4, 0.3, 0.02, 0.01], [0.5, 0.2, 0.03]])
    assert gaps.fit(sample, 0.7).s == pytest.approx(0.2)
    total, largest = sample.idle(0.1)
    assert total.tolist() == pytest.approx([0.7, 0.7])
    assert largest.tolist() == [0.4, 0.5]
    assert gaps.curve(sample, np.array([0.1, 0.25])).tolist() == pytest.approx([0.7, 0.6])


def test_rank_correlation_is_spearmans() -> None:
    from scipy.stats import spearmanr

    random = np.random.default_rng(1)
    x = random.normal(size=50)
    y = x**3 + random.normal(size=50)
    assert rank_correlation(x, y) == pytest.approx(spearmanr(x, y).statistic)


def test_a_shared_state_hits_both_directions_alike() -> None:
    """A channel in time has one state for the link: while it is bad neither data nor ACKs pass."""
    one = setting.readings(2, setting.PAPERS)[setting.SHARED].with_(
        {"link.air.channel.walker.loss_good": 0.0, "record.drops": True, "link.air.arq.tries": 1}
    )
    drops = Frame(rx.run(one, seed=1, tables=("drops",)).drops)
    forward, back = (drops["time"][drops.equals("direction", way)] for way in ("forward", "back"))
    assert len(forward) > 5
    assert len(back) > 0
    # Every ACK is lost within a second of a data frame that is: in the same fade.
    assert all(np.abs(forward - at).min() < 3.0 for at in back)


def test_the_papers_own_trace_says_what_the_defect_cost() -> None:
    assert timer.of_paper().startswith("57.4 of the 102.2 s of idle time in test 2 were this defect")
    assert "1.34 Mbps instead of 0.71" in timer.of_paper()


@pytest.mark.parametrize(("test", "lengths"), fades.LENGTHS.items())
def test_two_kinds_of_fade_meet_rate_and_mean_burst_exactly(test: int, lengths: tuple[float, float]) -> None:
    found = fades.fitted(test)
    printed = paper.figures("rto")
    rate, mean = (printed[f"rto.table1.{test}.{key}"] for key in ("fer", "avg_error_frame_burst"))
    assert found.lengths == lengths
    assert found.frame_error_rate == pytest.approx(rate)
    assert found.frame_error_rate / ((1 - found.frame_error_rate) * found.burst_begins) == pytest.approx(mean)


def test_the_other_radio_is_faster_and_its_idle_time_no_shorter(outcome: Outcome) -> None:
    tables = {name: table for section in outcome.sections for name, table in section.tables.items()}
    table = tables["the same fades over either radio"]
    clean = [float(cell) for cell in table["without errors (Mbps)"]]
    assert table["radio"] == ["802.11b at 11 Mbps", "802.11g at 54 Mbps"] * 2
    # 802.11g carries 24 to 25 Mbps of TCP payload, five times what 802.11b does.
    assert clean[0] == pytest.approx(4.89, abs=0.01)
    assert 24 < clean[1] < 26


def test_nagles_algorithm_is_not_what_holds_new_data(outcome: Outcome) -> None:
    (said,) = [one for one in outcome.statements if one.key == "rto.statement.loss_state"]
    assert said.agrees is False
    assert "in the loss state 0 new segments are sent" in said.found
    scripted = {one.key for one in outcome.statements if one.scripted}
    assert scripted == {"rto.statement.fig2_order", "rto.statement.fig2_silence"}


def with_axis(name: str, value: str) -> Context:
    """A context in which the user has set one axis."""
    axis = find(load("rto").axes, name, value, "rto")
    assert axis is not None
    context = copy_context()
    context.run(CURRENT.set, Own(axes=(axis,)))
    return context


def test_poor_throughput_is_poor_beside_what_the_users_radio_carries() -> None:
    """At 1 Mbps every transfer is below the paper's 1 Mbps, which is a fifth of what its radio carries."""
    papers = Results({"clean": runs(transfer(None), [1], tables=("flows",))})
    assert timer.level_mbps(papers, timer.POOR_MBPS) == 1.0
    mine = with_axis("rate", "1")
    at_1_mbps = mine.run(lambda: own.applied(transfer(None)))
    slow = Results({"clean": runs(at_1_mbps, [1], tables=("flows",))})
    assert 0.1 < mine.run(timer.level_mbps, slow, timer.POOR_MBPS) < 0.25
    # Were the rate the paper's, so would the level be.
    same = with_axis("rate", "11").run(timer.level_mbps, papers, timer.POOR_MBPS)
    assert same == pytest.approx(1.0, abs=0.005)


def test_fades_that_the_user_sets_are_fitted_to_nothing() -> None:
    column = next(one for one in table1.COLUMNS if one.key == "fer")
    assert table1._definition(2, column).endswith(table1.FITS)
    mine = with_axis("fade", "20").run
    assert not mine(table1._definition, 2, column).endswith(table1.FITS)
    assert mine(table1._definition, 4, column).endswith(table1.FITS)
