"""`rexmit run --bench live`: real kernels, where there are root and network namespaces."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import rexmit as rx
from rexmit.cli import main

SCENARIO = """
name = "short"
duration = "20s"
[chain]
nodes = ["pc", "server"]
rate = "20Mbps"
delay = "5ms"
queue = { kind = "droptail", packets = 100 }
[[chain.channel]]
name = "dark"
kind = "outage"
schedule = { every = "10s", for = "60ms", phase = "150ms", anchor = "first-syn" }
[[flow]]
name = "upload"
from = "pc"
to = "server"
stack = "linux-2.6-reno"
workload = { kind = "file", size = "1MB" }
"""


def no_bench() -> str:
    """Why there is no live bench here; empty if there is."""
    if os.geteuid() != 0:
        return "not root"
    tried = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    return "" if tried.returncode == 0 else "no network namespaces"


WHY = no_bench()
needs_bench = pytest.mark.skipif(bool(WHY), reason=f"the live bench can not run here: {WHY}")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "short.toml"
    file.write_text(SCENARIO)
    return file


@needs_bench
def test_the_page_is_that_of_a_run_with_a_line_on_the_bridge(
    scenario: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert main(["run", str(scenario), "--bench", "live", "--out", str(out), "--figures", "none"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("live, Linux ")
    assert "1.00 MB in" in page
    assert "by channel dark" in page
    assert "  bridge   packets left late by p50 " in page
    assert (out / "captures" / "pc.pcapng").stat().st_size > 10_000
    assert json.loads((out / "summary.json").read_text())["simulation"]["bridge"]["overload"] == 0


@needs_bench
def test_tables_know_what_the_bridge_lost() -> None:
    run = rx.run(SCENARIO, bench="live")
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


@needs_bench
def test_what_live_can_not_do_is_refused(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scenario), "--bench", "live", "--set", "flow.upload.stack=ns2-reno"]) == 2
    assert "one-way agent" in capsys.readouterr().err
