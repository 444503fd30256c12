"""`rexmit traffic`: shares of all frames, bins, Hurst parameters; on our own capture and on made ones."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

import rexmit as rx
from rexmit import cli
from rexmit.captured.frame_counts import usual_bin
from rexmit_studies.selfsimilar import capture

LAN = capture.FILE
ETHERNET, RAW = 1, 101


def write(path: Path, times: np.ndarray, frames: list[bytes], link: int = ETHERNET) -> Path:
    """A pcap file of these frames (one for all, or one each) at these times, s."""
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, link)]
    for k, t in enumerate(times):
        frame = frames[k % len(frames)]
        ns = round(t * 1e9)
        out += [struct.pack("<IIII", 1_700_000_000 + ns // 10**9, ns % 10**9, len(frame), len(frame)), frame]
    path.write_bytes(b"".join(out))
    return path


def ethernet(kind: int, payload: bytes) -> bytes:
    return bytes(12) + struct.pack(">H", kind) + payload


def ipv4(protocol: int, payload: bytes = bytes(40)) -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0)
    return head + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + payload


ARP = ethernet(0x0806, bytes(28))
SPANNING_TREE = ethernet(38, b"\x42\x42\x03" + bytes(35))
TCP = ethernet(0x0800, ipv4(6))
UDP = ethernet(0x0800, ipv4(17))


def test_shares_are_of_all_packets_and_bytes(tmp_path: Path) -> None:
    frames = [ARP, SPANNING_TREE, TCP, TCP, TCP, UDP, TCP, TCP]
    found = rx.traffic(write(tmp_path / "a.pcap", np.arange(80) * 0.01, frames), bin=0.1)
    shares = found.shares()
    assert {name: row["packets"] for name, row in shares.items() if row["packets"]} == {
        "IPv4": 60, "ARP": 10, "LLC": 10, "TCP": 50, "UDP": 10,
    }  # fmt: skip
    assert shares["TCP"]["packets_share"] == 50 / 80
    whole = sum(len(f) for f in frames) * 10
    assert found.summary["bytes"] == whole
    assert shares["ARP"]["bytes_share"] == pytest.approx(len(ARP) * 10 / whole)
    networks = [shares[name]["packets_share"] for name in ("IPv4", "IPv6", "ARP", "LLC", "other", "unread")]
    assert sum(networks) == pytest.approx(1)


def test_on_the_page_what_ip_carries_stands_below_it_and_nothing_below_arp(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pcap", np.arange(40) * 0.1, [ARP, TCP, UDP, SPANNING_TREE])
    table = [line for line in str(rx.traffic(path, bin=0.1)).splitlines() if "%" in line][:5]
    named = [line[: len(line) - len(line.lstrip())] + line.split()[0] for line in table]
    assert named == ["  IPv4", "    TCP", "    UDP", "  ARP", "  LLC"]


def test_bins_hold_every_packet_and_the_last_which_is_cut_is_not_in_the_series(tmp_path: Path) -> None:
    times = np.sort(np.random.default_rng(1).uniform(0, 30, 5000))
    found = rx.traffic(write(tmp_path / "a.pcap", times, [TCP]), bin=0.1)
    bins = found.bins.to_arrow()
    counted = np.bincount(((times - times[0]) / 0.1 + 1e-9).astype(int))
    assert bins["packets"].to_pylist() == counted.tolist()
    assert bins["bytes"].to_pylist() == (counted * len(TCP)).tolist()
    assert bins["start_s"].to_pylist()[:3] == pytest.approx([0, 0.1, 0.2])
    assert len(found.series()) == len(counted) - 1


def test_packets_that_come_as_noise_with_long_memory_are_found_out(tmp_path: Path) -> None:
    from rexmit_studies import selfsim

    counts = np.maximum(0, np.round(20 + 5 * selfsim.fgn(4096, 0.8, 3))).astype(int)
    times = np.concatenate([k * 0.1 + np.linspace(0.001, 0.098, n) for k, n in enumerate(counts)])
    times = np.concatenate([[0.0], times])
    found = rx.traffic(write(tmp_path / "a.pcap", times, [TCP]), bin=0.1).hurst["packets"]
    assert not isinstance(found, str)
    assert found.agree
    assert all(abs(e.value - 0.8) < 0.06 for e in found.estimates), found.estimates


def test_our_own_capture_is_read_as_tcpdump_reads_it() -> None:
    """8082 packets, of them 7871 ip, 41 ip6, 20 arp, 150 stp; 7567 tcp, 284 udp (tcpdump 4.99's filters)."""
    found = rx.traffic(LAN)
    assert found.summary["packets"] == 8082
    packets = {name: row["packets"] for name, row in found.shares().items()}
    assert packets == {
        "IPv4": 7871, "IPv6": 41, "ARP": 20, "LLC": 150, "other": 0, "unread": 0,
        "TCP": 7567, "UDP": 284, "ICMP": 61, "other IP": 0,
    }  # fmt: skip
    assert found.bin_s == 0.1
    assert 299 < found.summary["span_s"] < 301


def test_a_bin_is_chosen_by_how_dense_the_packets_are() -> None:
    def chosen(packets: int, span: float) -> float:
        return usual_bin({"packets": packets, "span_s": span})

    assert chosen(300_000, 100) == 0.001
    assert chosen(20_000, 100) == 0.01
    assert chosen(4880, 300) == 0.1
    assert chosen(100_000, 1_000_000) == 1.0
    # Rather few packets a bin than few bins.
    assert chosen(100, 20) == 0.01


def test_a_link_type_that_is_not_read_is_told_and_counts(tmp_path: Path) -> None:
    # Frames of USB.
    found = rx.traffic(write(tmp_path / "a.pcap", np.arange(10.0), [bytes(40)], link=189), bin=1.0)
    assert found.shares()["unread"]["packets"] == 10
    assert any("not read" in said for said in found.summary["warnings"])


def test_a_capture_too_short_for_a_hurst_parameter_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    path = write(tmp_path / "a.pcap", np.arange(20) * 0.1, [TCP, ARP])
    assert cli.main(["traffic", str(path), "--bin", "100ms"]) == 0
    said = capsys.readouterr().out
    assert "20 packets" in said
    assert "too short to tell" in said


def test_a_constant_rate_has_no_hurst_parameter(tmp_path: Path) -> None:
    found = rx.traffic(write(tmp_path / "a.pcap", np.arange(5000) * 0.01 + 0.001, [TCP]), bin=0.1)
    assert "constant" in str(found.hurst["packets"])


def test_the_command_prints_one_screen(capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["traffic", str(LAN)]) == 0
    said = capsys.readouterr().out
    assert "8,082 packets" in said
    assert "LLC" in said
    assert "local Whittle" in said
    assert all(len(line) <= 110 for line in said.splitlines())


def test_json_holds_shares_and_estimates(capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["traffic", str(LAN), "--json", "--bin", "50ms"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["bin_s"] == 0.05
    assert len(found["hurst"]["bytes"]["estimates"]) == 5
    row = found["hurst"]["packets"]["estimates"][0]
    assert row["low"] <= row["hurst"] <= row["high"]
    assert found["shares"]["TCP"]["packets"] == 7567


def test_a_folder_gets_figures_and_bins(tmp_path: Path) -> None:
    assert cli.main(["traffic", str(LAN), "--out", str(tmp_path)]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert {"bins.csv", "bins.parquet", "traffic.json"} <= names
    assert {n for n in names if n.endswith(".png")} == {
        "packets-by-time-scale.png", "packets-scaling.png", "bytes-by-time-scale.png", "bytes-scaling.png",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["--bin", "0s"], "--bin must be longer than 0"),
        (["--figures", "png"], "--figures needs --out DIR"),
    ],
)
def test_options_that_do_not_go_together(words: list[str], fix: str, capsys: pytest.CaptureFixture) -> None:
    assert cli.main(["traffic", str(LAN), *words]) == 2
    assert fix in capsys.readouterr().err


def test_what_is_no_capture_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    path = tmp_path / "a.txt"
    path.write_text("nothing of the kind")
    assert cli.main(["traffic", str(path)]) == 2
    assert "no capture" in capsys.readouterr().err


def test_bins_beyond_what_memory_should_hold_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.pcap", np.array([0.0, 90_000.0]), [TCP])
    with pytest.raises(rx.CaptureError, match="choose a longer bin"):
        rx.traffic(path, bin=0.001)


# The series of many runs


SMALL = """
name = "small"
duration = "5s"
[chain]
nodes = ["a", "b"]
rate = "2Mbps"
delay = "5ms"
queue = { kind = "droptail", packets = 5 }
[[flow]]
name = "up"
from = "a"
to = "b"
stack = "rfc-newreno"
workload = { kind = "endless" }
[[flow]]
name = "noise"
from = "b"
to = "a"
transport = "datagram"
packet = "500B"
workload = { kind = "constant-rate", rate = "100kbps" }
"""


def test_series_of_runs_add_up_to_what_hosts_sent_and_received() -> None:
    scenario = rx.Scenario.of(SMALL)
    runs = rx.runs(scenario, seeds=[3, 4], bin=0.1)
    rows = runs.series.to_arrow().to_pylist()
    assert {row["seed"] for row in rows} == {3, 4}
    hosts = rx.run(scenario, seed=3, tables=("hosts", "drops"))
    events = [e for e in hosts.hosts.to_arrow().to_pylist() if e["name"] == "up" and e["from_client"]]
    mine = [r for r in rows if r["seed"] == 3 and r["flow"] == "up" and r["direction"] == "forward"]
    assert len(mine) == 50
    assert [round(r["start_s"], 3) for r in mine[:3]] == [0.0, 0.1, 0.2]
    for column, event in (("sent", "sent"), ("arrived", "arrived")):
        of_event = [e for e in events if e["event"] == event]
        assert sum(r[f"{column}_packets"] for r in mine) == len(of_event)
        assert sum(r[f"{column}_bytes"] for r in mine) == sum(e["length_bytes"] for e in of_event)
    lost = [d for d in hosts.drops.to_arrow().to_pylist() if d["name"] == "up" and d["from_client"]]
    assert sum(r["lost_packets"] for r in mine) == len(lost) > 0
    noise = [r for r in rows if r["seed"] == 3 and r["flow"] == "noise" and r["direction"] == "forward"]
    # 25 datagrams a second, the first at once.
    assert sum(r["sent_packets"] for r in noise) == 126


def test_a_series_needs_bins_and_goes_with_tables() -> None:
    with pytest.raises(ValueError, match=r"bin=0\.1"):
        _ = rx.runs(SMALL, seeds=[1]).series
    both = rx.runs(SMALL, seeds=[1], bin=0.5, tables=("flows",))
    alone = rx.runs(SMALL, seeds=[1], bin=0.5)
    assert both.series.to_arrow().equals(alone.series.to_arrow())
    assert len(both.table("flows")) == 1
    with pytest.raises(ValueError, match="bin"):
        rx.runs(SMALL, seeds=[1], bin=0.0)
