"""Many runs and studies that are killed: the same call goes on where it was, with the same rows."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from rexmit.files.destination import RUNS
from rexmit.files.not_written import NotWrittenError
from stopping import wait_until

SCENARIO = """
name = "kept"
duration = "4s"
[chain]
nodes = ["a", "b"]
rate = "8Mbps"
delay = "15ms"
[[chain.channel]]
name = "noise"
kind = "random"
loss = "1%"
[[flow]]
name = "upload"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "endless" }
"""


def counted(runs: rx.Runs) -> tuple[Any, ...]:
    names = ("flows", "episodes")
    return (*(runs.table(name).to_arrow() for name in names), runs.summary.to_arrow(), runs.series.to_arrow())  # type: ignore[arg-type]


def test_runs_that_are_stopped_go_on_in_their_folder(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "seeds": range(1, 101),
        "tables": ("flows", "episodes"),
        "bin": 1.0,
        "threads": 2,
    }
    whole = rx.runs(SCENARIO, **options)
    into = tmp_path / "kept"
    first = rx.runs(SCENARIO, into=into, progress=lambda n, of, _: n < 30, **options)
    assert first.interrupted
    assert 30 <= len(first) < 100
    heard: list[int] = []
    # With other threads the blocks stay as they were cut.
    options["threads"] = 1
    second = rx.runs(SCENARIO, into=into, progress=lambda n, of, _: heard.append(n) or True, **options)
    assert heard[0] >= 20, "what was done is not done again"
    assert len(second) == 100
    for ours, theirs in zip(counted(second), counted(whole), strict=True):
        assert ours.equals(theirs)
    (folder,) = into.iterdir()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")}
    assert counted(rx.runs(SCENARIO, into=into, **options))[2].equals(counted(whole)[2])
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.parquet")} == before


def test_other_runs_lie_beside_them(tmp_path: Path) -> None:
    one = rx.runs(SCENARIO, seeds=range(1, 5), into=tmp_path)
    other = rx.runs(SCENARIO, seeds=range(1, 5), into=tmp_path, set={"chain.rate": "4Mbps"})
    longer = rx.runs(SCENARIO, seeds=range(1, 7), into=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3
    assert len(longer) == 6
    assert not one.summary.to_arrow().equals(other.summary.to_arrow())
    assert one.summary.to_arrow().equals(rx.runs(SCENARIO, seeds=range(1, 5)).summary.to_arrow())


@pytest.mark.parametrize("cut", ['{"size": 0}', '{"size": "x"}', "[1]", "", "[" * 100_000])
def test_a_damaged_size_of_blocks_is_named(cut: str, tmp_path: Path) -> None:
    rx.runs(SCENARIO, seeds=range(1, 3), into=tmp_path)
    (file,) = tmp_path.rglob("cut.json")
    file.write_text(cut)
    with pytest.raises(ValueError, match=r"cut\.json: does not say how runs are cut into blocks"):
        rx.runs(SCENARIO, seeds=range(1, 3), into=tmp_path)


def test_a_folder_that_cannot_be_and_live_runs_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(NotWrittenError, match="file"):
        rx.runs(SCENARIO, seeds=[1], into=tmp_path / "file")
    with pytest.raises(ValueError, match='into is for bench="sim"'):
        rx.runs(SCENARIO, seeds=[1], into=tmp_path, bench="live")
    assert (tmp_path / "file").read_text() == "mine"


def killed_in(folder: Path, blocks: int, *words: str) -> None:
    """Kills a command with kill -9 once so many blocks are kept below a folder."""
    child = subprocess.Popen(
        [sys.executable, "-m", "rexmit", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: len(list(folder.glob("*/counted/*.parquet"))) >= blocks or child.poll() is not None)
    assert child.poll() is None, "it was over too soon"
    child.send_signal(signal.SIGKILL)
    child.wait()


@pytest.mark.slow
def test_a_study_that_is_killed_goes_on(tmp_path: Path) -> None:
    words = ("study", "run", "wireless", "--quick", "--figures", "none", "--json", "--out")
    out = tmp_path / "out"
    killed_in(out / RUNS, 5, *words, str(out))
    kept = {path: path.stat().st_mtime_ns for path in (out / RUNS).glob("*/counted/*.parquet")}
    killed_in(out / RUNS, len(kept) + 5, *words, str(out))
    assert {path: path.stat().st_mtime_ns for path in kept} == kept, "what is there is not made again"
    going = subprocess.run(
        [sys.executable, "-m", "rexmit", *words, str(out)], capture_output=True, text=True, timeout=200
    )
    assert going.returncode == 0, going.stderr
    assert f"goes on with the runs that are kept in {out / RUNS}" in going.stderr
    assert not (out / RUNS).exists(), "the answer is there"
    anew = tmp_path / "anew"
    done = subprocess.run(
        [sys.executable, "-m", "rexmit", *words, str(anew)], capture_output=True, text=True, check=True
    )

    def answer(text: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(text)
        assert found.pop("seconds") > 0
        return found

    assert answer(going.stdout) == answer(done.stdout)


def test_runs_are_not_kept_through_a_link(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / RUNS).symlink_to(elsewhere)
    words = ("study", "run", "wireless", "--quick", "--figures", "none", "--out", str(out))
    said = subprocess.run([sys.executable, "-m", "rexmit", *words], capture_output=True, text=True)
    assert said.returncode == 2
    assert "a symbolic link, and nothing is written through links" in said.stderr
    assert list(elsewhere.iterdir()) == []
