"""Study `wireless`: the traces to the packet, the tables where ns-2 has them, the verdicts' direction."""

from __future__ import annotations

from contextvars import copy_context

import numpy as np
import pytest

import rexmit as rx
from rexmit import stats
from rexmit_studies import load, paper, scenario
from rexmit_studies.axes import find
from rexmit_studies.own import CURRENT, Own
from rexmit_studies.run import Outcome, run
from rexmit_studies.study import Missing, Results
from rexmit_studies.wireless import against_ns2, both, errors, proposal, statements, trace, uptime
from rexmit_studies.wireless.measures import (
    VARIANTS,
    counts,
    durations,
    random_outages,
    run_delays,
    transfer,
)
from rexmit_studies.wireless.measures import load as load_scenario
from rexmit_studies.wireless.statements import _rises
from studied import quick


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return quick("wireless")


@pytest.fixture(scope="module")
def alike() -> dict[str, trace.Trace]:
    return trace.alike()


def test_every_figure_of_the_paper_has_a_row(outcome: Outcome) -> None:
    assert sorted(row.key for row in outcome.rows) == sorted(paper.figures("wireless"))


def test_every_claim_is_judged(outcome: Outcome) -> None:
    assert sorted(judged.claim.key for judged in outcome.claims) == sorted(paper.claims("wireless"))


def test_all_that_is_deterministic_is_the_papers_to_the_digit(outcome: Outcome) -> None:
    rows = {row.key: row for row in outcome.rows}
    exact = [row for key, row in rows.items() if key.startswith("wireless.trace.")]
    assert len(exact) == 10
    assert all(row.reproduced for row in exact)


def test_the_disconnections_take_the_packets_that_the_paper_names(alike: dict[str, trace.Trace]) -> None:
    for found in alike.values():
        first, second = trace.loss(found, 0), trace.loss(found, 1)
        assert (first.acks, first.packets, first.unseen) == ((187, 196), (197, 233), (234, 236))
        assert (second.acks, second.packets) == ((304, 313), (314, 329))
        at, resent = trace.first_timeout(found)
        assert (round(at, 4), resent) == (4.1051, 187)
        assert trace.slow_start(found) == (0, 112)


def test_the_four_variants_do_not_differ_without_duplicate_acks(alike: dict[str, trace.Trace]) -> None:
    assert len({found.events() for found in alike.values()}) == 1
    assert all(found.fast == 0 for found in alike.values())


def test_with_the_ssthresh_of_the_text_other_packets_are_lost() -> None:
    assert trace.loss(trace.trace("tahoe", *trace.FIG5, ssthresh=32), 0).packets != (197, 233)


def test_a_timer_that_fires_into_a_long_disconnection_sends_no_new_packet() -> None:
    found = trace.trace("tahoe", 4, 1)
    second = trace.loss(found, 1)
    assert second.at == 9
    # The timer sends packet 567 again at 9.6 s, while the link is down.
    assert found.timeouts[0][-1] > 9
    assert second.unseen is not None
    assert second.unseen[0] > second.packets[1]
    long = trace.trace("tahoe", 3, 5, lasts_s=24)
    assert trace.first_timeout(long)[0] < 8 < trace.first_timeout(long, 8)[0]


def test_a_bit_error_rate_that_table_1_does_not_have_is_said_beside_it() -> None:
    study = load("wireless")
    axis = find(study.axes, "ber", "3e-6", "wireless")
    assert axis is not None
    (found,) = run([study], quick=True, own=Own(axes=(axis,)))
    (table1,) = [section for section in found.sections if section.title.startswith("Table 1")]
    assert table1.text.startswith("With your bit error rate of 3e-06, which Table 1 does not have,")
    assert table1.text in " ".join(" ".join(found.page().split()).split())
    assert all(section.text == "" for section in found.sections if section is not table1)


def test_a_loss_with_a_gap_is_none() -> None:
    with pytest.raises(ValueError, match="no run"):
        trace._ends(np.array([1.0, 2.0, 4.0]))


def test_one_packet_bad_periods_give_table_1_and_those_printed_do_not() -> None:
    near = [rx.Scenario.load(scenario("wireless-ber")).with_(errors.channel("1e-5", r)) for r in errors.BAD]
    one, printed = counts(rx.runs(near, range(40)))
    mean, half, _ = against_ns2.TABLE1["1e-5", "throughput_packets_s"]
    # Standard deviation 2.7 packets/s a run, both here and in ns-2.
    assert abs(one.throughput.mean() - mean) < 4 * np.hypot(2.7 / np.sqrt(40), half / 1.96)
    assert printed.throughput.mean() < 10


def test_the_means_are_those_of_ns2(outcome: Outcome) -> None:
    table = next(s.tables["against ns-2"] for s in outcome.sections if "against ns-2" in s.tables)
    assert len(table["case"]) == 20
    assert max(abs(apart) for apart in table["apart"]) < 5


def test_a_file_is_through_when_its_last_ack_is_there() -> None:
    keys = random_outages(1e6, 1.0) | transfer(5000, 100)
    (took,) = durations(rx.runs(load_scenario("wireless-outage", keys), [1]))
    # 5000 packets at 0.8 Mbps, and before them the round trips of slow start.
    assert took[0] == pytest.approx(52.290, abs=5e-4)


def test_delays_of_a_run_by_hand() -> None:
    # Packets 0 and 1 leave at 0 s; at 1 s one ACK covers both, and 2 leaves; its ACK comes at 3 s.
    own, any_ack = run_delays(np.array([0.0, 1.0, 3.0]), np.array([0, 2, 3]), np.array([2, 3, 3]))
    assert own == pytest.approx((1.0 + 2.0) / 2)
    assert any_ack == pytest.approx((1.0 + 1.0 + 2.0) / 3)


def test_a_resent_packet_counts_from_its_first_sending() -> None:
    # The timer takes SND.NXT back at 2 s.
    own, any_ack = run_delays(np.array([0.0, 2.0, 2.5, 4.0]), np.array([0, 0, 1, 2]), np.array([2, 1, 2, 2]))
    assert own == any_ack == pytest.approx((2.5 + 4.0) / 2)


def test_the_papers_order() -> None:
    assert [VARIANTS[k] for k in both.paper_order("throughput_packets_s")] == [
        "reno",
        "newreno",
        "sack",
        "tahoe",
    ]
    assert [VARIANTS[k] for k in both.paper_order("transfer_time_s")] == ["reno", "tahoe", "newreno", "sack"]


def test_lines_that_do_not_cross_are_said_not_to() -> None:
    nan = float("nan")
    assert uptime.crossing_said(stats.Estimate(nan, nan, nan, 4)).startswith("the means do not cross between")
    assert (
        uptime.crossing_said(stats.Estimate(2.45, 2.31, 2.59, 4))
        == "the means cross at 2.45 s (2.31 to 2.59)"
    )
    assert uptime.crossing_said(stats.Estimate(2.45, nan, 2.59, 4)) == "the means cross at 2.45 s"


def test_the_crossing_is_where_the_line_passes_the_level() -> None:
    line = np.array([*range(1, len(uptime.UPS) + 1), 2.5], dtype=float)
    assert uptime._crossing(line) == pytest.approx((uptime.UPS[1] + uptime.UPS[2]) / 2)


def test_the_proposal_changes_what_follows_a_timeout_and_nothing_else() -> None:
    before, after = (
        proposal._scenario((2.0, 0.3), "1s", "newreno", each).to_toml() for each in proposal.AFTER
    )
    changed = [
        pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]
    ]
    assert changed == [('after_timeout = "go-back-n"', 'after_timeout = "fast-recovery"')]


def test_the_proposal_helps_where_the_link_comes_and_goes() -> None:
    points = [proposal._scenario((2.0, 0.3), "1s", "reno", after) for after in proposal.AFTER]
    without, with_it = counts(rx.runs(points, range(30)))
    assert with_it.delivered.mean() > 1.2 * without.delivered.mean()


def test_figures_are_drawn(outcome: Outcome) -> None:
    names = [drawing.name for drawing in outcome.drawings]
    assert names == [
        "fig2",
        "fig3",
        "fig4",
        "fig4-variants",
        "fig5",
        "fig6",
        "fig7",
        "fig8",
        "minutes",
        "table2",
        "proposal",
    ]
    for drawing in outcome.drawings:
        assert drawing.draw().name == drawing.name


def test_what_the_paper_says_of_its_traces_is_judged_on_ours(outcome: Outcome) -> None:
    agrees = {one.key.removeprefix("wireless.statement."): one.agrees for one in outcome.statements}
    exact = [
        f"fig{name}"
        for name in ("2_short", "3_better", "5_exponential", "5_waits", "5_again", "6_to_8_alike")
    ]
    assert all(agrees[name] for name in exact)
    # Every transfer of 52 s meets disconnections if the link stays up for 5 s on average.
    assert agrees["fig4_transfer_constant"] is False


def test_a_line_rises_if_no_step_of_it_surely_falls() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(3, 50))
    assert _rises([at + one for at, one in zip((0.0, 2.0, 1.9), noise, strict=True)])
    assert not _rises([at + one for at, one in zip((0.0, 4.0, 2.0), noise, strict=True)])
    assert not _rises([at + one for at, one in zip((0.0, 0.0, 0.0), 10 * noise, strict=True)])


def test_table_1_ran_for_a_length_over_which_its_throughputs_are_counts() -> None:
    printed = paper.figures("wireless")
    for ber in errors.GOOD:
        count = printed[f"wireless.table1.ber_{ber}.throughput_packets_s"] * errors.SECONDS
        assert abs(count - round(count)) < 1e-6
    shorter = printed["wireless.table1.ber_1e-5.throughput_packets_s"] * errors.SHORTER_S
    assert abs(shorter - round(shorter)) > 0.1


def test_on_a_wire_reno_is_slow_and_sack_fast_with_several_drops(outcome: Outcome) -> None:
    """Fall and Floyd's result: the timer has to help Reno out, and Sack needs one round trip."""
    (table,) = [t for s in outcome.sections for name, t in s.tables.items() if name.startswith("on a wire")]
    reno, sack = ([float(cell.split()[0]) for cell in table[f"{who} s"]] for who in ("Reno", "Sack"))
    assert reno[0] == sack[0]
    assert all(r > 5 * s for r, s in zip(reno[1:], sack[1:], strict=True))
    agrees = {one.key.rpartition(".")[2]: one.agrees for one in outcome.statements}
    assert agrees["wired_reno"] is agrees["wired_sack"] is agrees["long_outages"] is True
    # The paper's formula lacks its half.
    assert agrees["fig5_ssthresh"] is False


def test_a_longer_disconnection_costs_more_beyond_it(outcome: Outcome) -> None:
    (table,) = [t for s in outcome.sections for name, t in s.tables.items() if name == "one disconnection"]
    costs = [float(cell.split()[0]) for cell in table["cost beyond it, mean s"]]
    fired = [float(cell) for cell in table["timeouts, mean"]]
    assert costs == sorted(costs)
    assert fired == sorted(fired)
    assert fired[-1] >= 5


def test_disconnections_against_bit_errors_have_two_readings(outcome: Outcome) -> None:
    (judged,) = [j for j in outcome.claims if j.claim.key.endswith("disconnection_over_ber")]
    assert judged.beside is not None
    assert judged.claim.tests[0].effect > 0 > judged.beside.claim.tests[0].effect


def test_disconnections_that_the_user_lists_take_the_place_of_every_cycle() -> None:
    """Figs. 2 and 3 compare two cycles; with a list both runs have the same disconnections."""
    context = copy_context()
    context.run(CURRENT.set, Own(outages=((2.0, 2.7), (6.0, 6.5)), schedule=trace.SCHEDULE))
    assert [type(one) for one in context.run(lambda: list(statements.of_cycles(Results())))] == [Missing] * 2
    found = context.run(trace.trace, "tahoe", *trace.FIG5)
    assert context.run(trace.gone, found) == [(2.0, 2.7), (6.0, 6.5)]
    assert context.run(trace.loss, found, 0).at == pytest.approx(2.0, abs=0.05)
    waits = context.run(statements._waits, found)
    assert "between 2.7 s and" in waits.found
    # Drawn at random they are known to nobody.
    at_random = copy_context()
    at_random.run(CURRENT.set, Own(((f"{trace.SCHEDULE}.up", "3s"), (f"{trace.SCHEDULE}.down", "1s"))))
    with pytest.raises(ValueError, match="the schedule of the user"):
        at_random.run(trace.gone, found)
