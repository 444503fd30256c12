"""A rule in Python that drives the sender: the twin of BBR gives the same runs as the one in Rust."""

from __future__ import annotations

from pathlib import Path

import pytest

import rexmit as rx
from own_twins import PATHS, breaks, same, scenario, told
from rexmit.rules import Driving, Progress, RateSample, Window
from rexmit.rules.bbr import Bbr

BBR = {"congestion__rule": '"python"', "congestion__class": '"rexmit.rules.bbr:Bbr"'}
RACK = {"detect__rule": '"python"', "detect__class": '"rexmit.rules.rack:Rack"'}
#: Nothing is in flight between requests, and the application limits.
ASKED = """{ kind = "request-response", request = "200kB", response = "3kB", think = "700ms" }"""
#: A token bucket's kind of path: a fifth and more of what comes after a burst is dropped.
POLICED = """
[[chain.channel]]
name = "policed"
kind = "random"
loss = "30%"
only = "data"
"""
#: What the twin became, was asked and found.
HEARD: set[str] = set()


class Heard(Bbr):
    """The twin, and what it goes through."""

    def drive(self, w: Window, s: RateSample, d: Driving) -> None:
        super().drive(w, s, d)
        HEARD.add(self.mode)
        HEARD.add(d.phase)
        if self.policer.rate() is not None:
            HEARD.add("policed")

    def restart(self, w: Window, d: Driving) -> None:
        super().restart(w, d)
        if self.restarted:
            HEARD.add("restarted")

    def timed_out(self, w: Window, so_far: Progress) -> None:
        super().timed_out(w, so_far)
        HEARD.add("timed out")

    def taken_back(self, w: Window, cwnd: int) -> None:
        super().taken_back(w, cwnd)
        HEARD.add("taken back")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("twins", [BBR, BBR | RACK], ids=["bbr", "bbr and rack"])
def test_the_twin_of_bbr_gives_the_packets_of_the_one_in_rust(path: str, twins: dict[str, str]) -> None:
    for seed in (1, 2, 3):
        # Long enough for the smallest RTT to be measured anew.
        theirs = told(scenario(PATHS[path], "linux-6-bbr", size="30MB", duration="30s"), seed)
        ours = told(scenario(PATHS[path], "linux-6-bbr", size="30MB", duration="30s", **twins), seed)
        same(ours, theirs)


def test_the_twin_of_bbr_rests_as_its_application_does() -> None:
    theirs = told(scenario(PATHS["losses"], "linux-6-bbr", workload=ASKED, duration="30s"), 5)
    same(told(scenario(PATHS["losses"], "linux-6-bbr", workload=ASKED, duration="30s", **BBR), 5), theirs)


def test_the_twin_of_bbr_sees_a_policer() -> None:
    for seed in (1, 2):
        theirs = told(scenario(POLICED, "linux-6-bbr"), seed)
        same(told(scenario(POLICED, "linux-6-bbr", **BBR), seed), theirs)


def test_the_paths_lead_bbr_through_all_that_it_does() -> None:
    """What the comparisons above are worth."""
    HEARD.clear()
    mine = {"congestion__rule": '"python"', "congestion__class": '"test_own_rules_driving:Heard"'}
    for path in PATHS.values():
        told(scenario(path, "linux-6-bbr", size="30MB", duration="30s", **mine), 1)
    told(scenario(PATHS["losses"], "linux-6-bbr", workload=ASKED, duration="30s", **mine), 5)
    told(scenario(POLICED, "linux-6-bbr", **mine), 1)
    modes = {"startup", "drain", "probe-bw", "probe-rtt"}
    assert modes | {"open", "recovery", "loss"} <= HEARD
    assert {"timed out", "taken back", "restarted", "policed"} <= HEARD


def test_the_twin_of_bbr_takes_its_params() -> None:
    theirs = {
        "congestion__min_rtt_window": '"3s"',
        "congestion__probe_rtt_time": '"150ms"',
        "congestion__hz": '"1000"',
    }
    params = {"congestion__params": "{ min_rtt_window_ms = 3000, probe_rtt_time_ms = 150, hz = 1000 }"}
    for path in PATHS.values():
        same(
            told(scenario(path, "linux-6-bbr", size="20MB", **BBR, **params), 4),
            told(scenario(path, "linux-6-bbr", size="20MB", **theirs), 4),
        )


CODE = """
from rexmit.rules import *

class Mine(DrivingRule):
    def begin(self, w, d):
        w.cwnd, d.pacing_rate = 10 * w.smss, 500_000
    def drive(self, w, s, d):
        {body}
"""


def own(folder: Path, body: str) -> Path:
    (folder / "mine.py").write_text(CODE.format(body=body))
    keys = {"congestion__rule": '"python"', "congestion__class": f'"{folder}/mine.py:Mine"'}
    (folder / "own.toml").write_text(scenario(PATHS["losses"], "linux-6-reno", **keys))
    return folder / "own.toml"


def test_the_pacing_rate_is_what_leaves(tmp_path: Path) -> None:
    """A steady 250 kB/s, whatever is lost: two flows then take half of the path's megabyte a second."""
    done = rx.run(own(tmp_path, "w.cwnd, d.pacing_rate = 1000 * w.smss, 250_000"), seed=3)
    assert done.failure is None
    for flow in done.flows.to_arrow().to_pylist():
        sent = flow["bytes"] + flow["retransmitted_bytes"]
        assert flow["retransmitted_bytes"] > 0
        assert sent / 20 == pytest.approx(250_000, rel=0.01)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("1 / 0", "drive of the rule mine.py:Mine failed: ZeroDivisionError"),
        ("d.pacing_rate = 0", "ValueError: pacing_rate = 0: whole bytes a second, from 1 to "),
        (
            "d.pacing_rate = 1.5",
            "pacing_rate = 1.5: whole bytes a second, from 1 to 18446744073709551615: int(…)",
        ),
        ("d.pacing_rate = 'x'", "TypeError: pacing_rate = 'x': whole bytes a second"),
        ("d.limit_to_application = 3", "TypeError: limit_to_application = 3: True or False"),
        ("d.in_flight = 3", "AttributeError"),
        ("s.delivered = 3", "AttributeError"),
        ("w.cwnd = -1", "ValueError: cwnd = -1: a whole number of bytes"),
    ],
)
def test_a_hook_that_fails_ends_the_run_with_its_seed(tmp_path: Path, body: str, says: str) -> None:
    path = own(tmp_path, body)
    breaks(path, says)


def test_a_driving_rule_without_drive_is_refused(tmp_path: Path) -> None:
    path = own(tmp_path, "pass")
    (tmp_path / "mine.py").write_text(CODE.replace("def drive", "def drives").format(body="pass"))
    with pytest.raises(rx.ScenarioError, match=r"lacks the hook drive\(self, w, s, d\); its drives is none"):
        rx.run(path)


def test_bbr_can_be_asked_by_hand() -> None:
    """Startup: the window of ten segments in a round trip of 40 ms, by 2 / ln 2, and a hundredth less."""
    rule, w = Bbr(), Window(cwnd=14480, smss=1448)
    d = Driving(srtt_ns=40_000_000, min_rtt_ns=40_000_000)
    rule.begin(w, d)
    assert d.pacing_rate == pytest.approx(14480 / 0.04 * 2.885 * 0.99, rel=0.01)
    later = Driving(now_ns=40_000_000, in_flight=0, so_far=Progress(delivered=10), pacing_rate=d.pacing_rate)
    rule.drive(w, RateSample(delivered=10, interval_ns=40_000_000, newly_delivered=10), later)
    assert w.cwnd == 20 * 1448, "each segment delivered brings one more"
    with pytest.raises(ValueError, match="phase = "):
        Driving(phase="nowhere")  # type: ignore[arg-type]
