"""What validation/transfers.py makes: whether its scenarios are ones, and its captures are read."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

import rexmit as rx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import ours  # noqa: E402
import transfers  # noqa: E402
import wire  # noqa: E402


@pytest.mark.parametrize("kind", transfers.KINDS)
def test_every_kind_is_a_scenario_and_a_seed_draws_the_same_again(kind: str) -> None:
    for seed in range(5):
        text = transfers.scenario("t", kind, random.Random(seed))
        rx.Scenario.parse(text)
        assert text == transfers.scenario("t", kind, random.Random(seed))


def test_a_capture_of_ours_holds_the_same_packets_as_a_plain_one(tmp_path: Path) -> None:
    plain = ROOT / "tests" / "data" / "nosack.rcv.pcap.gz"
    noted, again = tmp_path / "noted.pcapng", tmp_path / "again.pcap"
    command = [str(ours.REXMIT), "analyze", str(plain), "--annotate", str(noted)]
    subprocess.run(command, check=True, capture_output=True)
    again.write_bytes(transfers.as_pcap(noted.read_bytes()))
    assert wire.packets(again) == wire.packets(plain)
