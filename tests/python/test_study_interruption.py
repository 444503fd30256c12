"""Study `interruption`: the sections of the figures, the ladders' packets, and what decides the kinds."""

from __future__ import annotations

from contextvars import Context, copy_context
from pathlib import Path

import numpy as np
import pytest

import rexmit as rx
from rexmit import stats
from rexmit_studies import load, paper
from rexmit_studies.axes import find
from rexmit_studies.interruption import (
    captures,
    exchange,
    ladders,
    lengths,
    osx,
    phases,
    readings,
    server,
    setups,
    shares,
)
from rexmit_studies.interruption.claims import alike_s, quickly_s
from rexmit_studies.interruption.sections import TABLES, numbered, of_runs, sections
from rexmit_studies.interruption.traces import ALL_46, Trace, run_all
from rexmit_studies.own import CURRENT, Own
from rexmit_studies.run import Outcome
from rexmit_studies.study import Results
from studied import quick


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return quick("interruption")


@pytest.fixture(scope="module")
def traces() -> dict[str, Trace]:
    return run_all()


def test_every_figure_of_the_paper_has_a_row(outcome: Outcome) -> None:
    keys = [row.key for row in outcome.rows]
    assert sorted(keys) == sorted(paper.figures("interruption"))
    assert all(row.grade != "no" or row.why for row in outcome.rows)


#: Kinds and numbers that come out otherwise, each with its reason; the interval of quick runs decides others.
NOT_THE_SAME = {
    "setup.wireless",
    "equipment.hardware",
    "advertised_window_bytes.linux",
    "advertised_window_bytes.windows7",
    "episode.reno_1.first_lost",
    "episode.reno_1.first_after",
    "episode.reno_1.first_sack_ack",
    "episode.reno_1.last_new_before_recovery",
    "episode.reno_1.next_segment",
    "episode.reno_4.lost_segments",
    "episode.reno_4.delivered_but_unacknowledged",
    "episode.osx_2.first_lost",
}


def test_what_is_not_the_same_is_known(outcome: Outcome) -> None:
    random = {"interruption.episode.osx_2.lost_segments", "interruption.episode.osx_2.duration_s_over"}
    found = {row.key for row in outcome.rows if row.grade == "no" and ".sections." not in row.key} - random
    assert found == {f"interruption.{key}" for key in NOT_THE_SAME}


def test_patterns_of_sections_are_counted_over_free_draws(outcome: Outcome) -> None:
    rows = [row for row in outcome.rows if ".sections." in row.key and "windows7" not in row.key]
    assert len(rows) == 8
    assert all(row.n == phases.QUICK and str(row.rexmit).endswith(f"of {phases.QUICK} runs") for row in rows)


def test_renos_sections_are_the_papers(traces: dict[str, Trace]) -> None:
    found = traces["reno"].sections
    assert numbered(found, "without") == (1, 2, 3)
    assert numbered(found, "with") == (4,)
    assert [s.outages for s in found] == [1, 1, 1, 1]
    assert found[0].lost == 88
    assert 57 <= found[3].lost <= 61
    # The fit: both sections begin less than a segment from where the paper's do.
    assert abs(found[0].first_lost - setups.FIT_FIRST_LOST) < setups.MSS
    assert abs(found[3].first_lost - setups.FIT_FOURTH_LOST) < setups.MSS
    # Not fitted: what is under way at the first repair, 450,328 bytes in the paper.
    assert abs(found[0].sent - found[0].first_lost - 450_328) <= setups.MSS


def test_losses_are_what_the_bridge_dropped(traces: dict[str, Trace]) -> None:
    """The sections rest on packets at both ends; the simulator's own record of drops agrees."""
    for name in ("reno", "osx", "windows7"):
        drops = traces[name].run.drops.to_arrow().to_pylist()
        data = [d for d in drops if d["payload_bytes"] and d["cause"] == "channel"]
        assert len(data) == int(traces[name].flow["lost_copies"])
        for s in traces[name].sections:
            mine = {d["seq"] for d in data if s.first_lost - 1 <= d["seq"] < s.hole_end - 1}
            assert len(mine) >= s.lost - 1


def test_fig9_one_repair_for_each_ack(traces: dict[str, Trace]) -> None:
    t = traces["reno"]
    s = t.sections[0]
    assert exchange.paced_by_acks(t, s) == 1.0
    sack = exchange.first_with_sack(t, s)
    assert sack is not None
    assert sack.end == s.first_lost
    assert sack.sack == ((s.hole_end, s.hole_end + setups.MSS),)
    assert s.hole_end - s.first_lost == 88 * setups.MSS


def test_fig10_timeout_dsack_two_new_then_sack(traces: dict[str, Trace]) -> None:
    t = traces["reno"]
    s = t.sections[3]
    assert s.lost_acks == 1
    assert exchange.opening(t, s) == ["timeout", "dsack", "new × 2", "duplicate", "resent"]


def test_fig11_the_papers_cycle(traces: dict[str, Trace]) -> None:
    t = traces[ALL_46]
    s = t.sections[0]
    assert (s.kind, s.lost, s.timeouts) == ("intermittent", 46, 46)
    assert s.length_s > 10
    assert exchange.cycle(t, s) == paper.figures("interruption")["interruption.episode.osx_2.cycle"]
    same, n = exchange.cycles(t, s)
    assert same == n == 45


def test_the_next_outage_ends_an_intermittent_section(traces: dict[str, Trace]) -> None:
    t = traces["osx"]
    slow = t.first("intermittent")
    assert slow is not None
    fired = [e for e in exchange.whole(t, slow) if e.what == "timeout"]
    # The last two are of one segment: the first of them met the outage.
    assert fired[-1].seq == fired[-2].seq
    down = setups.down(t.phase_s, t.period_s, 40.0)
    assert any(a <= fired[-2].at_s <= b for a, b in down)
    assert len({e.seq for e in fired}) == len(fired) - 1


@pytest.mark.parametrize(("detour_ms", "slow"), [(0, True), (97, True), (103, False), (200, False)])
def test_osx_switches_at_one_srtt(detour_ms: float, slow: bool) -> None:
    runs = rx.runs([osx.detour("osx-10.7", detour_ms, 3.1)], tables=osx.TABLES)
    (repair,) = osx._repairs(runs, [("osx-10.7", detour_ms, 3.1)])
    assert (repair.ratio < 1) is slow
    assert (repair.section.timeouts > 40) is slow


def test_windows_has_time_lags_only_and_compound_makes_no_difference(traces: dict[str, Trace]) -> None:
    plain, compound = (traces[name].sections for name in setups.WINDOWS)
    assert [s.kind for s in plain] == ["with"] * 4
    assert [(s.kind, s.lost, s.repair_s) for s in plain] == [(s.kind, s.lost, s.repair_s) for s in compound]


def test_what_is_under_way_decides() -> None:
    """Reno has a lag if the server offers less than the air carries in an outage, and none if more."""
    carried = setups.outage_bytes(5.2)
    windows = [int(0.9 * carried), int(1.2 * carried)]
    runs = rx.runs(
        [setups.setup("reno", {**setups.steady(5.2), **setups.server(w), **setups.BARE}) for w in windows],
        tables=TABLES,
    )
    small, large = of_runs(runs, [setups.FITTED_PHASE_S] * 2)
    assert small[0].kind == "with"
    assert small[0].beyond_bytes == 0
    assert large[0].kind == "without"
    assert large[0].beyond_bytes > 0
    # The sender had stopped all the same: a full window stops when the ACKs do.
    assert not large[0].still_sending


def test_with_timestamps_the_server_offers_two_or_three_times_what_is_under_way() -> None:
    """Twice what was read in what it takes for a round trip: a window's time, which is longer, counts too."""
    runs = rx.runs(
        [setups.setup("windows7", {**setups.BARE, **server.sender(b, True)}) for b in (65_536, 131_072)],
        tables=("flows",),
    )
    for flow in runs.table("flows").to_arrow().to_pylist():
        if flow["bytes"] > 1000:
            assert 2 <= flow["window_max_bytes"] / flow["flight_max_bytes"] <= 3


def test_a_card_with_buffers_of_16_kib_keeps_the_window_at_38_segments() -> None:
    """Fig. 7: 55,488 bytes, to the byte."""
    sizes = {name: setups.setup("windows7", {**setups.BARE, **server.card(size, False)})
             for name, size in server.CARDS.items()}  # fmt: skip
    flows = rx.runs(list(sizes.values()), tables=("flows",)).table("flows").to_arrow().to_pylist()
    most = [max(int(f["window_max_bytes"]) for f in flows if f["run"] == k) for k in range(len(sizes))]
    assert dict(zip(sizes, most, strict=True))["16 KiB"] == setups.FIG7_WINDOWS
    assert most == sorted(most, reverse=True)


def test_hystart_gives_cubic_a_lag_in_its_first_sections(traces: dict[str, Trace]) -> None:
    """Fig. 4; without it the window is as large as Reno's."""
    assert [s.kind for s in traces["cubic"].sections[:2]] == ["with", "with"]
    assert {s.kind for s in traces["cubic-plain"].sections} == {"without"}


def test_draws_are_spread_and_begin_alike() -> None:
    found = phases.draws(100)
    assert found[:5] == phases.draws(5)
    for column, (low, high) in ((0, (0.0, 5.0)), (1, phases.AIR_MBPS)):
        values = sorted(d[column] for d in found)
        gaps = [b - a for a, b in zip([low, *values], [*values, high], strict=True)]
        assert min(gaps) >= 0
        assert max(gaps) < 0.05 * (high - low)


def test_a_burst_behind_a_queue_belongs_to_the_outage_it_met() -> None:
    flow = {"flow": 0}
    episode = {"flow": 0, "number": 0, "start": 2.0, "first_repair": 3.31, "end": 4.0, "kind": "ack",
               "lost_segments": 80, "timeouts": 0, "flight_bytes": 1, "silence_s": 0.2,
               "sent_after_loss_bytes": 100, "max_backoff": 0}  # fmt: skip
    burst = {"flow": 0, "episode": 0, "start": 2.0, "first_repair": 3.31, "seq_start": 1, "seq_end": 81,
             "lost_acks": 1, "lost_segments": 80}  # fmt: skip
    (found,) = sections(flow, [episode], [burst], [], setups.down(3.1, 5.0, 20.0))
    assert (found.outages, found.kind) == (1, "without")
    assert found.back_s == pytest.approx(3.3)
    assert found.beyond_bytes == 20
    early = {**burst, "first_repair": 2.9}
    (none,) = sections(flow, [episode], [early], [], setups.down(3.1, 5.0, 20.0))
    assert none.outages == 0


def test_the_captured_transfer(outcome: Outcome) -> None:
    found = captures.read()
    assert found
    for real in found.values():
        met = [s for s in real.sections if s.outages]
        assert len(met) == 3
        assert {s.kind for s in met} == {"without"}
        assert all(88 <= s.in_a_row <= 92 for s in met if s.lost < 200)
        assert all(s.lag_s > 0 for s in met)
    assert any(drawing.name.startswith("captured-") for drawing in outcome.drawings)


def test_claims_and_drawings(outcome: Outcome, tmp_path: Path) -> None:
    verdicts = {judged.claim.key: judged.verdict for judged in outcome.claims}
    assert set(verdicts) == set(paper.claims("interruption"))
    # Whatever its size, the buffer is filled: a quick run decides this one.
    assert verdicts["interruption.claim.windows_limited"] == "fails"
    beside = {j.claim.key for j in outcome.claims if j.beside}
    assert beside == {"interruption.claim.lag_needs_small_window"}
    names = [drawing.name for drawing in outcome.drawings]
    assert len(names) == len(set(names))
    assert all(any(name.startswith(f"fig{n}-") for name in names) for n in range(2, 12))
    for drawing in outcome.drawings:
        if drawing.name in ("kinds-over-phases", "what-decides", "osx-switch", "fig7-windows"):
            assert drawing.draw().save(tmp_path / f"{drawing.name}.png").stat().st_size > 20_000


def test_the_ladders_show_as_many_losses_as_there_are(traces: dict[str, Trace]) -> None:
    for name, kind in (("reno", "without"), ("reno", "with"), ("osx", "intermittent")):
        t = traces[name]
        s = t.first(kind)
        assert s is not None
        steps = t.flow.exchange(t.episode(s)).steps
        lost = sum(step.segments for step in steps if step.lost and step.to_receiver)
        episode = next(e for e in t.flow.episodes() if float(e["start"]) == s.start_s)
        assert lost == episode["lost_copies"]


def test_a_transfer_that_did_not_end_costs_at_least_what_its_run_took() -> None:
    ended = phases.Transfer("osx", 3.1, 5.0, [], 20.0, 0)
    left = phases.Transfer("osx", 3.1, 5.0, [], None, 0)
    assert phases.unfinished([ended, left]) == 1
    assert left.cost_s != left.cost_s
    assert ended.least_cost_s == ended.cost_s
    # 120 s, of which 17.4 s carry the file at 5 Mbps, over the 24 outages from 3.1 s on.
    packets = -(-setups.FILE_BYTES // setups.MSS)
    assert left.least_cost_s == pytest.approx((120 - packets * 1500 * 8 / 5e6) / 24)


def test_a_graph_shows_the_outages_when_the_link_was_down(traces: dict[str, Trace]) -> None:
    """Not when what they took was sent, up to a second earlier (Fig. 2)."""
    bands = traces["reno"].graph().fig.axes[0].patches
    spans = sorted({round(b.get_x(), 3) for b in bands if b.get_gid() == "outage"})
    assert spans == [3.096, 8.096, 13.096, 18.096]
    assert traces["reno"].sections[0].start_s < 2.5


def test_no_section_is_silent_for_no_time_at_all(traces: dict[str, Trace]) -> None:
    """The paper's “no time lag”: its own kind of section has a silence as long as the outage."""
    silent = [s.repair_s - s.last_sent_s for s in traces["reno"].sections]
    assert all(0.2 < x < 0.21 for x in silent[:3])
    assert silent[3] > 0.3


def test_at_half_a_second_osx_has_the_papers_third_section() -> None:
    draws = lengths._draws(6)
    at = {length: [lengths._transfer("osx", *draw, length) for draw in draws] for length in (0.2, 0.5)}
    third = {}
    for length, scenarios in at.items():
        down = [setups.periodic(phase, lengths.period(length), length, 60.0) for phase, _ in draws]
        found = of_runs(rx.runs(scenarios, tables=TABLES), [phase for phase, _ in draws], down=down)
        third[length] = sum(3 in numbered(one, "with") for one in found)
    assert third == {0.2: 0, 0.5: 6}


def test_a_longer_outage_costs_more_beyond_its_length(outcome: Outcome) -> None:
    (judged,) = [j for j in outcome.claims if j.claim.key.endswith("other_lengths")]
    effects = [test.effect for test in judged.claim.tests]
    assert len(effects) == 4
    assert effects[0] > effects[2] > 0 > effects[3]


def test_long_outages_and_a_slow_air_get_the_time_that_their_transfers_need() -> None:
    study = load("interruption")
    assert setups.lasts() == 120

    def lasts(**values: float) -> float:
        axes = tuple(one for name, value in values.items() if (one := find(study.axes, name, f"{value}", "")))
        context = copy_context()
        context.run(CURRENT.set, Own(axes=axes))
        return context.run(setups.lasts)

    assert 120 < lasts(outage=500) < lasts(outage=5000) / 2
    # A timer of up to two minutes has to fire while the link is up, a third of the time.
    assert lasts(outage=10_000) > 1700
    assert lasts(rate=0.5) > 1000


def test_a_sweep_with_one_side_of_the_switch_says_no_number_that_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nan = float("nan")
    said = {}
    for found in ((0.98, 1.01), (nan, 4.01), (74.7, nan), (nan, nan)):
        monkeypatch.setattr(osx, "switch", lambda _, found=found: found)
        said[found] = osx.switch_said(Results())
    assert not any("nan" in text for text in said.values())
    assert "(seen at 0.98, not at 1.01)" in said[0.98, 1.01]
    assert "4.01 of SRTT at least" in said[nan, 4.01]


def test_a_table_of_few_transfers_has_no_number_that_is_none() -> None:
    assert shares._mean(stats.mean([])) == "none ended"
    assert shares._mean(stats.mean([8.05])) == "8.05, of one"
    assert shares._mean(stats.mean([8.0, 8.2])).startswith("8.10 ± ")


def test_without_an_intermittent_section_no_number_is_said() -> None:
    assert "nan" not in ladders._lasting(np.array([]), 0, 3)
    assert "median 12.0 s" in ladders._lasting(np.array([12.0, 8.0, 13.0]), 0, 3)


def with_axis(name: str, value: str) -> Context:
    """A context in which the user has set one axis."""
    axis = find(load("interruption").axes, name, value, "interruption")
    assert axis is not None
    context = copy_context()
    context.run(CURRENT.set, Own(axes=(axis,)))
    return context


def test_an_air_of_the_users_is_that_of_every_reading_and_of_every_text() -> None:
    mine = with_axis("rate", "8")
    names = mine.run(readings.readings)
    assert not [name for name in names if name.startswith(("5.2", "4.6", "4.2", "the air slowing"))]
    assert mine.run(lambda: setups.steady(5.2))[setups.AIR] == "8Mbps"
    assert mine.run(phases.drawn) == "draws of phase, the air at 8 Mbps"
    assert len(readings.readings()) == 10
    assert {readings.asked(True)[0], readings.asked(True)[1]} < set(readings.readings())
    assert set(mine.run(readings.asked, True)) < set(names)


def test_a_transfer_is_compared_with_one_in_segments_of_its_own_size() -> None:
    """Segments of 536 bytes have more headers: what they take longer is no cost of an outage."""
    whole = [phases.beyond_undisturbed_s(mss, 20.0, 4.7, [(3.1, 3.3)]) for mss in (1448, 536)]
    assert whole[0] - whole[1] == pytest.approx(10 * 2**20 * 8 / 4.7e6 * (576 / 536 - 1500 / 1448), abs=0.01)
    # Linux and Windows fill the same packet.
    assert setups.packet_bytes(1448) == setups.packet_bytes(1460) == 1500


def test_where_no_section_is_of_its_kind_a_ladder_is_left_out(traces: dict[str, Trace]) -> None:
    without = traces["reno"].sections[0]
    ladders.needs(without, "with")
    with pytest.raises(ValueError, match="no section"):
        with_axis("outage", "50").run(ladders.needs, without, "with")


def test_margins_and_words_follow_outages_that_the_user_lists() -> None:
    """Alike is within half an outage: of outages of 0.7 and 1.5 s, not of the paper's 200 ms."""
    context = copy_context()
    context.run(CURRENT.set, Own(outages=((2.0, 2.7), (11.0, 12.5)), schedule=setups.SCHEDULE))
    assert context.run(alike_s) == pytest.approx(0.55)
    assert context.run(quickly_s) == pytest.approx(1.1 + lengths.QUICKLY_S)
    assert context.run(phases.drawn) == "draws of air rate, the outages as given"
    assert context.run(phases.told_of_draws).startswith("the outages as given, air (4.2 to 5.2 Mbps)")
    assert phases.drawn() == "draws of phase and air rate"
