"""What tests of rules in Python share: runs of two stacks that are compared, packet by packet."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

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


def scenario(
    path: str, based_on: str, size: str = "6MB", workload: str = "", duration: str = "20s", **keys: str
) -> str:
    """A scenario whose stack is `mine`: another stack but for some keys. workload: in the place of a file."""
    sections: dict[str, list[str]] = {}
    for key, value in keys.items():
        section, name = key.split("__")
        sections.setdefault(section, []).append(f"{name} = {value}")
    stack = "".join(f"[stack.{section}]\n" + "\n".join(lines) + "\n" for section, lines in sections.items())
    what = workload or f'{{ kind = "file", size = "{size}" }}'
    return f"""
name = "twin"
duration = "{duration}"
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
workload = {what}
[[stack]]
name = "mine"
based_on = "{based_on}"
{stack}
"""


def told(text: str, seed: int) -> dict[str, pa.Table]:
    """All the tables of a run that went well."""
    run = rx.run(text, seed=seed, tables=TABLES)
    assert run.failure is None
    return {name: run.table(name).to_arrow(unit="ns") for name in TABLES}


def same(ours: dict[str, pa.Table], theirs: dict[str, pa.Table]) -> None:
    """Equal tables with rows in them."""
    for name in TABLES:
        assert ours[name].num_rows > 0 or name == "drops", f"{name} is empty: this compares nothing"
        assert ours[name].equals(theirs[name]), f"{name} differs"


def breaks(path: Path, says: str) -> None:
    """A hook that fails ends the run, and says why and with which seed."""
    done = rx.run(path, seed=7)
    assert done.failure is not None
    assert says in done.failure, done.failure
    assert done.summary["end"] == "broken"
    many = rx.runs(path, seeds=[7], threads=1)
    assert many.failure is not None
    assert "1 of 1 runs failed; seed 7: stopped at " in many.failure
