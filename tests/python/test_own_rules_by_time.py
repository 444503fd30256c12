"""A detector in Python that goes by time: the twin of RACK gives the same runs as the one in Rust."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from own_twins import PATHS, breaks, same, scenario, told
from rexmit.rules import Delivery, Horizon, Patience
from rexmit.rules.rack import Rack

RACK = {"detect__rule": '"python"', "detect__class": '"rexmit.rules.rack:Rack"'}
AIMD = {
    "congestion__rule": '"python"',
    "congestion__class": '"rexmit.rules.aimd:Aimd"',
    "congestion__params": '{ count = "segments" }',
}
#: Later data overtakes much, so that repairs are needless, DSACKs say so and the window of reordering grows.
MIXED = """
[[chain.channel]]
name = "mixed"
kind = "reorder"
probability = "5%"
by = "60ms"
only = "data"
[[chain.channel]]
name = "noise"
kind = "random"
loss = "0.5%"
"""
ALL = PATHS | {"mixed": MIXED}
#: Which hooks were asked.
HEARD: set[str] = set()


class Heard(Rack):
    """The twin, and what is asked of it."""

    def __getattribute__(self, name: str) -> Any:
        HEARD.add(name)
        found = super().__getattribute__(name)
        if name == "steps" and found > 1:
            HEARD.add("waits longer")
        return found


@pytest.mark.parametrize("path", ALL)
@pytest.mark.parametrize("twins", [RACK, RACK | AIMD], ids=["rack", "rack and aimd"])
def test_the_twin_of_rack_gives_the_packets_of_the_one_in_rust(path: str, twins: dict[str, str]) -> None:
    for seed in (1, 2, 3):
        theirs = told(scenario(ALL[path], "linux-6-reno"), seed)
        ours = told(scenario(ALL[path], "linux-6-reno", **twins), seed)
        same(ours, theirs)


def test_the_twin_of_rack_serves_cubic_and_no_tail_loss_probe() -> None:
    for path in ALL.values():
        for more in ({}, {"detect__tail_loss_probe": "false"}, {"detect__dupthresh": "5"}):
            theirs = told(scenario(path, "linux-6-cubic", **more), 4)
            same(told(scenario(path, "linux-6-cubic", **RACK, **more), 4), theirs)


def test_without_sack_duplicates_are_counted() -> None:
    path = ALL["losses"]
    theirs = told(scenario(path, "linux-6-reno", options__sack="false"), 5)
    same(told(scenario(path, "linux-6-reno", options__sack="false", **RACK), 5), theirs)


def test_the_paths_make_rack_wait_widen_and_take_back() -> None:
    """What the comparisons above are worth: its timer, its wider window and its ways back are all used."""
    HEARD.clear()
    for path in ALL.values():
        mine = {"detect__rule": '"python"', "detect__class": '"test_own_rules_by_time:Heard"'}
        told(scenario(path, "linux-6-reno", **mine), 1)
    hooks = {"note", "note_plain", "look", "horizon", "spared_since", "recovery_ended", "taken_back"}
    assert hooks | {"taken_back_by_dsack", "waits longer"} <= HEARD


def test_rack_can_be_asked_by_hand() -> None:
    """RFC 8985, section 6.2: a copy that left before the newest delivered one waits for a round trip."""
    rule = Rack()
    assert rule.look(Patience(), 0) is None, "nothing was delivered"
    rule.note(Delivery(now_ns=50_000_000, newest=(10_000_000, 2897)))
    horizon = rule.look(Patience(min_rtt_ns=40_000_000, srtt_ns=40_000_000, sacked_segments=1), 50_000_000)
    assert horizon is not None
    assert (horizon.newest, horizon.wait_ns) == ((10_000_000, 2897), 50_000_000)
    assert rule.look(Patience(), 50_000_000) is None, "nothing more was"


CODE = """
from rexmit.rules import *
from rexmit.rules.rack import Rack

class Mine(Rack):
    def {hook}:
        {body}
"""


@pytest.mark.parametrize(
    ("hook", "body", "says"),
    [
        ("look(self, p, now_ns)", "1 / 0", "look of the rule mine.py:Mine failed: ZeroDivisionError"),
        ("look(self, p, now_ns)", "return 5", "what it returns = 5: rexmit.rules.Horizon(newest=…"),
        (
            "look(self, p, now_ns)",
            "return Horizon(newest=(now_ns + 1, 1), wait_ns=0)",
            "left later than now",
        ),
        ("look(self, p, now_ns)", "return Horizon(newest=(0, 1), wait_ns=-1)", "wait_ns = -1: from 0 to "),
        ("note(self, d)", "d.una = 1", "note of the rule mine.py:Mine failed: AttributeError"),
        (
            "note(self, d)",
            "return 5",
            "note of the rule mine.py:Mine failed: TypeError: what it returns = 5: ",
        ),
        (
            "note_plain(self, newest, now_ns)",
            "return True",
            "what it returns = True: this hook returns nothing",
        ),
        ("recovery_ended(self)", "yield", "failed: TypeError: what it returns = <generator object "),
        ("reordering(self, dupthresh)", "return 2.5", "what it returns = 2.5: a whole number of segments"),
        ("spared_since(self, now_ns)", "return now_ns + 1", "later than now"),
        ("spared_since(self, now_ns)", "return None", "what it returns = None: a time, whole nanoseconds"),
    ],
)
def test_a_hook_that_fails_ends_the_run_with_its_seed(
    tmp_path: Path, hook: str, body: str, says: str
) -> None:
    (tmp_path / "mine.py").write_text(CODE.format(hook=hook, body=body))
    own = {"detect__rule": '"python"', "detect__class": f'"{tmp_path}/mine.py:Mine"'}
    path = tmp_path / "own.toml"
    path.write_text(scenario(PATHS["outages"], "linux-6-reno", **own))
    breaks(path, says)


def test_undo_has_to_be_of_the_detectors_kind() -> None:
    with pytest.raises(rx.ScenarioError, match=r"goes by time, and what \[undo\] has is for detectors that"):
        rx.run(scenario("", "rfc-sack", undo__dsack="true", **RACK))
    count = {"detect__rule": '"python"', "detect__class": '"rexmit.rules.dup_acks:DupAcks"'}
    with pytest.raises(rx.ScenarioError, match=r'counts, and undo.rule = "linux" needs a detector that goes'):
        rx.run(scenario("", "linux-6-reno", **count))


def test_a_horizon_shows_what_it_holds() -> None:
    assert repr(Horizon(newest=(5, 6), wait_ns=7)) == "Horizon(newest=(5, 6), wait_ns=7)"
