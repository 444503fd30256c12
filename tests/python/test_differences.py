"""Two transfers side by side: what differs, in the order of what it costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from conftest import DATA, FakeCore
from rexmit.compared.differences import Profile, between, of_profiles, page, profile, verdict

GOOD = Profile(
    name="good.pcap",
    sender="a:1",
    receiver="b:2",
    bytes=10_000_000,
    duration_s=8.0,
    throughput_bps=10e6,
    episodes=1,
    lost=20,
    retransmitted=20,
    segments=7_000,
    needless=0,
    timeouts=0,
    causes_s={"bottleneck": 7.0, "outage": 0.5},
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
        causes_s={"bottleneck": 7.0, "outage": 8.5, "sender-idle (client)": 3.0},
    )
    found = of_profiles(GOOD, bad)
    assert [(d.what, d.cost_s) for d in found.differences if d.cost_s is not None] == [
        ("outage", pytest.approx(8.0)),
        ("sender-idle (client)", pytest.approx(3.0)),
        ("none of these", pytest.approx(1.0)),
    ]
    assert sum(d.cost_s for d in found.differences if d.cost_s is not None) == pytest.approx(found.longer_s)
    assert verdict(found) == (
        "For 10.0 MB the second takes 12.0 s longer (2.50 times). "
        "8.00 s of it: outage (0.50 s against 8.50 s)."
    )


def test_a_longer_file_alone_is_no_difference() -> None:
    bad = other(bytes=20_000_000, duration_s=16.0, causes_s={"bottleneck": 14.0, "outage": 1.0})
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


def test_a_transfer_without_an_answer_is_compared_by_its_time_alone() -> None:
    """Of a live run that was not in time nothing is said."""
    bare = other(causes_s={})
    found = of_profiles(bare, replace(bare, duration_s=20.0))
    assert [(d.what, d.cost_s) for d in found.differences] == [("time", pytest.approx(12.0))]


def test_costs_of_real_captures_add_up_to_the_difference() -> None:
    found = between(
        *(
            rx.capture(DATA / f"{name}.snd.pcap.gz")
            for name in ("A1_reno_22M_deep_200ms", "E2_reno_22M_tail10_x3")
        )
    )
    costs = [d.cost_s for d in found.differences if d.cost_s is not None]
    # What differs by less than 0.2% of the time has no line.
    assert sum(costs) == pytest.approx(found.longer_s, abs=0.02 * found.second.duration_s)
    assert found.differences[0].what == "outage"
    assert "outage" in verdict(found)
    assert found.answer[0].split()[1] == "outage:"


@pytest.mark.parametrize("path", sorted((DATA / "cases").glob("*.pcap.gz")), ids=lambda path: path.stem)
def test_no_transfer_takes_less_time_than_its_causes(path: Path) -> None:
    capture = rx.capture(path)
    if largest := capture.flows.largest():
        assert profile(largest, path.name, largest.answer()).rest_s >= -1e-9


def test_the_page_aligns_both_and_ends_with_the_answer_of_the_slower() -> None:
    found = of_profiles(GOOD, other(duration_s=20.0, throughput_bps=4e6), ["  known    bottleneck: x"])
    lines = page(found)
    assert lines[0].startswith("first   good.pcap: a:1 → b:2, 10.0 MB in 8.00 s, 10.0 Mbps")
    assert lines[-1] == "  known    bottleneck: x"
    head = next(line for line in lines if "what differs" in line)
    row = next(line for line in lines if line.startswith("  none of these"))
    assert head.index("costs") + 5 == len(row)
    assert row.endswith("+12.0 s")


def test_the_page_says_of_which_the_answer_is() -> None:
    answer = ["  known    bottleneck: x"]
    slower, quicker = (page(of_profiles(GOOD, other(duration_s=s), answer)) for s in (6.0, 20.0))
    assert slower[-2:] == ["  where the time of the first went", *answer]
    assert quicker[-2:] == ["  where the time of the second went", *answer]


def test_it_is_json_too() -> None:
    found = of_profiles(GOOD, other(duration_s=20.0))
    assert found.as_json()["longer_s"] == pytest.approx(12.0)
    assert {"what", "first", "second", "cost_s"} == set(found.as_json()["differences"][0])


def test_two_captures_are_compared_by_their_largest_flows(core: FakeCore) -> None:
    found = between(rx.capture("a.pcap"), rx.capture("b.pcap"))
    assert (found.first.name, found.second.name) == ("a.pcap", "b.pcap")
    assert found.longer_s == 0


def test_a_flow_without_a_duration_has_no_rate_and_no_cost() -> None:
    # Two packets of one time stamp, the second of which repeats the first.
    still = other(duration_s=0.0, throughput_bps=0.0, causes_s={})
    for a, b in ((still, still), (GOOD, still), (still, GOOD)):
        found = of_profiles(a, b)
        assert page(found)
        assert "Gbps" not in verdict(found)
    assert not of_profiles(still, still).differences
