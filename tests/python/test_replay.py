"""`rexmit replay`: simulated transfers through the stack that sent them, and through others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rexmit as rx
from rexmit import cli

SCENARIO = """
name = "replayed"
duration = "60s"
seed = 7
[[node]]
name = "pc"
[[node]]
name = "server"
[[link]]
name = "wire"
between = ["pc", "server"]
rate = "8Mbps"
delay = "15ms"
queue = { kind = "droptail", packets = 30 }
[[link.channel]]
name = "air"
kind = "random"
loss = "1%"
direction = "forward"
[[link.channel]]
name = "gone"
kind = "outage"
schedule = { intervals = [["900ms", "1200ms"]] }
direction = "both"
[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = "STACK"
workload = { kind = "file", size = "2MB" }
[record]
capture = ["pc", "server"]
"""


def simulated(folder: Path, stack: str, **settings: str) -> Path:
    scenario = folder / "replayed.toml"
    scenario.write_text(SCENARIO.replace("STACK", stack))
    rx.run(scenario, captures=folder / "run", set=settings)
    return folder / "run"


@pytest.mark.parametrize("stack", ["linux-6-cubic", "linux-6-reno", "linux-2.6-cubic", "rfc-newreno"])
def test_a_simulated_transfer_is_what_its_stack_would_send(tmp_path: Path, stack: str) -> None:
    found = rx.replay(simulated(tmp_path, stack) / "pc.pcapng", stack).to_dict()
    assert found["sends"] > 1380
    assert found["by_state"]["retransmissions"]["sends"] > 15
    assert found["first_difference"] is None
    assert found["right"] == found["sends"] > found["null_right"]
    assert found["unusable"]["sends"] == 0


def test_the_page_and_the_answer_say_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = str(simulated(tmp_path, "linux-6-cubic") / "pc.pcapng")
    assert cli.main(["replay", capture, "--stack", "rfc-tahoe", "--json", "--list", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stack"] == "rfc-tahoe"
    assert found["right"] < found["sends"]
    assert len(found["listed"]) == 3
    assert found["first_difference"] == found["listed"][0]
    assert sum(found["differences"].values()) == found["sends"] - found["right"]
    states = found["by_state"]
    assert sum(states[s]["sends"] for s in ("open", "recovery", "loss")) == found["sends"]
    assert cli.main(["replay", capture, "--stack", "rfc-tahoe"]) == 0
    page = capsys.readouterr().out
    assert "the stack differs: " in page
    assert f"{found['sends']:,}" in page


def test_what_cannot_be_replayed_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = simulated(tmp_path, "rfc-sack")
    for capture, stack, said in [
        ("server.pcapng", "rfc-sack", "was captured at its receiver"),
        ("pc.pcapng", "ns2-reno", "is a one-way agent"),
        ("pc.pcapng", "rfc-sac", 'did you mean "rfc-sack"?'),
        ("none.pcapng", "rfc-sack", "none.pcapng"),
    ]:
        assert cli.main(["replay", str(folder / capture), "--stack", stack]) == 2
        told = capsys.readouterr().err
        assert said in told
        assert len(told.strip().splitlines()) == 1


def test_a_sender_that_is_like_no_stack_is_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A one-way agent counts packets, as no endpoint does."""
    for stack, like in (("ns2-vegas", False), ("linux-6-cubic", True)):
        folder = tmp_path / stack
        folder.mkdir()
        capture = str(simulated(folder, stack) / "pc.pcapng")
        assert cli.main(["analyze", capture, "--like", "--at", "sender"]) == 0
        page = " ".join(capsys.readouterr().out.split())
        assert (f" like {stack} (confidence" in page) == like
        assert ("its sender is like no stack in particular" in page) != like


def without(folder: Path, packets: int, stack: str = "linux-6-cubic") -> Path:
    """A capture of a simulated transfer, cut off at its beginning."""
    whole = (simulated(folder, stack) / "pc.pcapng").read_bytes()
    # Blocks of pcapng: the first two describe, each of the others is a packet.
    at, blocks = 0, []
    while at < len(whole):
        length = int.from_bytes(whole[at + 4 : at + 8], "little")
        blocks.append(whole[at : at + length])
        at += length
    later = folder / "later.pcapng"
    later.write_bytes(b"".join(blocks[:2] + blocks[2 + packets :]))
    return later


def test_a_transfer_under_way_is_taken_up_after_a_round_trip_and_says_what_is_assumed(
    tmp_path: Path,
) -> None:
    found = rx.replay(without(tmp_path, 4, "linux-6-reno"), "linux-6-reno", at="sender")
    told = found.to_dict()
    assert told["entered"]["slow_start"] is True
    assert 0 < told["entered"]["not_judged"] < 20
    assert any("1448 bytes" in text for text in told["mid_stream"]["assumed"])
    assert told["first_difference"] is None
    # HyStart goes by the smallest RTT, here the handshake's, which is not in the capture.
    cubic = rx.replay(without(tmp_path, 4), "linux-6-cubic", at="sender")
    assert cubic.right is not None
    assert cubic.right > 0.9
    page = found.page()
    assert "the handshake is not in the capture" in page
    assert "the window that the peer advertised never limits" in page
    assert rx.replay(tmp_path / "run" / "pc.pcapng", "linux-6-cubic").to_dict()["mid_stream"] is None


def test_a_transfer_under_way_of_which_nothing_is_acknowledged_says_so(tmp_path: Path) -> None:
    whole = without(tmp_path, 4).read_bytes()
    at, kept = 0, b""
    for _ in range(4):
        length = int.from_bytes(whole[at + 4 : at + 8], "little")
        kept += whole[at : at + length]
        at += length
    short = tmp_path / "short.pcapng"
    short.write_bytes(kept)
    with pytest.raises(rx.CaptureError, match="begins before the capture"):
        rx.replay(short, "linux-6-cubic", at="sender")


def test_a_sender_behind_a_full_buffer_is_not_taken_to_be_paced(tmp_path: Path) -> None:
    fast = {"link.wire.rate": "1Gbps", "link.wire.delay": "10ms", "link.wire.queue.packets": "2000"}
    text = SCENARIO.split("[[link.channel]]", 1)[0] + "[[flow]]" + SCENARIO.split("[[flow]]", 1)[1]
    scenario = tmp_path / "fast.toml"
    scenario.write_text(text.replace("STACK", "linux-6-cubic").replace('"2MB"', '"90MB"'))
    rx.run(scenario, captures=tmp_path / "run", set=fast)
    found = rx.replay(tmp_path / "run" / "pc.pcapng", "linux-6-cubic").to_dict()
    assert found["sends"] > 60_000
    assert found["right"] == found["sends"]
    assert not found["paced"]
    # The stack's buffer of 4 MiB, in whole segments.
    assert found["send_buffer_bytes"] == (4 << 20) // 1448 * 1448
