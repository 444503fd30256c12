"""Rules of one's own in Python: the twins of built-in rules give the same runs, packet by packet."""

from __future__ import annotations

import pytest

from own_twins import DELAYS, LOSSES, PATHS, same, scenario, told

AIMD = {"congestion__rule": '"python"', "congestion__class": '"rexmit.rules.aimd:Aimd"'}
DUP_ACKS = {"detect__rule": '"python"', "detect__class": '"rexmit.rules.dup_acks:DupAcks"'}
NEWRENO = {"recovery__rule": '"python"', "recovery__class": '"rexmit.rules.newreno:NewReno"'}
TWINS = {"aimd": AIMD, "dup-acks": DUP_ACKS, "newreno": NEWRENO, "together": AIMD | DUP_ACKS | NEWRENO}
UNDO = {"undo__f_rto": "true", "undo__eifel": "true", "undo__bad_retransmit_window": "true"}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "twins",
    [AIMD, DUP_ACKS, NEWRENO, AIMD | DUP_ACKS | NEWRENO],
    ids=["aimd", "dup-acks", "newreno", "together"],
)
def test_twins_give_the_packets_of_the_rules_in_rust(path: str, twins: dict[str, str]) -> None:
    for seed, undo in [(1, {}), (2, UNDO), (3, {"undo__f_rto": "true"})]:
        theirs = told(scenario(PATHS[path], "rfc-newreno", **undo), seed)
        ours = told(scenario(PATHS[path], "rfc-newreno", **undo, **twins), seed)
        same(ours, theirs)


@pytest.mark.parametrize("count", ["bytes", "segments", "acks", "per-ack"])
def test_the_twin_of_aimd_counts_as_stacks_do(count: str) -> None:
    for beta in ("0.5", "0.7"):
        builtin = {"congestion__beta": beta, "congestion__count": f'"{count}"'}
        params = {"congestion__params": f'{{ beta = {beta}, count = "{count}" }}'}
        theirs = told(scenario(LOSSES, "rfc-sack", undo__dsack="true", **builtin), 4)
        ours = told(scenario(LOSSES, "rfc-sack", undo__dsack="true", **AIMD, **params), 4)
        same(ours, theirs)


@pytest.mark.parametrize("impatient", ["true", "false"])
def test_the_twin_of_newreno_restarts_the_timer_as_it_is_told(impatient: str) -> None:
    theirs = told(scenario(LOSSES, "rfc-newreno", recovery__impatient=impatient), 5)
    ours = told(
        scenario(LOSSES, "rfc-newreno", recovery__params=f"{{ impatient = {impatient} }}", **NEWRENO), 5
    )
    same(ours, theirs)


def test_the_twin_of_aimd_is_put_back_by_each_way_of_undo() -> None:
    for based_on, undo in [
        ("rfc-newreno", {"undo__f_rto": "true"}),
        ("rfc-newreno", {"undo__eifel": "true"}),
        ("rfc-newreno", {"undo__bad_retransmit_window": "true"}),
        ("rfc-sack", {"undo__dsack": "true"}),
        ("linux-6-reno", {}),
    ]:
        # That way back is open for an SRTT after the timeout only.
        path = DELAYS.replace("2500ms", "1020ms") if "undo__bad_retransmit_window" in undo else DELAYS
        segments = {"congestion__params": '{ count = "segments" }'} if based_on == "linux-6-reno" else {}
        theirs = told(scenario(path, based_on, **undo), 6)
        ours = told(scenario(path, based_on, **undo, **AIMD, **segments), 6)
        same(ours, theirs)
        if undo:
            without = told(scenario(path, based_on), 6)
            assert not ours["state"].equals(without["state"]), f"{undo} never took anything back"
