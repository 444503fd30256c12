"""Two transfers side by side: what differs, in the order of what it costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rexmit as rx
from conftest import FakeCore
from rexmit.compared.differences import (
    Profile,
    _overlapping,
    between,
    episodes_cost,
    of_profiles,
    page,
    profile,
    verdict,
)

GOOD = Profile(
    name="good.pcap",
    sender="a:1",
    receiver="b:2",
    bytes=10_000_000,
    duration_s=8.0,
    throughput_bps=10e6,
    episodes=1,
    episodes_cost_s=0.5,
    lost=20,
    retransmitted=20,
    segments=7_000,
    needless=0,
    timeouts=0,
    idle_s={},
    idle_all_s=0.0,
    rtt_mean_s=0.04,
    rtt_min_s=0.03,
    window_max_bytes=450_000,
    flight_max_bytes=90_000,
)


def other(**changed: Any) -> Profile:
    return replace(GOOD, name="bad.pcap", **changed)


def test_differences_stand_in_the_order_of_their_cost() -> None:
    bad = other(
        duration_s=20.0,
        throughput_bps=4e6,
        episodes=9,
        episodes_cost_s=8.5,
        idle_s={"application": 3.0},
        timeouts=4,
    )
    found = of_profiles(GOOD, bad)
    assert [(d.what, d.cost_s) for d in found.differences if d.cost_s is not None] == [
        ("loss episodes", pytest.approx(8.0)),
        ("idle, nothing to send", pytest.approx(3.0)),
        ("rate while sending", pytest.approx(1.0)),
    ]
    assert sum(d.cost_s for d in found.differences if d.cost_s is not None) == pytest.approx(found.longer_s)
    assert verdict(found) == (
        "For 10.0 MB the second takes 12.0 s longer (2.50 times). "
        "8.00 s of it: loss episodes (1, 20 lost, 0 timeouts: 0.50 s against 9, 20 lost, 4 timeouts: 8.50 s)."
    )


def test_a_longer_file_alone_is_no_difference() -> None:
    bad = other(bytes=20_000_000, duration_s=16.0, episodes=2, episodes_cost_s=1.0)
    found = of_profiles(GOOD, bad)
    assert found.longer_s == pytest.approx(0)
    assert verdict(found) == "The two take the same time for 10.0 MB (within 2%)."
    assert all(abs(d.cost_s) < 1e-9 for d in found.differences if d.cost_s is not None)


def test_the_faster_one_is_named_whichever_stands_first() -> None:
    found = of_profiles(other(duration_s=20.0, throughput_bps=4e6), GOOD)
    assert verdict(found).startswith("For 10.0 MB the first takes 12.0 s longer (2.50 times).")


def test_what_explains_but_has_no_cost_comes_last_with_both_figures() -> None:
    found = of_profiles(GOOD, other(rtt_mean_s=0.4, rtt_min_s=0.03, window_max_bytes=55_488, needless=7))
    free = [(d.what, d.first, d.second) for d in found.differences if d.cost_s is None]
    assert free == [
        ("sent again needlessly", "0", "7"),
        ("RTT, mean", "40 ms, least 30 ms", "400 ms, least 30 ms"),
        ("receiver's window, largest", "450 kB", "55.5 kB"),
    ]


def test_an_unknown_cost_is_not_guessed() -> None:
    found = of_profiles(GOOD, other(episodes=3, episodes_cost_s=None, duration_s=20.0))
    episodes = next(d for d in found.differences if d.what == "loss episodes")
    assert episodes.cost_s is None
    assert episodes.second.endswith("cost unknown")


def test_where_one_cost_is_unknown_what_remains_adds_up_all_the_same() -> None:
    """Episodes of which one transfer shows the cost stand in the rates of both."""
    lossy = other(episodes=28, episodes_cost_s=None, duration_s=4.56, throughput_bps=17.5e6)
    dark = other(episodes=2, episodes_cost_s=1.91, duration_s=6.29, throughput_bps=12.7e6)
    for a, b in ((lossy, dark), (dark, lossy)):
        found = of_profiles(a, b)
        [whole] = [d for d in found.differences if d.cost_s is not None]
        assert whole.what == "rate, with the loss episodes in it"
        assert whole.cost_s == pytest.approx(found.longer_s)


def test_idle_gaps_inside_episodes_are_counted_once(core: FakeCore) -> None:
    flow = rx.capture("x.pcap").flows[0]
    found = profile(flow, "x")
    assert flow.frame("idle")["start"].size == 3
    assert found.idle_s == {}, "every gap of the story lies in an episode, whose cost has it"


def test_the_page_aligns_both_and_ends_with_where_to_look() -> None:
    found = of_profiles(GOOD, other(duration_s=20.0, throughput_bps=4e6), ["  look at  the network: x"])
    lines = page(found)
    assert lines[0].startswith("first   good.pcap: a:1 → b:2, 10.0 MB in 8.00 s, 10.0 Mbps")
    assert lines[-1] == "  look at  the network: x"
    head = next(line for line in lines if "what differs" in line)
    row = next(line for line in lines if line.startswith("  rate while sending"))
    assert head.index("costs") + 5 == len(row)
    assert row.endswith("+12.0 s")


def test_the_page_says_of_which_it_advises_where_the_first_is_the_slower() -> None:
    advice = ["  look at  the network: x"]
    slower, quicker = (page(of_profiles(GOOD, other(duration_s=s), advice)) for s in (6.0, 20.0))
    assert slower[-2:] == ["  of the first, which is the slower:", *advice]
    assert quicker[-2:] == ["", *advice]


def test_it_is_json_too() -> None:
    found = of_profiles(GOOD, other(duration_s=20.0))
    assert found.as_json()["longer_s"] == pytest.approx(12.0)
    assert {"what", "first", "second", "cost_s"} == set(found.as_json()["differences"][0])


def test_two_captures_are_compared_by_their_largest_flows(core: FakeCore) -> None:
    found = between(rx.capture("a.pcap"), rx.capture("b.pcap"))
    assert (found.first.name, found.second.name) == ("a.pcap", "b.pcap")
    assert found.longer_s == 0


def episode(**changed: Any) -> dict[str, Any]:
    return {"start": 0.2, "end": 7.5, "delivered_bytes": 100_000, "cost_s": None} | changed


def columns(*rows: dict[str, Any]) -> dict[str, Any]:
    """Rows as columns of a table, NaN where there is nothing."""
    return {key: np.array([row[key] for row in rows], dtype=float) for key in episode()}


def test_what_an_episode_of_unknown_cost_took_is_no_slow_sending() -> None:
    # An outage of 7.3 s in the first second: 8 s are left for 10 MB less what came meanwhile.
    row = {"start": 0.0, "duration_s": 15.3, "bytes": 10_000_000}
    cost = episodes_cost(columns(episode()), row, 0.0)
    assert cost == pytest.approx(7.3 - 100_000 / (9_900_000 / 8.0))
    found = of_profiles(
        other(duration_s=8.0, episodes=0, episodes_cost_s=0.0), other(duration_s=15.3, episodes_cost_s=cost)
    )
    assert found.differences[0].what == "loss episodes"
    assert found.differences[0].cost_s == pytest.approx(7.2, abs=0.1)
    assert sum(d.cost_s for d in found.differences if d.cost_s is not None) == pytest.approx(found.longer_s)


def test_an_episode_that_never_ended_lasts_to_the_end() -> None:
    row = {"start": 1.0, "duration_s": 10.0, "bytes": 1_000_000}
    open_end = episode(start=6.0, end=None, delivered_bytes=0)
    found = episodes_cost(columns(episode(start=2.0, end=3.0, cost_s=0.5), open_end), row, 0.5)
    assert found == pytest.approx(5.5)


def test_where_all_was_sent_in_an_episode_its_cost_is_not_told_from_the_rate() -> None:
    row = {"start": 0.0, "duration_s": 7.4, "bytes": 100_000}
    assert episodes_cost(columns(episode(start=0.0)), row, 0.0) is None
    found = of_profiles(GOOD, other(episodes_cost_s=None))
    assert "rate while sending" not in [d.what for d in found.differences]
    assert "rate, with the loss episodes in it" in [d.what for d in found.differences]


def test_a_flow_without_a_duration_has_no_rate_and_no_cost() -> None:
    # Two packets of one time stamp, the second of which repeats the first.
    row = {"start": 0.0, "duration_s": 0.0, "bytes": 24_616}
    for end, delivered in ((0.0, 0), (0.0, 24_616), (None, 0), (1.0, 0)):
        assert (
            episodes_cost(columns(episode(start=0.0, end=end, delivered_bytes=delivered)), row, 0.0) is None
        )
    still = other(duration_s=0.0, throughput_bps=0.0, episodes_cost_s=None)
    for a, b in ((still, still), (GOOD, still), (still, GOOD)):
        found = of_profiles(a, b)
        assert next(d for d in found.differences if d.what.startswith("rate"))
        assert page(found)
        assert "Gbps" not in verdict(found)
    assert [(d.first, d.second) for d in of_profiles(still, still).differences if "rate" in d.what] == [
        ("–", "–")
    ]


def test_gaps_in_episodes_are_told_from_those_outside(core: FakeCore) -> None:
    rng = np.random.default_rng(1)
    for seed in range(100):
        begins, gaps = np.sort(rng.uniform(0, 9, (2, seed % 12 + 1)))
        ends = begins + rng.exponential(0.5, len(begins))
        ends[rng.random(len(ends)) < 0.05] = np.nan
        episodes = {"start": begins, "end": ends}
        idle = {"start": gaps, "end": gaps + rng.exponential(0.3, len(gaps))}
        until = np.where(np.isnan(ends), np.inf, ends)
        every = [
            bool(((begins < end) & (until > start)).any())
            for start, end in zip(idle["start"], idle["end"], strict=True)
        ]
        assert _overlapping(idle, episodes).tolist() == every, f"seed {seed}"
