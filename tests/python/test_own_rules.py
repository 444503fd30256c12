"""Rules of one's own in Python: the twins of built-in rules give the same runs, packet by packet."""

from __future__ import annotations

import pyarrow as pa
import pytest

import rexmit as rx

#: All that a run tells, but `hosts`, which has each packet again.
TABLES = ("packets", "state", "truth", "drops", "flows", "episodes", "retransmissions")

LOSSES = """
[[chain.channel]]
name = "noise"
kind = "random"
loss = "1%"
[[chain.channel]]
name = "fade"
kind = "gilbert-elliott"
mean_loss = "1%"
mean_burst = "4 packets"
only = "data"
"""
#: Packets wait for long enough that the timer fires in vain, and come in another order.
DELAYS = """
[[chain.channel]]
name = "held"
kind = "outage"
hold = true
schedule = { every = "6s", for = "2500ms", phase = "2s" }
[[chain.channel]]
name = "mixed"
kind = "reorder"
probability = "2%"
by = "30ms"
only = "data"
"""
OUTAGES = """
[[chain.channel]]
name = "dark"
kind = "outage"
schedule = { every = "4s", for = "300ms", phase = "1500ms" }
[[chain.channel]]
name = "noise"
kind = "random"
loss = "0.3%"
"""
PATHS = {"losses": LOSSES, "delays": DELAYS, "outages": OUTAGES}


def scenario(path: str, based_on: str, **keys: str) -> str:
    """A scenario whose stack is `mine`: another stack but for some keys."""
    sections: dict[str, list[str]] = {}
    for key, value in keys.items():
        section, name = key.split("__")
        sections.setdefault(section, []).append(f"{name} = {value}")
    stack = "".join(f"[stack.{section}]\n" + "\n".join(lines) + "\n" for section, lines in sections.items())
    return f"""
name = "twin"
duration = "20s"
[chain]
nodes = ["a", "b"]
rate = "8Mbps"
delay = "15ms"
queue = {{ kind = "droptail", packets = 25 }}
{path}
[[flow]]
name = "upload"
from = "a"
to = "b"
stack = "mine"
receiver = "{based_on}"
count = 2
workload = {{ kind = "file", size = "6MB" }}
[[stack]]
name = "mine"
based_on = "{based_on}"
{stack}
"""


AIMD = {"congestion__rule": '"python"', "congestion__class": '"rexmit.rules.aimd:Aimd"'}
DUP_ACKS = {"detect__rule": '"python"', "detect__class": '"rexmit.rules.dup_acks:DupAcks"'}
NEWRENO = {"recovery__rule": '"python"', "recovery__class": '"rexmit.rules.newreno:NewReno"'}
TWINS = {"aimd": AIMD, "dup-acks": DUP_ACKS, "newreno": NEWRENO, "together": AIMD | DUP_ACKS | NEWRENO}
UNDO = {"undo__f_rto": "true", "undo__eifel": "true", "undo__bad_retransmit_window": "true"}


def told(text: str, seed: int) -> dict[str, pa.Table]:
    run = rx.run(text, seed=seed, tables=TABLES)
    assert run.failure is None
    return {name: run.table(name).to_arrow() for name in TABLES}


def same(ours: dict[str, pa.Table], theirs: dict[str, pa.Table]) -> None:
    for name in TABLES:
        assert ours[name].num_rows > 0 or name == "drops", f"{name} is empty: this compares nothing"
        assert ours[name].equals(theirs[name]), f"{name} differs"


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
