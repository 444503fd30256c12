"""Ctrl-C while something long goes on: the answer, or the sentence, comes at once.

What is measured is the CPU time that the process takes after the signal, so that a busy
machine changes little.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import rexmit as rx
from stopping import stopped

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

#: CPU seconds from the signal to the end.
MOST_S = 1.0
MANY = """
name = "many"
duration = "1000s"
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "l"
between = ["a", "b"]
rate = "100Mbps"
delay = "10ms"
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "endless" }
count = 60000
"""
LONG = MANY.replace("60000", "3")


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "many.toml"
    path.write_text(MANY)
    return str(path)


@pytest.mark.parametrize("after_s", [0.5, 0.8, 1.2])
def test_a_run_of_many_connections(after_s: float, scenario: str) -> None:
    took, code, said, complaint = stopped(after_s, "run", scenario)
    assert (code, complaint) == (0, "")
    assert said.startswith("simulated: many, seed 1, ")
    assert took < MOST_S


def test_many_runs_say_which_were_done(tmp_path: Path) -> None:
    path = tmp_path / "short.toml"
    path.write_text(LONG.replace("1000s", "3s"))
    took, code, said, _ = stopped(2.0, "run", str(path), "--runs", "5000")
    assert code == 0
    assert " of 5,000, stopped early" in said
    assert took < MOST_S


@pytest.mark.parametrize("after_s", [4.0, 6.0, 8.0])
def test_a_study_keeps_its_pages(after_s: float, tmp_path: Path) -> None:
    out = tmp_path / "out"
    took, code, said, complaint = stopped(after_s, "study", "run", "rto", "--out", str(out))
    assert code in (0, 1)
    assert "what was done is shown" in complaint or "stopped" in complaint
    assert "writing it" not in said + complaint
    assert {"results.json", "rto.md", "rto.html"} <= {path.name for path in out.iterdir()}
    assert took < MOST_S


def test_half_a_comparison_is_none(tmp_path: Path) -> None:
    path = tmp_path / "long.toml"
    path.write_text(LONG)
    took, code, said, complaint = stopped(1.0, "compare", str(path), str(path))
    assert (code, said, complaint) == (1, "", "rexmit: stopped before there was an answer\n")
    assert took < MOST_S


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> str:
    """64 MB, which are read again and again."""
    folder = tmp_path_factory.mktemp("large")
    text = LONG.replace('"1000s"', '"5s"') + '[record]\ncapture = ["a"]\n'
    rx.run(text, captures=folder)
    return str(folder / "a.pcapng")


def test_counting_frames_estimates_nothing_any_more(capture: str) -> None:
    took, code, said, _ = stopped(0.5, "traffic", *[capture] * 80)
    assert code == 0
    assert "not estimated, as it was stopped early" in said
    assert took < MOST_S


def test_what_is_written_has_no_figures_any_more(capture: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, code, said, complaint = stopped(0.6, "analyze", *[capture] * 80, "--out", str(out))
    assert (code, complaint) == (0, "")
    assert "stopped early: this is the answer for what was seen until then" in said
    assert said.endswith("; no figures: it was stopped early\n")
    assert (out / "tables" / "flows.parquet").exists()
    assert json.loads((out / "summary.json").read_text())["capture"]["interrupted"]
    assert not (out / "figures").exists()


def test_figures_can_be_stopped(capture: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    took, code, _, complaint = stopped(4.0, "analyze", *[capture] * 32, "--out", str(out))
    assert code == 1
    assert complaint.endswith(f"stopped while files were being written into {out}: not all are there\n")
    assert took < MOST_S
