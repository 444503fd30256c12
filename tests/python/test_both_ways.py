"""Two captures of one path over which both hosts send: each flow is told from where it was seen."""

from __future__ import annotations

import json
from pathlib import Path

import rexmit as rx
from rexmit import _core

# 1% of all packets are lost, both ways; 20 ms each way.
BOTH_WAYS = """
name = "both-ways"
duration = "6s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
rate = "10Mbps"
delay = "20ms"
[[link.channel]]
name = "loss"
kind = "random"
loss = 0.01
[[flow]]
name = "there"
from = "a"
to = "b"
stack = "linux-6-cubic"
workload = { kind = "file", size = "3MB" }
[[flow]]
name = "back"
from = "b"
to = "a"
stack = "linux-6-cubic"
workload = { kind = "file", size = "1MB" }
[record]
capture = ["a", "b"]
"""


def test_what_the_receivers_side_sends_is_seen_as_it_arrives(tmp_path: Path) -> None:
    rx.run(BOTH_WAYS, captures=tmp_path)
    a, b = str(tmp_path / "a.pcapng"), str(tmp_path / "b.pcapng")
    found = _core.analyze([a], receiver=[b])
    seen = json.loads(found.overview(10))
    assert seen["capture"]["vantage"] == "both"
    there, back = sorted(
        (f for f in seen["flows"] if f["bytes"] > 500_000), key=lambda f: f["bytes"], reverse=True
    )
    assert (there["vantage"], back["vantage"]) == ("both", "receiver")
    assert there["lost"]["copies"] > 0
    # At its receiver ACKs show how long that host takes to answer, and echoed timestamps the round trip of
    # the path.
    assert back["rtt"]["ack"]["max_ms"] < 40
    assert back["rtt"]["timestamps"]["min_ms"] >= 40
    assert back["answer"]["client"] == back["sender"]
    assert 0.04 <= back["path"]["base_rtt_s"] < 0.05
    # The answer rests on the capture that sees it leave as well.
    assert not any("taken at" in limit for limit in back["answer"]["limits"])
    # What nobody compared is what one capture shows of it: causes, timers and gaps as at a receiver.
    alone = json.loads(_core.analyze([a]).overview(10))["flows"]
    alone = next(f for f in alone if f["sender"] == back["sender"])
    for key in ("retransmissions", "timers", "idle", "episodes", "bursts", "inference", "timeouts", "rtt"):
        assert back[key] == alone[key], key
    # Whoever has them the other way round says the same of each.
    other = json.loads(_core.analyze([b], receiver=[a]).overview(10))
    assert [(f["sender"], f["vantage"], f["lost"]) for f in other["flows"]] == [
        (f["sender"], f["vantage"], f["lost"]) for f in seen["flows"]
    ]
