"""Folders of many captures, made on the spot: each analysed, rotations joined, what all of them come to."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import rexmit as rx
from rexmit import fleets
from rexmit.api import Capture
from rexmit.cli import main
from rexmit.fleets.results import Store
from rexmit.screen.words import cause_and_end
from test_sweep import SCENARIO

CAPTURES = 6
LOSSY = {
    "link.line.channel.loss.loss": "3%",
    "flow.up.workload.size": "1MB",
    "record.capture": '["a"]',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six captures of a sender that was lucky to different degrees."""
    there = tmp_path_factory.mktemp("captures")
    for seed in range(1, CAPTURES + 1):
        made = there / f"run-{seed}"
        rx.run(SCENARIO, seed=seed, set=LOSSY, captures=made)
        (sender,) = made.glob("*.pcapng")
        shutil.move(sender, there / f"host-{seed}.pcapng")
        shutil.rmtree(made)
    return there


def rows(found: fleets.Fleet, table: str) -> list[dict[str, Any]]:
    return sorted(found.table(table).to_arrow().drop_columns(["capture"]).to_pylist(), key=repr)


def test_each_capture_has_the_rows_of_an_analysis_of_its_own(folder: Path, tmp_path: Path) -> None:
    found = fleets.fleet(folder, into=tmp_path)
    captures = found.captures.to_arrow().to_pylist()
    assert [Path(row["path"]).name for row in captures] == [
        f"host-{k}.pcapng" for k in range(1, CAPTURES + 1)
    ]
    flows = found.flows.to_arrow()
    lost = 0.0
    for row in captures:
        alone = rx.capture(row["path"])
        mine = flows.filter([number == row["capture"] for number in flows.column("capture").to_pylist()])
        for name in ("bytes", "timeouts", "cost_s", "sender"):
            assert mine.column(name).to_pylist() == alone.flows.to_arrow().column(name).to_pylist()
        assert row["packets"] == alone.info["packets"]
        (pair,) = alone.by("pair").head()
        assert row["lost_s"] == pytest.approx(pair["lost_s"])
        lost += pair["lost_s"]
    assert lost > 0
    told = found.summary
    assert told["totals"]["lost_s"] == pytest.approx(lost)
    assert told["totals"]["episodes"] == len(found.episodes)
    assert sum(hour["episodes"] for hour in told["hours"]) == len(found.episodes)
    worst = max(captures, key=lambda row: row["lost_bytes"])
    assert told["worst_captures"][0]["path"] == worst["path"]
    # Of one flow a capture, the worst flow is that of the worst capture.
    assert told["worst_flows"][0]["path"] == worst["path"]
    assert told["worst_flows"][0]["lost_bytes"] == worst["lost_bytes"]
    # Each of them has the answer about its connection, as its own capture's page does.
    page = found.page()
    for row in told["worst_flows"]:
        (flow,) = [f for f in rx.capture(row["path"]).flows if f.id == row["flow"]]
        answer = flow.answer()
        assert answer is not None
        for name in ("seconds", "share"):
            assert row["answer"].pop(name) == pytest.approx(answer[name])
        assert row["answer"].items() <= answer.items()
        assert f"{answer['certainty']} {cause_and_end(answer)}: " in page
    seconds = sum(row["seconds"] for row in found.causes.to_arrow().to_pylist())
    assert sum(row["seconds"] for row in told["causes"]) == pytest.approx(seconds)
    assert seconds > 0
    assert sum(row["connections"] for row in told["causes"]) == CAPTURES


def _blocks(whole: bytes) -> tuple[bytes, list[bytes]]:
    """A pcapng's section and interface, and the blocks of its packets."""
    found, place = [], 0
    while place < len(whole):
        length = int.from_bytes(whole[place + 4 : place + 8], sys.byteorder)
        found.append(whole[place : place + length])
        place += length
    packets = [block for block in found if int.from_bytes(block[:4], sys.byteorder) == 6]
    return b"".join(found[: found.index(packets[0])]), packets


def test_a_rotation_is_one_capture_and_separate_ones_are_not(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "host-1.pcapng").read_bytes()
    head, records = _blocks(whole)
    third = len(records) // 3
    parts = [records[:third], records[third : 2 * third], records[2 * third :]]
    for names in (
        ("x.pcapng", "x.pcapng1", "x.pcapng2"),
        tuple(f"x_{k:05d}_2026112312000{k}.pcapng" for k in (1, 2, 3)),
        tuple(f"x-2026-11-23_12-00-{k:02d}.pcapng" for k in (0, 20, 40)),
    ):
        there = tmp_path / names[-1] / "in"
        there.mkdir(parents=True)
        for name, part in zip(names, parts, strict=True):
            (there / name).write_bytes(head + b"".join(part))
        found = fleets.fleet(there)
        (row,) = found.captures.to_arrow().to_pylist()
        assert row["files"] == 3
        assert row["packets"] == len(records)
        alone = rx.capture(folder / "host-1.pcapng").flows.to_arrow()
        assert found.flows.to_arrow().column("bytes").to_pylist() == alone.column("bytes").to_pylist()
        # The same packets under names in another order are no rotation.
        (there / names[0]).write_bytes(head + b"".join(parts[2]))
        assert len(fleets.fleet(there).captures) > 1
    assert len(fleets.fleet(folder).captures) == CAPTURES


def test_what_cannot_be_read_is_a_row_and_the_rest_goes_on(folder: Path, tmp_path: Path) -> None:
    there = tmp_path / "in"
    shutil.copytree(folder, there)
    whole = (there / "host-1.pcapng").read_bytes()
    (there / "cut.pcapng").write_bytes(whole[: len(whole) // 2])
    (there / "empty.pcap").write_bytes(b"")
    (there / "none.pcap").write_bytes(b"no capture at all")
    (there / "notes.txt").write_text("not looked at")
    found = fleets.fleet(there, into=tmp_path / "out")
    told = {Path(row["path"]).name: row for row in found.captures.to_arrow().to_pylist()}
    assert len(told) == CAPTURES + 3
    assert {name for name, row in told.items() if row["error"]} == {"empty.pcap", "none.pcap"}
    assert told["cut.pcapng"]["damage"]
    assert found.summary["damaged"] == 1
    assert "2 captures" not in found.page()
    assert found.page().count("not read: ") == 2


def test_nothing_but_what_cannot_be_read_is_an_answer_too(tmp_path: Path) -> None:
    (tmp_path / "empty.pcap").write_bytes(b"")
    found = fleets.fleet(tmp_path)
    assert found.summary["totals"]["flows"] == 0
    assert "empty.pcap: is empty" in found.page()


def test_new_files_are_analysed_changed_ones_again_and_all_others_not(folder: Path, tmp_path: Path) -> None:
    there, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(folder, there)
    first = fleets.fleet(there, into=out)
    written = {path: path.stat().st_mtime_ns for path in out.rglob("*.parquet")}
    shutil.copy(there / "host-1.pcapng", there / "later.pcapng")
    shutil.copy(there / "host-3.pcapng", there / "host-2.pcapng")
    os.utime(there / "host-2.pcapng", ns=(1, 1))
    again = fleets.fleet(there, into=out)
    assert len(first.captures) == CAPTURES
    assert len(again.captures) == CAPTURES + 1
    assert written == {path: path.stat().st_mtime_ns for path in written}
    byname = {Path(row["path"]).name: row for row in again.captures.to_arrow().to_pylist()}
    for one, other in (("later", "host-1"), ("host-2", "host-3")):
        assert byname[f"{one}.pcapng"]["lost_s"] == byname[f"{other}.pcapng"]["lost_s"]
    assert rows(fleets.load(out), "flows") == rows(again, "flows")
    with pytest.raises(ValueError, match="holds results with other options; name another folder"):
        fleets.fleet(there, into=out, idle=1.0)


COMMAND = [sys.executable, "-m", "rexmit", "analyze"]
CHILD = "import sys; from rexmit import fleets; fleets.fleet(sys.argv[1], into=sys.argv[2], threads=1)"


@pytest.mark.slow
def test_after_kill_9_the_same_call_goes_on(folder: Path, tmp_path: Path) -> None:
    there, out = tmp_path / "in", tmp_path / "out"
    there.mkdir()
    for k in range(400):
        os.link(folder / f"host-{k % CAPTURES + 1}.pcapng", there / f"c-{k:03d}.pcapng")
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(there), str(out)])
    ends = time.monotonic() + 60
    while len(Store(out).done()) < 3:
        assert child.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.wait()
    kept = {path: path.stat().st_mtime_ns for path in (out / "captures").glob("*.parquet")}
    assert 3 <= len(kept) < 400
    again = fleets.fleet(there, into=out)
    assert len(again.captures) == 400
    assert kept == {path: path.stat().st_mtime_ns for path in kept}
    began = time.monotonic()
    whole = fleets.fleet(there, into=tmp_path / "whole")
    # Many small ones: no process of its own, nor a second, for each.
    assert time.monotonic() - began < 400 * 0.1
    for table in ("captures", "flows", "episodes", "idle", "causes"):
        assert again.table(table).to_arrow().equals(whole.table(table).to_arrow())


def test_a_cluster_finds_the_rows_of_threads(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs Dask: pip install 'rexmit[cluster]'")
    found = [
        fleets.fleet(folder, into=tmp_path / name, cluster=cluster)
        for name, cluster in (("here", None), ("there", "local:2"))
    ]
    for table in ("captures", "flows", "episodes", "idle", "causes"):
        assert found[0].table(table).to_arrow().equals(found[1].table(table).to_arrow())


def test_the_command_takes_a_folder_a_pattern_and_each(folder: Path, tmp_path: Path) -> None:
    told = []
    for given in (
        [str(folder)],
        [f"{folder}/*.pcapng"],
        ["--each", *(str(path) for path in sorted(folder.glob("*.pcapng")))],
    ):
        command = [*COMMAND, *given, "--json", "--out", str(tmp_path / "out")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        told.append(json.loads(done.stdout))
    assert told[0] == told[1] == told[2]
    assert told[0]["captures"] == CAPTURES
    refused = subprocess.run([*COMMAND, str(folder), "--ladder", "1"], capture_output=True, text=True)
    assert refused.returncode == 2
    assert refused.stderr == (
        "rexmit: --ladder is for one capture, and these are many: name one of them (docs/fleet.md)\n"
    )


def test_a_flow_on_which_rexmit_failed_is_counted_and_told_by_the_exit_code(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow as pa

    table = Capture.table

    def one_failed(capture: Capture, name: str) -> Any:
        if name != "flows":
            return table(capture, name)  # type: ignore[arg-type]
        found = table(capture, "flows").to_arrow(unit="ns")
        faults = pa.array(["a test had it fail", *[None] * (found.num_rows - 1)], pa.string())
        return found.set_column(found.schema.get_field_index("fault"), "fault", faults)

    command = ["analyze", str(folder), "--threads", "1", "--out"]
    assert main([*command, str(tmp_path / "well")]) == 0
    assert "failed" not in capsys.readouterr().out
    monkeypatch.setattr(Capture, "table", one_failed)
    assert main([*command, str(tmp_path / "failed")]) == 1
    found = fleets.load(tmp_path / "failed")
    read = sum(row["error"] is None for row in rows(found, "captures"))
    assert found.summary["totals"]["faults"] == read > 0
    assert f"rexmit failed on {read} flows" in capsys.readouterr().out


def test_sql_reads_the_folder_too(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs DuckDB: pip install 'rexmit[sweep]'")
    there, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(folder, there)
    (there / "empty.pcap").write_bytes(b"")
    found = fleets.fleet(there, into=out)
    query = "select count(*) as n, count(error) as bad, sum(lost_s) as lost from captures"
    command = [sys.executable, "-m", "rexmit", "sql", str(out), query, "--json"]
    (told,) = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert (told["n"], told["bad"]) == (CAPTURES + 1, 1)
    assert told["lost"] == pytest.approx(found.summary["totals"]["lost_s"])
    command[5] = "select count(*) as n from flows join captures using (capture)"
    (told,) = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told["n"] == len(found.flows)


def test_captures_and_results_may_both_lie_at_an_address(folder: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for file in sorted(folder.glob("*.pcapng"))[:3]:
        memory.pipe_file(f"/caps/deeper/{file.name}", file.read_bytes())
    memory.pipe_file("/caps/broken.pcap", b"nonsense")
    memory.pipe_file("/caps/notes.txt", b"no capture")
    far = fleets.fleet("memory://caps", into="memory://found")
    read = [row for row in far.captures.to_arrow().to_pylist() if row["error"] is None]
    (broken,) = [row for row in far.captures.to_arrow().to_pylist() if row["error"]]
    assert broken["error"].startswith(f"{broken['path']}: is text")
    assert broken["path"] == memory.unstrip_protocol("/caps/broken.pcap")
    assert [row["path"].rpartition("/caps/")[2] for row in read] == [
        f"deeper/host-{k}.pcapng" for k in (1, 2, 3)
    ]
    near = fleets.fleet(*sorted(folder.glob("*.pcapng"))[:3], into=tmp_path)
    for table in ("flows", "bursts", "episodes", "idle", "causes"):
        assert rows(far, table) == rows(near, table)
    assert rows(far, "bursts")
    names = memory.glob("/found/captures/*")
    written = [memory.info(name)["created"] for name in names]
    again = fleets.fleet("memory://caps/**/*.pcapng", "memory://caps/broken.pcap", into="memory://found")
    assert [memory.info(name)["created"] for name in names] == written
    assert rows(again, "flows") == rows(far, "flows")
    with pytest.raises(ValueError, match=r"memory://caps/\*\.snoop: there is no such file"):
        fleets.fleet("memory://caps/*.snoop")
    memory.rm("/caps", recursive=True)
    memory.rm("/found", recursive=True)
