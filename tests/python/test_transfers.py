"""What validation/transfers.py makes: whether its scenarios are ones, and its captures are read."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

import rexmit as rx

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "validation"))

import transfers
import wire


@pytest.mark.parametrize("kind", transfers.KINDS)
def test_every_kind_is_a_scenario_and_a_seed_draws_the_same_again(kind: str) -> None:
    for seed in range(5):
        text = transfers.scenario("t", kind, random.Random(seed))
        rx.Scenario.parse(text)
        assert text == transfers.scenario("t", kind, random.Random(seed))


def test_a_capture_of_ours_is_the_same_packets_as_a_plain_one(tmp_path: Path) -> None:
    text = transfers.scenario("t", "losses", random.Random(1))
    # What a program would send, simulated.
    begin, end = text.index("workload"), text.index("[live]")
    text = text[:begin] + 'workload = { kind = "file", size = "200kB" }\n' + text[end:]
    rx.run(rx.Scenario.parse(text), out=tmp_path / "run")
    ours = tmp_path / "run" / "captures" / "pc.pcapng"
    plain = tmp_path / "plain.pcap"
    plain.write_bytes(transfers.as_pcap(ours.read_bytes()))
    read = [(p.time, p.seq, p.payload) for p in wire.packets(plain)]
    table = rx.capture(ours).packets.to_pandas()
    assert len(read) == len(table) > 200
    assert sum(payload for *_, payload in read) == rx.capture(ours).flows[0].bytes
