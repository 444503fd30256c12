"""Live runs that end otherwise than they should: cut off, stopped, killed, without room for their files."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import rexmit as rx
from live_bench import SCENARIO, needs_bench
from stopping import wait_until


@needs_bench
def test_an_answer_is_there_whatever_becomes_of_its_files(scenario: Path, tmp_path: Path) -> None:
    code = "import sys; from rexmit.cli import main; sys.exit(main(sys.argv[1:]))"
    full = tmp_path / "full"
    full.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "rexmit-test", str(full)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system of 300 kB can be mounted here")
    try:
        words = [
            sys.executable,
            "-c",
            code,
            "run",
            str(scenario),
            "--bench",
            "live",
            "--accept-late",
            "--out",
            str(full / "x"),
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    finally:
        subprocess.run(["umount", str(full)], check=True)
    assert done.returncode == 1
    # Behind a banner, where this machine held packets up.
    assert "live, Linux " in done.stdout, done
    assert "by channel dark" in done.stdout
    assert "rexmit: not written: " in done.stderr
    assert "no space left on device" in done.stderr
    assert str(full / "x" / "summary.json") in done.stderr
    assert "rrno" not in done.stderr, "a sentence, without numbers"
    assert "os error" not in done.stderr


@needs_bench
def test_why_captures_end_early_is_said_before_anything_else(scenario: Path, tmp_path: Path) -> None:
    code = "import sys; from rexmit.cli import main; sys.exit(main(sys.argv[1:]))"
    mount = ["mount", "-t", "tmpfs", "-o", "size=48k", "rexmit-test", str(tmp_path / "full")]
    (tmp_path / "full").mkdir()
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system of 48 kB can be mounted here")
    try:
        # Whatever this machine holds up: the words are of the captures.
        words = [sys.executable, "-c", code, "run", str(scenario), "--bench", "live", "--accept-late"]
        environment = {**os.environ, "TMPDIR": str(tmp_path / "full")}
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    finally:
        subprocess.run(["umount", str(tmp_path / "full")], check=True)
    # A long path stands on the line behind.
    first, *_ = (" ".join(note.split()) for note in done.stdout.split("  note:")[1:])
    assert "the capture ends early: no space left on device" in first, done
    told = " ".join(done.stdout.split())
    assert "(no space left on device): what came after that does not show" in told, done
    assert "look at nothing" not in told, done


@needs_bench
def test_every_loss_is_known_where_a_run_is_cut_off() -> None:
    text = SCENARIO.replace('kind = "file", size = "1MB"', 'kind = "endless"')
    # In the middle of an outage, and of a queue that overflows.
    for duration in ("180ms", "120ms"):
        # A kernel that begins late has lost nothing by then: it may try again, and each run has to agree.
        for _ in range(5):
            run = rx.run(text, bench="live", set={"duration": duration})
            assert run.summary["end"] == "duration"
            assert run.summary["time_s"] == float(duration[:-2]) / 1e3
            lost = (run.drops.to_pandas()["payload_bytes"] > 0).sum()
            assert run.flows[0].row["lost_copies"] == lost
            if lost:
                break
        assert lost > 0
        assert json.loads(run.analysis.overview())["capture"]["warnings"] == []


@needs_bench
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_files_are_written_spares_the_answer(
    number: int, scenario: Path, tmp_path: Path
) -> None:
    # Stopped by the first figure: tables are there by then, and the last files are not.
    code = (
        "import os, sys, rexmit.files.output as output; from rexmit.cli import main\n"
        f"output._draw = lambda *_: os.kill(os.getpid(), {int(number)}) or __import__('time').sleep(5)\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    out = tmp_path / "out"
    words = [sys.executable, "-c", code, "run", str(scenario), "--bench", "live", "--out", str(out)]
    done = subprocess.run([*words, "--accept-late"], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    # Behind a banner, where this machine held packets up.
    assert "live, Linux " in done.stdout, done
    assert done.stderr == f"rexmit: stopped while files were being written into {out}: not all are there\n"
    assert (out / "tables" / "drops.parquet").exists()
    assert not (out / "index.md").exists()


@needs_bench
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_and_what_was_captured_is_the_answer(
    number: int, scenario: Path, tmp_path: Path
) -> None:
    scenario.write_text(SCENARIO.replace('kind = "file", size = "1MB"', 'kind = "endless"'))
    out = tmp_path / "out"
    words = ["run", str(scenario), "--bench", "live", "--accept-late", "--out", str(out)]
    child = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from rexmit.cli import main; sys.exit(main(sys.argv[1:]))",
            *words,
            "--figures",
            "none",
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    capture = out / "captures" / "pc.pcapng"
    wait_until(lambda: capture.exists() and capture.stat().st_size > 50_000)
    child.send_signal(number)
    said, _ = child.communicate(timeout=30)
    assert child.returncode == 0
    assert "live, Linux " in said
    assert json.loads((out / "summary.json").read_text())["simulation"]["end"] == "stopped"
    assert not list(Path("/run/netns").glob(f"rexmit-{child.pid}-*"))


MAIN = "import sys; from rexmit.cli import main; sys.exit(main(sys.argv[1:]))"


def killed(scenario: Path, tmp_path: Path, code: str) -> int:
    """A live run whose captures nobody was to keep, killed while it runs: its process."""
    scenario.write_text(SCENARIO.replace('kind = "file", size = "1MB"', 'kind = "endless"'))
    words = [sys.executable, "-c", code, "run", str(scenario), "--bench", "live"]
    child = subprocess.Popen(words, env={**os.environ, "TMPDIR": str(tmp_path)}, stdout=subprocess.DEVNULL)
    wait_until(lambda: any(file.stat().st_size > 10_000 for file in tmp_path.glob("rexmit-*/pc.pcapng")))
    assert namespaces(child.pid)
    child.kill()
    child.wait(timeout=30)
    return child.pid


def namespaces(process: int) -> list[Path]:
    return list(Path("/run/netns").glob(f"rexmit-{process}-*"))


@needs_bench
def test_a_killed_run_leaves_nothing(scenario: Path, tmp_path: Path) -> None:
    process = killed(scenario, tmp_path, MAIN)
    wait_until(lambda: not list(tmp_path.glob("rexmit-*")) and not namespaces(process))
    assert list(tmp_path.glob("rexmit-*")) == []
    assert namespaces(process) == []


@needs_bench
def test_what_a_killed_run_left_after_all_is_removed_by_live_clean(scenario: Path, tmp_path: Path) -> None:
    alone = "from rexmit.files import passing; passing._watcher._start = lambda: None; "
    process = killed(scenario, tmp_path, alone + MAIN)
    (left,) = tmp_path.glob("rexmit-*")
    assert namespaces(process)
    environment, code = {**os.environ, "TMPDIR": str(tmp_path)}, MAIN
    clean = [sys.executable, "-c", code, "live", "clean"]
    said = subprocess.run(clean, env=environment, capture_output=True, text=True, check=True).stdout
    assert f"removed {left}, captures that nobody was to keep" in said
    assert not left.exists()
