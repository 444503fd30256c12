"""The study `selfsimilar`: a row for every figure, claims judged, and what its figures are made of."""

from __future__ import annotations

import tomllib
from contextvars import Context, copy_context
from typing import Any

import numpy as np
import pytest

from rexmit.stats import Test
from rexmit_studies import load, own, paper
from rexmit_studies.axes import find
from rexmit_studies.own import CURRENT, Own
from rexmit_studies.run import Outcome, run_each
from rexmit_studies.selfsimilar import hurst, readings, runs, statements, table2, traffic
from rexmit_studies.selfsimilar import load as load_part
from rexmit_studies.selfsimilar.windows import Shown
from rexmit_studies.study import Plan, Results
from studied import quick


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return quick("selfsimilar")


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
    # The paper's definition is taken over: it counts as nothing that came out.
    assert rows["selfsimilar.note.efficiency"].grade == "set"


def test_the_papers_efficiencies_follow_from_its_counts_and_vegas_has_more_acks_than_packets() -> None:
    printed = paper.figures("selfsimilar")
    for variant in runs.VARIANTS:
        column = {c: float(printed[f"selfsimilar.table2.{variant}.{c}"]) for c in table2.DEFINITIONS}
        whole = column["arrived"] + column["dropped"] + column["retransmitted"]
        # The paper cuts its digits off: 0.99909 is printed as 0.9991, 0.99864 as 0.9986.
        assert abs(column["arrived"] / whole - column["efficiency"]) < 1e-4
        assert (column["acks"] > column["arrived"]) is (variant == "vegas")


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
    window = np.full(len(time), 60.0)
    quiet = Shown(time, window, window / 2, np.full(len(time), 0.07), np.array([]))
    beside = Shown(time, window, window / 2, rtt, np.array([49.95, 70.0]))
    apart = Shown(time, window, window / 2, rtt, np.array([70.0]))
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


def test_poisson_traffic_is_smooth_at_large_scales_and_pareto_sources_are_not(results: Results) -> None:
    x = traffic._background(results)
    flat = traffic._poisson(x)
    assert np.allclose(traffic.swing(flat, 10.0) / traffic.swing(flat, 0.1), 0.1, atol=0.03)
    assert (traffic.swing(x, 10.0) / traffic.swing(x, 0.1) > 0.3).all()
    assert np.array_equal(flat, traffic._poisson(x))


def test_at_a_heavy_load_the_flow_does_not_keep_up(outcome: Outcome) -> None:
    (table,) = [t for s in outcome.sections for name, t in s.tables.items() if name == "throughput by load"]
    means = [float(cell.split()[0]) for cell in table["NewReno Mbps"][:3]]
    assert table["background"][:3] == ["10 sources", "38 sources", "80 sources"]
    assert means[0] > 6.4
    assert means[2] < 0.5 * means[0]


def test_a_radio_costs_vegas_most(outcome: Outcome) -> None:
    tables = {name: table for section in outcome.sections for name, table in section.tables.items()}
    table = tables["throughput over a radio"]
    last = {name: float(column[-1].split()[0]) for name, column in table.items() if name.endswith("Mbps")}
    assert min(last, key=last.__getitem__) == "Vegas Mbps"
    assert max(last, key=last.__getitem__) == "SACK Mbps"


def test_whether_the_flow_becomes_self_similar_is_judged_by_the_papers_way_and_against_a_control(
    outcome: Outcome,
) -> None:
    (judged,) = [j for j in outcome.claims if j.claim.key.endswith("tcp_becomes_selfsimilar")]
    assert judged.beside is not None
    assert judged.claim.tests[0].effect > 0.2 > judged.beside.claim.tests[0].effect


def test_a_background_of_tcp_can_have_ns2s_own_window() -> None:
    whole = readings._tcp(9, 20)
    (stack,) = [one for one in whole["stack"] if one["name"] == whole["flow"][1]["stack"]]
    assert stack["oneway"]["window"] == "20 packets"
    assert whole["flow"][1]["count"] == 9


def with_axis(name: str, value: str) -> Context:
    """A context in which the user has set one axis."""
    axis = find(load("selfsimilar").axes, name, value, "selfsimilar")
    assert axis is not None
    context = copy_context()
    context.run(CURRENT.set, Own(axes=(axis,)))
    return context


def test_a_difference_that_no_reader_could_see_speaks_for_nothing() -> None:
    theirs = np.array([6.20, 6.21, 6.19, 6.20])
    least = theirs - np.array([1e-4, 1.1e-4, 0.9e-4, 1e-4])
    much = np.array([1.0, 1.1, 0.9, 1.0])
    # A hundred bits per second less in each run are significant.
    assert Test.paired("ours less theirs", least, theirs).p < 0.05
    for run in (with_axis("stack", "linux-6-cubic").run, lambda call, *args: call(*args)):
        assert run(runs.less, "ours less theirs", least, theirs).p == 1
        assert run(runs.less, "ours less theirs", theirs - much, theirs).p < 0.05
        assert run(runs.less, "ours less theirs", theirs + much, theirs).p < 0.05


def test_those_within_a_percent_of_the_best_lead_together() -> None:
    found = {"tahoe": 5.10, "newreno": 6.44, "vegas": 6.45, "sack": 6.44}
    arrived = {variant: np.array([mean, mean]) for variant, mean in found.items()}
    assert load_part.leaders(arrived) == "NewReno, Vegas and SACK"
    assert load_part.leaders(arrived | {"vegas": np.array([7.0, 7.2])}) == "Vegas"


def test_the_control_has_the_mean_of_the_users_sources() -> None:
    """Exponential sources are compared with Pareto sources of the same rate, whatever the user sets."""

    def workload() -> dict[str, Any]:
        made = tomllib.loads(own.applied(load_part._exponential(), ["shape"]).to_toml())
        return next(dict(f["workload"]) for f in made["flow"] if f["name"] == "background")

    assert workload()["rate"] == "1Mbps"
    assert with_axis("source_rate", "0.5").run(workload)["rate"] == "500kbps"


def test_a_stack_of_the_users_is_called_by_its_name_wherever_it_stands_for_newreno() -> None:
    axis = find(load("selfsimilar").axes, "stack", "linux-6-cubic", "selfsimilar")
    assert axis is not None
    (outcome,) = run_each([(load("selfsimilar"), Own(axes=(axis,)))], quick=True)
    tables = [table for section in outcome.sections for table in section.tables.values()]
    assert [column for table in tables for column in table if "NewReno" in column] == []
    # What the paper itself says keeps its words.
    found = [one.found for one in outcome.statements] + [str(row.rexmit) for row in outcome.rows]
    found += [
        words for one in outcome.claims for words in (one.claim.evidence, *(t.what for t in one.claim.tests))
    ]
    assert [words for words in found if "newreno" in words.lower()] == []
    # A figure that is drawn later, by whoever has the outcome, finds the user's values too.
    (drawing,) = [one for one in outcome.drawings if one.name == "fig5-cwnd"]
    titles = [ax.get_title() or ax.get_title(loc="left") for ax in drawing.draw().fig.axes]
    assert titles == ["Tahoe", "linux-6-cubic", "Vegas", "SACK"]
    drawn = [ax.lines[0].get_xdata() for ax in drawing.draw().fig.axes]
    assert [x[-1] > 99 and (np.diff(x) >= 0).all() for x in drawn] == [True] * 4


def test_how_long_a_full_queue_makes_a_packet_wait_follows_the_users_queue() -> None:
    assert traffic.queued_ms() == pytest.approx(1.664)
    assert with_axis("queue", "1000").run(traffic.queued_ms) == pytest.approx(166.4)
    assert with_axis("rate", "10").run(traffic.queued_ms) == pytest.approx(8.32)
