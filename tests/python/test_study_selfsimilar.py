"""The study `selfsimilar`: a row for every figure, claims judged, and what its figures are made of."""

from __future__ import annotations

import numpy as np
import pytest

from rexmit.studies import load, paper, run
from rexmit.studies.run import Outcome
from rexmit.studies.selfsimilar import hurst, readings, runs, statements, table2
from rexmit.studies.selfsimilar.windows import Shown
from rexmit.studies.study import Plan, Results


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return next(iter(run.run([load("selfsimilar")], quick=True)))


@pytest.fixture(scope="module")
def results() -> Results:
    """Few runs, with the background, and alone."""
    import rexmit as rx

    found, plan = Results(), Plan(quick=True)
    load("selfsimilar").plan(plan)
    for name in ("runs", "alone"):
        batch = plan.batches[name]
        found[name] = rx.runs(batch.scenario, batch.seeds, **batch.options)
    return found


def test_every_figure_of_the_paper_has_a_row_and_every_claim_a_verdict(outcome: Outcome) -> None:
    assert outcome.failures == []
    assert outcome.left_out == []
    assert sorted(row.key for row in outcome.rows) == sorted(paper.figures("selfsimilar"))
    assert {j.claim.key for j in outcome.claims} == set(paper.claims("selfsimilar"))


def test_figures_are_drawn(outcome: Outcome) -> None:
    names = {d.name for d in outcome.drawings}
    assert {"fig4-throughput", "fig5-cwnd", "fig6-rtt", "fig7-retransmissions", "arrivals", "hurst"} <= names
    for drawing in outcome.drawings:
        assert drawing.draw().fig.axes


def test_parameters_are_what_the_paper_says(outcome: Outcome) -> None:
    rows = {row.key: row for row in outcome.rows}
    for name in ("bottleneck_mbps", "delay_ms", "queue_packets", "background_rate_kbps", "pareto_shape"):
        assert rows[f"selfsimilar.setup.{name}"].grade == "set"
    assert rows["selfsimilar.note.efficiency"].reproduced
    assert not rows["selfsimilar.note.impossible_as_printed"].reproduced


def test_all_variants_meet_the_same_background(results: Results) -> None:
    sent = runs.series(results, "sent_packets", "background")
    for k in range(1, len(runs.VARIANTS)):
        assert np.array_equal(sent[0], sent[k])
    assert not np.array_equal(sent[0, 0], sent[0, 1])
    # 38 sources, on half of the time, at 125 packets a second: 237,500 on average.
    assert 150_000 < sent[0].sum(axis=1).mean() < 330_000


def test_counts_add_up(results: Results) -> None:
    found = table2.counts(results)
    sent = runs.totals(results, "sent_packets")
    flying = sent - found["arrived"] - found["dropped"]
    assert (flying >= 0).all()
    assert (flying < 400).all()
    assert (found["acks"] <= found["arrived"]).all()


def test_newreno_carries_what_the_paper_says_and_vegas_is_not_the_lowest(results: Results) -> None:
    arrived = table2.counts(results)["arrived"]
    newreno, vegas = arrived[1], arrived[2]
    assert np.all(np.abs(newreno / 77_312 - 1) < 0.01)
    assert np.all(vegas > 70_000)


def test_alone_the_flow_has_nearly_the_same_hurst_parameter_and_is_a_constant_once_it_has_begun(
    results: Results,
) -> None:
    alone = hurst.of_flow(results, batch="alone")
    assert (alone > 0.7).all()
    x = runs.series(results, "arrived_packets", batch="alone")[:, 0, 300:]
    assert np.ptp(x, axis=1).max() <= 2


def test_bins_are_joined() -> None:
    x = np.arange(24.0).reshape(1, 1, 24)
    assert runs.longer(x, 10 * runs.BIN_S).tolist() == [[[45.0, 145.0]]]


def test_spikes_are_held_against_retransmissions() -> None:
    time = np.arange(0, 100, 0.01)
    rtt = np.where((time > 50) & (time < 50.1), 0.1, 0.07)
    quiet = Shown(time, np.full(len(time), 60.0), np.full(len(time), 0.07), np.array([]))
    beside = Shown(time, quiet.cwnd, rtt, np.array([49.95, 70.0]))
    apart = Shown(time, quiet.cwnd, rtt, np.array([70.0]))
    assert statements._spikes([{"tahoe": beside}]).agrees is True
    assert statements._spikes([{"tahoe": apart}]).agrees is False
    assert statements._spikes([{"tahoe": quiet}]).found.startswith("no spike")


def test_how_often_a_window_goes_back_to_one() -> None:
    assert statements._times_at_one(np.array([5.0, 1, 1.5, 3, 1, 2])) == 2
    assert statements._times_at_one(np.array([1.0, 2, 3])) == 1


def test_each_reading_is_judged_by_the_same_rows_and_claims(outcome: Outcome) -> None:
    section = next(s for s in outcome.sections if s.title == "What the paper leaves open")
    table = section.tables["the readings"]
    # Of a quick run, the study's own reading and one with TCP sources.
    assert table["reading"] == [readings.base(), "14 TCP sources"]
    assert all(cell.endswith("of 24") for cell in table["rows within"])
    assert set(table["vegas lowest"]) <= {"holds", "fails", "not decided"}
    # TCP sources hold the flow back, datagrams hardly do.
    beside = [float(cell.replace(",", "")) for cell in table["packets, NewReno"]]
    assert beside[1] < 0.95 * beside[0]


def test_sources_over_tcp_are_the_same_applications() -> None:
    whole = readings._tcp(14)
    load = whole["flow"][1]["workload"]
    assert whole["flow"][1]["count"] == 14
    assert "transport" not in whole["flow"][1]
    assert (load["rate"], load["shape"], load["on"], load["off"]) == ("1Mbps", 1.2, "500ms", "500ms")
