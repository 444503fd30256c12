"""Which flow comes first, and flows added up."""

from __future__ import annotations

import importlib.util
import struct
import sys
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

import rexmit as rx
from rexmit.screen.groups_page import page
from rexmit.screen.words import closed_sets

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def mixed() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mixed", ROOT / "validation" / "mixed.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mixed"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(300, 310))
def test_the_transfer_comes_before_control_idle_and_background_connections(
    mixed: ModuleType, seed: int
) -> None:
    for at in mixed.ENDS:
        shown, transfer = mixed.first(seed, at)
        assert shown["flow"] == transfer["flow"], f"seed {seed} at the {at}: {mixed.told(shown)}"


@pytest.fixture(scope="module")
def run(mixed: ModuleType) -> rx.Run:
    return rx.run(rx.Scenario.parse(mixed.scenario(300)), at="sender")


@pytest.mark.parametrize("by", ["pair", "host", "port"])
def test_groups_add_up_to_all_flows(run: rx.Run, by: str) -> None:
    flows, groups = run.flows.to_arrow(), run.by(by).to_arrow()
    # Each flow has two hosts.
    times = 2 if by == "host" else 1
    for name, column in (("bytes", "bytes"), ("resent_segments", "retransmitted_segments")):
        assert sum(groups.column(name).to_pylist()) == times * sum(flows.column(column).to_pylist())
    assert sum(groups.column("flows").to_pylist()) == times * flows.num_rows
    lost = groups.column("lost_s").to_pylist()
    assert lost == sorted(lost, reverse=True)


def test_flows_are_grouped_by_both_hosts_whichever_sends_and_by_the_port_that_was_called(run: rx.Run) -> None:
    pairs = run.by("pair").to_arrow().column("group").to_pylist()
    assert sorted(pairs) == ["10.0.0.1 ↔ 10.0.0.3", "10.0.0.3 ↔ 10.0.0.4"]
    assert run.by("port").to_arrow().column("group").to_pylist() == ["5001"]


def test_causes_add_up_to_the_answers_of_all_connections(run: rx.Run) -> None:
    rows = run.by("cause").to_arrow().to_pylist()
    answers = {a["connection"]: a for a in (flow.answer() for flow in run.flows) if a}
    assert sum(r["connections"] for r in rows) == len(answers)
    sent = sum(a["client_bytes"] + a["server_bytes"] for a in answers.values())
    assert sum(r["bytes"] for r in rows) == sent
    for row in rows:
        same = [
            share["seconds"]
            for a in answers.values()
            for share in a["causes"]
            if (share["cause"], share["by"]) == (row["cause"], row["by"])
        ]
        assert row["seconds"] == pytest.approx(sum(same)), row
        told = sum((a["cause"], a["by"]) == (row["cause"], row["by"]) for a in answers.values())
        assert row["connections"] == told, row
    seconds = [r["seconds"] for r in rows]
    assert seconds == sorted(seconds, reverse=True)
    text = page(run, "cause")
    first = rows[0]["cause"]
    assert text[0].split() == ["cause", "time", "of", "all", "the", "answer", "of", "with"]
    assert text[1].split()[0] == first
    assert closed_sets()["answer_cause"][first] in text[1]


def test_a_clean_exchange_has_a_sentence_of_its_own() -> None:
    quick = """
name = "quick"
duration = "5s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
rate = "100Mbps"
delay = "1ms"
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "file", size = "1kB" }
"""
    text = page(rx.run(quick), "cause")
    assert text[-1].endswith("nothing took time worth telling in 1 connection"), text


def test_a_way_to_group_that_is_none_is_named(run: rx.Run) -> None:
    with pytest.raises(ValueError, match="by = 'colour' is none of pair, host, port, cause"):
        run.by("colour")  # type: ignore[arg-type]


def test_connections_that_nobody_answered_count_as_time_lost(tmp_path: Path) -> None:
    text = """
name = "silence"
duration = "5s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
rate = "10Mbps"
delay = "5ms"
[[link.channel]]
name = "dead"
kind = "random"
loss = 1.0
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "rfc-sack"
count = 3
workload = { kind = "file", size = "1MB" }
"""
    [row] = rx.run(text, at="sender").by("pair").to_arrow().to_pylist()
    assert row["unanswered"] == 3
    assert row["lost_s"] > 3
    assert row["bytes"] == 0


def syns(port: int, times: list[float], answered_at: float | None) -> list[tuple[float, bytes]]:
    """A host that sends its SYN again and again; a reset answers the last, if any answers."""
    sent = [(at, segment(port, 80, flags=0x02)) for at in times]
    if answered_at is not None:
        sent.append((answered_at, segment(80, port, flags=0x14)))
    return sent


def segment(source: int, destination: int, flags: int) -> bytes:
    """An Ethernet frame with a TCP segment without data between two hosts."""
    hosts = [bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])]
    if destination != 80:
        hosts.reverse()
    seq, ack = (7, 0) if flags == 0x02 else (0, 8)
    tcp = struct.pack("!HHIIBBHHH", source, destination, seq, ack, 0x50, flags, 65535, 0, 0)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0x4000, 64, 6, 0) + hosts[0] + hosts[1]
    return bytes(12) + b"\x08\x00" + ip + tcp


@pytest.mark.parametrize("seed", range(12))
def test_a_call_in_vain_lost_all_its_time_and_a_refused_one_was_answered(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    packets, waits = [], {}
    for port in range(40_000, 40_000 + random.randint(2, 6)):
        start, first = random.uniform(0, 2), random.choice([1.0, 3.0])
        times = [start + first * (2**n - 1) for n in range(random.randint(2, 5))]
        refused = random.random() < 0.5
        packets += syns(port, times, times[-1] + 0.01 if refused else None)
        waits[port] = None if refused else times[-1] - start
    path = tmp_path / "calls.pcap"
    records = b"".join(
        struct.pack("<IIII", 1_700_000_000 + int(at), int(at % 1 * 1e6), len(frame), len(frame)) + frame
        for at, frame in sorted(packets)
    )
    path.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + records)
    found = rx.capture(str(path))
    flows = {int(f["sender"].rpartition(":")[2]): f for f in found.flows.to_arrow().to_pylist()}
    for port, waited in waits.items():
        assert flows[port]["unanswered"] == (waited is not None), f"seed {seed}, port {port}"
        if waited is not None:
            assert flows[port]["lost_s"] >= waited - 1e-5, f"seed {seed}, port {port}"
    rows = found.by("pair").to_arrow().to_pylist()
    assert sum(row["unanswered"] for row in rows) == sum(waited is not None for waited in waits.values())
    assert sum(row["lost_s"] for row in rows) == pytest.approx(sum(f["lost_s"] for f in flows.values()))
