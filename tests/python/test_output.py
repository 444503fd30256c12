"""`--out DIR`: what lies there is of one answer, and what is not rexmit's stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from rexmit import written
from rexmit.cli import main

RECORDED = """
name = "recorded"
duration = "1s"
[chain]
nodes = ["a", "b"]
rate = "2Mbps"
delay = "5ms"
queue = { kind = "droptail", packets = 5 }
[[flow]]
name = "f"
from = "a"
to = "b"
stack = "rfc-sack"
workload = { kind = "endless" }
[record]
capture = ["a", "b"]
drops = true
"""


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def scenario(folder: Path, text: str = RECORDED) -> str:
    path = folder / "recorded.toml"
    path.write_text(text)
    return str(path)


def run(scenario: str, out: Path, *more: str) -> None:
    assert main(["run", scenario, "--out", str(out), "--figures", "none", *more]) == 0


def test_nothing_of_an_earlier_answer_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out, fresh = scenario(tmp_path), tmp_path / "out", tmp_path / "fresh"
    run(source, out)
    assert {"captures/a.pcapng", "captures/b.pcapng", "tables/drops.csv"} <= files(out)
    own = {"notes.txt", "tables/own.csv"}
    for name in own:
        (out / name).write_text("mine")
    less = ["--set", "record.drops=false", "--set", 'record.capture=["b"]', "--csv"]
    run(source, out, *less)
    assert "removed" in capsys.readouterr().out
    run(source, fresh, *less)
    assert "removed" not in capsys.readouterr().out
    assert files(out) == files(fresh) | own
    assert {"captures/b.pcapng", "tables/flows.csv"} <= files(out)
    index = (out / "index.md").read_text()
    assert "captures/b.pcapng" in index
    assert "captures/a.pcapng" not in index


def test_a_capture_that_is_analysed_is_not_removed(tmp_path: Path) -> None:
    """Though an earlier answer wrote it into the folder where the new one goes."""
    out = tmp_path / "out"
    run(scenario(tmp_path), out)
    capture = out / "captures" / "a.pcapng"
    assert main(["analyze", str(capture), "--out", str(out), "--figures", "none"]) == 0
    assert "captures/a.pcapng" in files(out)
    assert not {"captures/b.pcapng", "scenario.toml"} & files(out)


def test_a_run_that_can_not_begin_leaves_what_is_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(scenario(tmp_path), out)
    before = files(out)
    assert main(["run", scenario(tmp_path, "name = 3"), "--out", str(out)]) == 2
    assert files(out) == before


def test_a_list_names_nothing_outside_its_folder(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.txt", tmp_path / "out"
    folder.mkdir()
    outside.write_text("mine")
    (folder / written.LIST).write_text(f"../outside.txt\n{outside}\ngone.csv\n")
    assert written.renew(folder, [folder / "new.csv"]) == 0
    assert outside.exists()
    assert (folder / written.LIST).read_text() == "new.csv\n"
