"""`rexmit run --bench live`: real kernels, where there are root and network namespaces."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from live_bench import SCENARIO, needs_bench
from rexmit.cli import main


@needs_bench
def test_the_page_is_that_of_a_run_with_a_line_on_the_bridge(
    scenario: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    # What is looked at here does not depend on how busy the machine is.
    words = ["run", str(scenario), "--bench", "live", "--accept-late", "--figures", "none"]
    assert main([*words, "--out", str(out)]) == 0
    page = capsys.readouterr().out
    page = page[page.index("live, Linux ") :]
    assert "  TCP  " not in page
    assert "1.00 MB in" in page
    assert "by channel dark" in page
    assert "  bridge   packets left late by p50 " in page
    assert (out / "captures" / "pc.pcapng").stat().st_size > 10_000
    summary = json.loads((out / "summary.json").read_text())
    assert summary["simulation"]["bridge"]["overload"] == 0
    (flow,) = summary["flows"]
    assert "dark 0" in [burst["outage"] for burst in flow["bursts"]]
    assert "dark 0" in [episode["outage"] for episode in flow["episodes"]]
    # Compared from its folder, it still knows its outages.
    found = rx.compare(out, scenario)
    assert found.names == (f"{out} (live)", "short, seed 1")
    known = [pair for pair in found.bursts if pair.first and pair.first["outage"]]
    assert known
    assert {pair.first["outage"] for pair in known if pair.first} == {"dark 0"}
    assert "dark 0" in found.page()
    (out / "tables" / "bursts.parquet").unlink()
    assert [p.first and p.first["outage"] for p in rx.compare(out, scenario).bursts] == [
        p.first and p.first["outage"] for p in found.bursts
    ], "the same from CSV"


@needs_bench
def test_a_run_that_was_not_in_time_has_no_verdict(
    scenario: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without real-time priority, beside programs that never rest, packets leave milliseconds late."""
    out = tmp_path / "out"
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        words = [
            "run",
            str(scenario),
            "--bench",
            "live",
            "--set",
            "live.real_time=false",
            "--figures",
            "none",
        ]
        code = main([*words, "--out", str(out)])
    finally:
        for process in busy:
            process.kill()
            process.wait()
    told = capsys.readouterr()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["simulation"]["bridge"]["missed"]
    assert code == 1
    assert "the bridge kept no time: no verdict is given" in told.err
    assert told.out.startswith("NOT IN TIME: ")
    assert not re.search(r"^  (known|likely|open) ", told.out, re.MULTILINE)
    assert [flow["answer"] for flow in summary["flows"]] == [None]
    found = rx.compare(out, scenario)
    assert {d["cost_s"] for d in found.as_json()["differences"]} == {None}
    assert found.page().startswith(f"NOT IN TIME, {out} (live): ".replace("\n", " ")[:40])


DATAGRAMS = """
name = "datagrams"
duration = "500ms"
[chain]
nodes = ["pc", "hub", "server"]
rate = "20Mbps"
delay = "10ms"
[[chain.channel]]
name = "dark"
kind = "outage"
schedule = { every = "200ms", for = "20ms", phase = "100ms" }
direction = "forward"
[[flow]]
name = "voice"
from = "pc"
to = "server"
transport = "datagram"
packet = "200B"
workload = { kind = "constant-rate", rate = "1600kbps" }
[record]
capture = true
drops = true
queues = true
"""


@needs_bench
def test_a_run_without_tcp_has_a_page_and_tables(tmp_path: Path) -> None:
    run = rx.run(DATAGRAMS, bench="live", captures=tmp_path)
    assert run.failure is None
    page = run.page()
    assert "no TCP connection of it carries data" in page
    assert "none at hub" in page, "no capture inside the bridge, and the run is not refused"
    way = run.summary["flows"][0]["forward"]
    drops, inside = len(run.drops), way["inside_packets"]
    assert way["data_packets"] == way["arrived_packets"] + drops + inside
    # A datagram a millisecond, and twenty of them on their way.
    assert drops > 20, way
    assert 15 <= inside < 100, way
    assert f"{inside} were still on their way" in page
    assert "by dark: 20 ms every 200 ms, the first 100 ms since the run began" in page
    assert len(run.queues) > 500


@needs_bench
def test_tables_know_what_the_bridge_lost() -> None:
    # Slow start overruns a queue so short before the link goes dark, even where it is held up.
    run = rx.run(SCENARIO.replace("packets = 100", "packets = 40"), bench="live")
    assert run.failure is None
    drops = run.drops.to_pandas()
    assert len(drops) == sum(link["lost"] for link in run.summary["links"]) > 0
    assert set(drops["name"]) == {"upload"}
    assert set(drops["cause"]) == {"queue-full", "channel"}
    dark = drops[drops["cause"] == "channel"]["time"].astype("int64")
    assert dark.max() - dark.min() < 60e6
    assert 150e6 <= dark.min() - run.origin_ns < 1e9
    (flow,) = run.summary["flows"]
    assert (flow["ended"], flow["forward"]["delivered_bytes"]) == (1, 1_000_000)
    assert run.flows[0].row["lost_copies"] == (drops["payload_bytes"] > 0).sum()
    with pytest.raises(ValueError, match="no kernel tells why"):
        len(run.truth)


#: rexmit's own TCP through a long outage, and beside it datagrams and a kernel's transfer back.
LOST_AGAIN = """
name = "again"
duration = "3s"
[dumbbell]
pairs = 2
[dumbbell.bottleneck]
rate = "10Mbps"
delay = "5ms"
[[dumbbell.bottleneck.channel]]
name = "dark"
kind = "outage"
schedule = { every = "20s", for = "900ms", phase = "300ms", anchor = "first-syn" }
[[flow]]
name = "own"
from = "left-1"
to = "right-1"
stack = "osx-10.7"
receiver = "linux-2.6-reno"
workload = { kind = "endless" }
[[flow]]
name = "voice"
from = "left-2"
to = "right-2"
transport = "datagram"
packet = "200B"
stop = "2s"
workload = { kind = "constant-rate", rate = "160kbps" }
"""


@needs_bench
def test_what_was_lost_when_it_was_sent_again_has_the_reason_of_rexmits_own_tcp() -> None:
    runs = rx.runs(LOST_AGAIN, bench="live", tables=("drops",), bin=0.1)
    assert runs.failure is None
    drops = runs.drops.to_pandas()
    assert drops["reason"].notna().all()
    timers = drops[drops["reason"] == "timeout"]
    assert set(timers["name"]) == {"own"}
    # One for each time that the timer fired in the dark.
    assert timers["backoff"].tolist() == list(range(len(timers))) != []
    assert drops.loc[drops["reason"] == "new", "backoff"].isna().all()
    series = runs.series.to_pandas()
    assert series["lost_packets"].sum() == len(drops)
    lost = {name: len(rows) for name, rows in drops.groupby("name")}
    voice = series[(series["flow"] == "voice") & (series["direction"] == "forward")]
    assert (voice["sent_packets"].sum(), voice["sent_bytes"].sum()) == (200, 40_000)
    assert voice["arrived_packets"].sum() == 200 - lost["voice"]
    dark = series[(series["start_s"] > 0.45) & (series["start_s"] < 1.05)]
    assert dark["arrived_packets"].sum() == 0 < dark["sent_packets"].sum()
    back = series[(series["flow"] == "own") & (series["direction"] == "back")]
    assert back["sent_packets"].sum() > 50
    with pytest.raises(ValueError, match="follow one another"):
        rx.runs(LOST_AGAIN, bench="live", threads=2)


@needs_bench
def test_what_live_cannot_do_is_refused(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scenario), "--bench", "live", "--set", "flow.upload.stack=ns2-reno"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{scenario}:13: flow.upload: stack ns2-reno is a one-way agent")
    scenario.write_text(SCENARIO + '[live]\nsysctl = ["net.ipv4.tcp_sackk=1"]\n')
    assert main(["run", str(scenario), "--bench", "live"]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{scenario}:20: live.sysctl: net.ipv4.tcp_sackk = 1 at host pc: ")
    assert said.endswith("did you mean net.ipv4.tcp_sack?\n")


@needs_bench
def test_a_dumbbell_joins_each_connection_at_its_own_two_hosts() -> None:
    text = """
    name = "two"
    duration = "20s"
    [dumbbell]
    pairs = 2
    bottleneck = { rate = "20Mbps", delay = "5ms", queue = { kind = "droptail", packets = 30 } }
    [[flow]]
    name = "up"
    from = "left"
    to = "right"
    count = 2
    stack = "linux-2.6-cubic"
    workload = { kind = "file", size = "500kB" }
    [[flow]]
    name = "back"
    from = "right-1"
    to = "left-1"
    start = "100ms"
    stack = "linux-2.6-reno"
    workload = { kind = "file", size = "300kB" }
    [record]
    state = true
    queues = ["bottleneck"]
    """
    run = rx.run(text, bench="live")
    drops = run.drops.to_pandas()
    flows = run.flows.to_pandas() if hasattr(run.flows, "to_pandas") else run.table("flows").to_pandas()
    assert len(flows) == 3
    assert sorted(flows["bytes"]) == [300_000, 500_000, 500_000]
    assert set(flows["vantage"]) == {"both"}
    lost = drops[drops["payload_bytes"] > 0].groupby("flow").size()
    for row in flows.itertuples():
        assert row.lost_copies == lost.get(row.flow, 0)
    state = run.state.to_pandas()
    assert set(state["name"]) == {"up-1", "up-2", "back"}
    assert state["cwnd_bytes"].gt(0).all()
    assert run.summary["bridge"]["state_from"] in ("bpf", "tcp_info")
    # Whoever tells it, all is known but the count of duplicate ACKs.
    assert state[["rto_s", "backoff", "pipe_bytes", "peer_window_bytes"]].notna().all().all()
    assert state["dupacks"].isna().all()
    for _, rows in state.groupby(["connection", "from_client"]):
        assert rows["time"].is_monotonic_increasing
        assert rows["una"].is_monotonic_increasing
        assert (rows["nxt"] - rows["una"] == rows["flight_bytes"]).all()
    assert len(run.queues) > 500


@needs_bench
def test_the_machine_says_what_it_can_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["live", "check"]) == 0
    assert "the live bench can run here" in capsys.readouterr().out
    assert main(["live", "clean"]) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="to become somebody else takes root")
def test_who_is_not_root_is_told_the_fix() -> None:
    code = (
        # All is loaded before: the library may lie where only root reads.
        "import os, sys, rexmit as rx, rexmit.running.bench, rexmit.running.one_run\n"
        "text = sys.stdin.read(); rx.Scenario.of(text); rexmit.memory.free()\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try: rx.run(text, bench='live')\n"
        "except rx.LiveError as error: print(error)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, input=SCENARIO, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("the live bench makes network namespaces, and only root may: sudo"), done


@needs_bench
def test_rexmits_own_tcp_tells_as_much_as_a_simulated_one() -> None:
    change = {"flow.upload.stack": "rfc-sack", "record.state": True}
    run = rx.run(SCENARIO, bench="live", set=change)
    told = run.state.to_pandas()
    assert set(told["from_client"]) == {True, False}, "both ends are its own"
    state = told[told["from_client"]]
    assert len(state) > 200
    assert state["dupacks"].notna().all()
    assert (state["una"].iloc[0], state["una"].iloc[-1]) == (1, 1_000_002)
    simulated = rx.run(SCENARIO, set=change).state.to_pandas()
    assert list(state.columns) == list(simulated.columns)
    way = run.summary["flows"][0]["forward"]
    row = run.flows[0].row
    assert way["resent_packets"] == row["retransmitted_segments"] > 0
    assert way["timeouts"] == row["timeouts"]
    assert way["data_bytes"] - way["resent_bytes"] == way["delivered_bytes"] == 1_000_000
    assert run.summary["bridge"]["own_hosts"] == ["pc", "server"]
    assert "  TCP      rexmit's own at pc and server\n" in str(run)


@needs_bench
def test_bursts_and_episodes_are_of_the_outages_that_took_their_copies() -> None:
    text = SCENARIO.replace('every = "10s", for = "60ms"', 'every = "500ms", for = "50ms"')
    run = rx.run(text.replace("packets = 100", "packets = 40"), bench="live")
    began = run.flows.to_polars()["start"][0]
    bursts = list(run.bursts.to_polars().iter_rows(named=True))
    expected: list[set[str]] = [set() for _ in bursts]
    for drop in run.drops.to_polars().iter_rows(named=True):
        if drop["channel"] != "dark" or not drop["payload_bytes"]:
            continue
        number, into = divmod((drop["time"] - began).total_seconds() - 0.15, 0.5)
        assert into < 0.051
        # Of the last burst that began before it was lost and has its bytes.
        seq = drop["seq"] + 1
        mine = [
            k
            for k, b in enumerate(bursts)
            if b["seq_start"] <= seq < b["seq_end"] and b["start"] <= drop["time"]
        ]
        expected[mine[-1]].add(f"dark {number:.0f}")
    assert any(expected)
    assert [labels(b) for b in bursts] == expected
    for episode in run.episodes.to_polars().iter_rows(named=True):
        of_bursts = [labels(b) for b in bursts if b["episode"] == episode["number"]]
        assert labels(episode) == set().union(*of_bursts)


def labels(row: dict[str, Any]) -> set[str]:
    return set(row["outage"].split(", ")) if row["outage"] else set()


WORKLOADS = """
name = "workloads"
duration = "10s"
[chain]
nodes = ["pc", "server"]
rate = "20Mbps"
delay = "5ms"
[[flow]]
name = "on-off"
from = "pc"
to = "server"
count = 3
stop = "1s"
transport = "datagram"
packet = "500B"
workload = { kind = "on-off", rate = "1Mbps", on = "50ms", off = "50ms" }
[[flow]]
name = "heavy"
from = "pc"
to = "server"
stop = "1s"
stack = "linux-2.6-cubic"
workload = { kind = "on-off", rate = "1Mbps", on = "30ms", off = "30ms", distribution = "pareto", shape = 1.3, message = "400B" }
[[flow]]
name = "asks"
from = "pc"
to = "server"
start = "100ms"
stack = "linux-2.6-cubic"
workload = { kind = "request-response", request = "200B", response = "30kB", requests = 6 }
[record]
state = true
"""  # noqa: E501


@needs_bench
def test_applications_do_what_they_do_in_the_simulator() -> None:
    live, simulated = (rx.run(WORKLOADS, bench=bench, seed=7) for bench in ("live", "sim"))  # type: ignore[arg-type]
    keys = ("flow", "connections", "ended", "failed")
    for one, other in zip(live.summary["flows"], simulated.summary["flows"], strict=True):
        assert [one[key] for key in keys] == [other[key] for key in keys]
        for way in ("forward", "back"):
            assert one[way]["delivered_bytes"] == other[way]["delivered_bytes"], one
    datagrams = [run.summary["flows"][0]["forward"] for run in (live, simulated)]
    assert datagrams[0]["data_packets"] == datagrams[1]["data_packets"] > 50
    assert datagrams[0]["arrived_packets"] == datagrams[0]["data_packets"]
    assert "on-off: " in live.page()
    flows = live.flows.to_polars()
    vantages = {(row["bytes"], row["vantage"]) for row in flows.iter_rows(named=True)}
    # Of an exchange, the side that sends less is seen where it arrives, as in the simulator.
    assert vantages == {
        (row["bytes"], row["vantage"]) for row in simulated.flows.to_polars().iter_rows(named=True)
    }
    asked = live.state.to_polars().filter(name="asks")
    assert set(asked["from_client"]) == {True, False}, "both ends send"


@needs_bench
def test_runs_follow_each_other_and_their_tables_stand_in_one(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many = rx.runs(SCENARIO, seeds=(3, 4), bench="live", tables=("flows", "drops", "bursts", "state"))
    assert len(many) == 2
    summary = many.summary.to_polars()
    assert summary["seed"].to_list() == [3, 4]
    assert summary["delivered_bytes"].to_list() == [1_000_000, 1_000_000]
    drops = many.drops.to_polars()
    for run in (0, 1):
        mine = drops.filter(run=run)
        assert mine.height == many.summary.to_polars()["lost_packets"][run] > 0
        # Times count from the beginning of each run, as a simulated one's.
        assert mine["time"].dt.timestamp("ms").is_between(0, 20_000).all()
        assert many.flows.to_polars().filter(run=run)["lost_copies"][0] == (mine["payload_bytes"] > 0).sum()
        assert "dark 0" in many.bursts.to_polars().filter(run=run)["outage"]
        assert many.state.to_polars().filter(run=run).height > 50
    with pytest.raises(ValueError, match="table idle was not kept"):
        len(many.idle)
    with pytest.raises(ValueError, match="not run again"):
        many[0]
    with pytest.raises(ValueError, match="no kernel tells why"):
        rx.runs(SCENARIO, bench="live", tables=("truth",))
    assert main(["run", str(scenario), "--bench", "live", "--accept-late", "--runs", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["bench"], told["runs"], told["seeds"]) == ("live", 2, [1, 2])
    assert told["flows"][0]["goodput_bps"]["n"] == 2
