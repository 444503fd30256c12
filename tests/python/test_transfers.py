"""What validation/transfers.py and traced.py make: whether scenarios are ones, and captures are read."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rexmit as rx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import ours  # noqa: E402
import traced  # noqa: E402
import transfers  # noqa: E402
import truth  # noqa: E402
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


@pytest.mark.parametrize("kind", traced.KINDS)
def test_every_traced_kind_is_a_scenario_and_a_seed_draws_the_same_again(kind: str) -> None:
    for seed in range(5):
        text, outages, control = traced.scenario("t", kind, random.Random(seed))
        rx.Scenario.parse(text)
        assert (text, outages, control) == traced.scenario("t", kind, random.Random(seed))
        assert control in traced.KINDS[kind].controls
        assert ("outage" in text) == (outages is not None)


def test_outages_begin_as_their_schedule_says() -> None:
    assert list(traced.Outage(3, 0.5).until(5)) == [(1.5, 2.0), (4.5, 5.0)]


def test_events_are_told_by_the_clock_of_the_packets() -> None:
    us = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    line = "x-1 [000] ..s2. {}.{:06d}: tcp_cong_state_set: family=AF_INET sport=1 dport=2 cong_state=3"
    told = truth.EVENT.search(traced.on_the_epoch_clock(line.format(us // 1_000_000, us % 1_000_000)))
    assert told
    assert abs(int(told[1]) * 1_000_000 + int(told[2]) - time.time_ns() // 1000) < 1_000_000
    assert (told[4], told[5], told[6]) == ("1", "2", "3")


def test_events_of_a_socket_that_another_run_left_behind_are_none_of_the_transfers() -> None:
    def line(us: int, event: str, socket: int, rest: str = "") -> str:
        ports = "sport=0x400 (1024) dport=0x1389 (5001)"
        return f"x-1 [000] ..s2. 7.{us:06d}: {event}: skaddr={socket:#x} (-1) {ports} {rest}"

    ends = ("10.0.0.1", 1024), ("10.0.0.2", 5001)
    times = [7_000_100_000, 7_000_150_900, 7_000_200_000]  # ns; the second and the third are sent again
    copies = [
        truth.Copy(wire.Packet(n, time, *ends, n, 1, 1, 16, 1448, ()), again=n > 1, segments=1)
        for n, time in enumerate(times, 1)
    ]
    real = truth.Transfer("10.0.0.1", times[0], {ends: copies})
    told = [
        line(120, "tcp_retransmit_skb", 0xBAD),
        line(130, "tcp_cong_state_set", 0xBAD, "cong_state=(4)"),
        line(149, "tcp_cong_state_set", 0xF00D, "cong_state=(3)"),
        line(150, "tcp_retransmit_skb", 0xF00D),
        line(205, "tcp_retransmit_skb", 0xF00D),
    ]
    own = traced.own_events("\n".join(told), real)
    found = [truth.EVENT.search(line) for line in own.splitlines()]
    assert [(m[2], m[3], m[6]) for m in found if m] == [
        ("000149", "tcp_cong_state_set", "3"),
        ("000150", "tcp_retransmit_skb", None),
        ("000205", "tcp_retransmit_skb", None),
    ]
