"""`rexmit fit` gives each profile of scenarios/profiles back from a capture at the sender of a run of it."""

from __future__ import annotations

from pathlib import Path

import pytest

import rexmit as rx
from conftest import DATA

PROFILES = Path(__file__).parents[2] / "scenarios" / "profiles"
#: Of each: rate (bps), base RTT (s), queue (packets) and the kind of its losses.
PATHS = {
    "geostationary": (25e6, 0.558, 580, "queue"),
    "leo-handover": (25e6, 0.04, 85, None),
    "lte-train": (10e6, 0.06, 150, "queue"),
    "wifi-roaming": (20e6, 0.02, 100, "queue"),
    "protection-switching": (50e6, 0.02, 83, "queue"),
    "bufferbloated-uplink": (5.4e6, 0.02, 100, "queue"),
    "policed-downlink": (None, 0.06, None, "policer"),
}
#: Outages, or times in which packets are held: their beat and their length, s.
INTERRUPTED = {
    "leo-handover": (15, 0.1, False),
    "lte-train": (8, 0.15, True),
    "wifi-roaming": (10, 0.3, False),
    "protection-switching": (None, 0.05, False),
}


def fitted(name: str) -> rx.Fit:
    return rx.fit(rx.run(PROFILES / f"{name}.toml", at="sender", tables=("rtt",)))


def test_each_profile_is_listed() -> None:
    assert sorted(path.stem for path in PROFILES.glob("*.toml")) == sorted(PATHS)


@pytest.mark.parametrize("name", sorted(PATHS))
def test_a_profile_is_given_back(name: str) -> None:
    found = fitted(name)
    rate, rtt, queue, kind = PATHS[name]
    values = found.values
    assert values["base_rtt"].value == pytest.approx(rtt, rel=0.05)
    if rate is None:
        assert values["rate"].at_least
    else:
        assert values["rate"].value == pytest.approx(rate, rel=0.05)
        assert values["queue"].value == pytest.approx(queue, rel=0.2)
    if kind is not None:
        assert found.losses.kind == kind
    if name == "policed-downlink":
        assert values["policer_rate"].value == pytest.approx(1.5e6, rel=0.05)
        assert values["bucket"].value == pytest.approx(100e3, rel=0.25)
    if name not in INTERRUPTED:
        assert not found.interruptions.outages
        assert not found.interruptions.held
        return
    beat, length, held = INTERRUPTED[name]
    spans = found.interruptions.held if held else found.interruptions.outages
    assert all(s.high is not None and s.low - 0.005 <= length <= s.high + 0.005 for s in spans)
    if beat is not None:
        assert values["outage_period"].value == pytest.approx(beat, rel=0.02)


def test_each_satellite_has_its_own_round_trip() -> None:
    steps = fitted("leo-handover").steps
    assert [round(start / 15) for start, _ in steps] == [0, 1, 2, 3]
    assert [rtt for _, rtt in steps] == pytest.approx([0.04, 0.07, 0.055, 0.08], abs=0.003)


@pytest.mark.parametrize("name", ["interruption", "A1_reno_22M_deep_200ms", "E2_reno_22M_tail10_x3"])
def test_a_queue_that_stands_behind_an_outage_is_no_longer_path(name: str) -> None:
    assert rx.fit(rx.capture(DATA / f"{name}.snd.pcap.gz")).steps == []


def test_a_sender_that_fills_the_queue_again_behind_an_outage_shows_one_base_rtt() -> None:
    run = rx.run(PROFILES.parent / "outage-50mbps.toml", at="sender", tables=("rtt",))
    assert rx.fit(run).steps == []


@pytest.mark.parametrize("name", ["bufferbloated-uplink", "policed-downlink", "protection-switching"])
def test_the_scenario_of_a_profile_takes_as_long_and_has_the_same_cause(name: str) -> None:
    missing = fitted(name).check(3).not_given_back
    assert not {"duration", "the cause"} & set(missing)
