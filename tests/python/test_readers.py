"""Programs that do not read at once: the receive window closes, and a capture of the run shows it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import rexmit as rx
from live_bench import needs_bench
from rexmit import cli

STOPS = """
name = "stops"
seed = 2
duration = "60s"
[chain]
nodes = ["server", "client"]
rate = "20Mbps"
delay = "10ms"
[[flow]]
name = "download"
from = "server"
to = "client"
stack = "linux-6-cubic"
workload = { kind = "file", size = "8MB" }
reader = { kind = "stops", after = "500ms", for = "6s" }
[record]
capture = true
applications = true
"""


def test_a_capture_shows_the_window_that_a_reader_closes(tmp_path: Path) -> None:
    scenario = tmp_path / "stops.toml"
    scenario.write_text(STOPS)
    assert cli.main(["run", str(scenario), "--out", str(tmp_path / "out")]) == 0
    captures = tmp_path / "out" / "captures"
    assert {p.name for p in captures.iterdir()} == {"server.pcapng", "client.pcapng"}
    for capture in captures.iterdir():
        read = rx.capture(capture)
        assert read.flows[0]["bytes"] == 8_000_000
        # What is left of the window is less than a segment, or nothing.
        closed = read.idle.to_polars().filter(pl.col("cause").is_in(["zero-window", "receive-window"]))
        assert 5.0 < closed["length_s"].sum() < 6.1, capture.name
    run = rx.run(scenario)
    reads = run.applications.to_polars().filter(pl.col("event") == "read")["time"].dt.epoch("ms")
    assert reads.filter(reads.is_between(500, 6499)).is_empty()
    assert reads.filter(reads == 6500).len() == 1


@needs_bench
def test_the_live_bench_refuses_a_reader_and_names_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "stops.toml"
    scenario.write_text(STOPS)
    assert cli.main(["run", str(scenario), "--bench", "live"]) == 2
    said = capsys.readouterr().err
    assert "flow.download.reader: on the live bench programs read data as soon as it arrives" in said
    assert said.count("\n") == 1
