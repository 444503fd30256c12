"""Folders of runs in which files are missing, cut off, foreign or unreadable: a sentence and exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rexmit.cli import main
from test_output import CAPTURE, RECORDED

FLOW = {"from": "a", "to": "b", "stack": "linux", "forward": {"data_bytes": 9}, "back": {"data_bytes": 0}}
#: What compare reads of a live run's answer, of a bridge that kept time.
BRIDGE = {"late_p99_s": 0.0, "late_p999_s": 0.0, "over_1ms": 0, "overload": 0, "passed": 9}


@pytest.fixture
def live(tmp_path: Path) -> Path:
    """A folder as a live run leaves it."""
    folder = tmp_path / "live"
    (folder / "scenario.toml").parent.mkdir()
    (folder / "scenario.toml").write_text(RECORDED)
    assert main(["analyze", CAPTURE, "--out", str(folder), "--figures", "none", "--overwrite"]) == 0
    answer = json.loads((folder / "summary.json").read_text())
    answer["simulation"] = {"bridge": BRIDGE, "flows": [FLOW]}
    (folder / "scenario.toml").write_text(RECORDED)
    (folder / "summary.json").write_text(json.dumps(answer))
    (folder / "captures").mkdir()
    for node in "ab":
        (folder / "captures" / f"{node}.pcapng").write_bytes(Path(CAPTURE).read_bytes())
    return folder


def written(name: str, text: str | bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def cut(name: str, size: int) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:size])


def other(path: Path, make: Callable[[Path], object]) -> None:
    """Something else in the place of a file."""
    path.unlink()
    make(path)


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "no JSON": (written("summary.json", "words"), "summary.json: is no JSON, or cut off"),
    "empty": (written("summary.json", ""), "summary.json: is no JSON, or cut off"),
    "cut JSON": (cut("summary.json", 200), "summary.json: is no JSON, or cut off"),
    "no text": (written("summary.json", b"\xff\xfe"), "summary.json: is no JSON, or cut off"),
    "deep JSON": (written("summary.json", "[" * 200_000), "summary.json: is no JSON, or cut off"),
    "other JSON": (written("summary.json", "[1]"), "summary.json: is no answer of rexmit run"),
    "simulation of text": (written("summary.json", '{"simulation": "x"}'), "is no answer of rexmit run"),
    "no flows": (written("summary.json", '{"simulation": {"bridge": {}}}'), "lacks what a live run says"),
    "other flows": (
        written("summary.json", '{"simulation": {"bridge": {}, "flows": [1]}}'),
        "lacks what a live run says",
    ),
    "flows of another version": (
        written("summary.json", '{"simulation": {"bridge": {}, "flows": [{"stack": "x"}]}}'),
        "lacks what a live run says",
    ),
    "another version": (
        written("summary.json", '{"format": 1, "simulation": {"bridge": {}}}'),
        "summary.json: format is not 2: another version of rexmit wrote it",
    ),
    "a capture's answer": (written("summary.json", '{"format": 2}'), "is no answer of rexmit run"),
    "bridge of text": (
        written("summary.json", '{"simulation": {"bridge": "x"}}'),
        "simulation.bridge is not",
    ),
    "bars of text": (
        written("summary.json", '{"simulation": {"bridge": {"missed": ["x"]}}}'),
        "simulation.bridge is not",
    ),
    "pipe": (lambda f: other(f / "summary.json", os.mkfifo), "summary.json: is no regular file"),
    "directory": (lambda f: other(f / "summary.json", os.mkdir), "summary.json: is a directory"),
    "link to itself": (
        lambda f: other(f / "summary.json", lambda path: os.symlink(path, path)),
        "summary.json: cannot be read: too many levels of symbolic links",
    ),
    "pipe as table": (lambda f: other(f / "tables/flows.parquet", os.mkfifo), "flows.parquet: is no regular"),
    "pipe as capture": (lambda f: other(f / "captures/b.pcapng", os.mkfifo), "b.pcapng: is no regular file"),
    "missing capture": (
        lambda f: (f / "captures/b.pcapng").unlink(),
        "b.pcapng: the capture at b is not there",
    ),
    "empty capture": (written("captures/b.pcapng", ""), "b.pcapng: is empty"),
    "foreign capture": (written("captures/b.pcapng", "words" * 99), "b.pcapng: is "),
    "folder as capture": (
        lambda f: ((f / "captures/b.pcapng").unlink(), (f / "captures/b.pcapng").mkdir()),
        "b.pcapng: is a directory",
    ),
    "cut table": (cut("tables/episodes.parquet", 90), "episodes.parquet: is no such table"),
    "table of something else": (
        lambda f: ((f / "tables/flows.parquet").unlink(), (f / "tables/flows.csv").write_text("a,b\n1,2\n")),
        "flows.csv: is no such table",
    ),
    "columns of other kinds": (
        lambda f: (
            (f / "tables/flows.parquet").unlink(),
            (f / "tables/flows.csv").write_text("flow,sender,receiver\nx,1,2\n"),
        ),
        "flows.csv: is no such table",
    ),
    "foreign table": (written("tables/flows.parquet", "words"), "flows.parquet: is no such table"),
    "no summary": (
        lambda f: (f / "summary.json").unlink(),
        "summary.json: is missing, and alone says whether",
    ),
    "no scenario": (lambda f: (f / "scenario.toml").unlink(), "no folder of a run"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_a_sentence(damage: str, live: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil, sentence = DAMAGE[damage]
    spoil(live)
    capsys.readouterr()
    assert main(["compare", str(live), CAPTURE]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert str(live) in err
    assert err.count("\n") == 1
    assert "fault" not in err


def test_a_whole_folder_and_one_without_tables_are_read(
    live: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(live), CAPTURE]) == 0
    for path in (live / "tables").iterdir():
        path.unlink()
    assert main(["compare", str(live), CAPTURE]) == 0
    assert "fault" not in capsys.readouterr().err


@pytest.fixture
def simulated(tmp_path: Path) -> Path:
    """A folder as a simulated run leaves it."""
    (tmp_path / "s.toml").write_text(RECORDED)
    assert main(["run", str(tmp_path / "s.toml"), "--out", str(tmp_path / "sim"), "--figures", "none"]) == 0
    return tmp_path / "sim"


OF_SIMULATED: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (written("summary.json", ""), "summary.json: is no JSON, or cut off"),
    "list": (written("summary.json", "[]"), "summary.json: is no answer of rexmit run"),
    "pipe": (lambda f: other(f / "summary.json", os.mkfifo), "summary.json: is no regular file"),
    "scenario that is a folder": (
        lambda f: other(f / "scenario.toml", os.mkdir),
        "scenario.toml: cannot be read",
    ),
    "scenario that is none": (written("scenario.toml", "x = ["), "scenario.toml:1: "),
    "no text": (written("scenario.toml", b"\xff"), "scenario.toml: cannot be read"),
}


@pytest.mark.parametrize("damage", OF_SIMULATED)
def test_damage_of_a_simulated_run(damage: str, simulated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil, sentence = OF_SIMULATED[damage]
    spoil(simulated)
    capsys.readouterr()
    assert main(["compare", str(simulated), CAPTURE]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert sentence in err
    assert "fault" not in err


@pytest.mark.parametrize("thing", [os.mkfifo, os.mkdir], ids=["pipe", "directory"])
@pytest.mark.parametrize("name", [".rexmit-files", "summary.json", "tables/flows.csv", "index.md"])
def test_an_answer_into_a_damaged_folder(
    name: str, thing: Callable[[Path], object], simulated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a process of its own: what waits for a pipe is ended."""
    other(simulated / name, thing)
    kinds = (
        ["run", str(simulated.parent / "s.toml"), "--figures", "none"],
        ["analyze", CAPTURE, "--figures", "none"],
        ["study", "run", "rto", "--quick"],
    )
    for words in kinds if name == ".rexmit-files" else kinds[:2]:
        words = [sys.executable, "-m", "rexmit", *words, "--out", str(simulated)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=120, check=False, env=environment
        )
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert name in done.stderr
        wrong = "is no regular file" if name == ".rexmit-files" else "rexmit did not write "
        assert wrong in done.stderr


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A folder as `rexmit record` leaves it, of a kernel whose tables were not made smaller any more."""
    folder = tmp_path / "rec"
    (folder / "captures").mkdir(parents=True)
    (folder / "kernel").mkdir()
    assert main(["analyze", CAPTURE, "--annotate", str(folder / "captures" / "record.pcapng")]) == 0
    about = {"end": "command", "packets": 9, "counters": {"TCPTimeouts": 1}, "warnings": [], "dropped": 0}
    interface = {"name": "lo", "queue": "noqueue", "offloads": ["tso"], "counts": {"rx_dropped": 0}}
    (folder / "record.json").write_text(json.dumps(about | {"interfaces": [interface]}))
    columns = "time_ns,local,remote,cause,evidence,seq,seq_end,segments,failed"
    row = "1000000000,10.0.0.1:1,10.0.0.2:2,recovery,ack,1,2,1,0"
    (folder / "kernel" / "retransmissions.csv").write_text(f"{columns}\n{row}\n")
    return folder


OF_RECORDING: dict[str, tuple[Callable[[Path], object], str]] = {
    "empty": (written("record.json", ""), "record.json: is no JSON, or cut off"),
    "cut": (cut("record.json", 40), "record.json: is no JSON, or cut off"),
    "no text": (written("record.json", b"\xff"), "record.json: is no JSON, or cut off"),
    "list": (written("record.json", "[]"), "record.json: it is not what rexmit record writes"),
    "packets": (written("record.json", '{"packets": "x"}'), "record.json: packets is not what"),
    "lost": (written("record.json", '{"kernel_lost": [1]}'), "record.json: kernel_lost is not what"),
    "counters": (written("record.json", '{"counters": {"TCPTimeouts": "x"}}'), "counters.TCPTimeouts is not"),
    "interfaces": (written("record.json", '{"interfaces": [1]}'), "interfaces[0] is not what"),
    "an interface": (
        written("record.json", '{"interfaces": [{"offloads": "x"}]}'),
        "interfaces[0].offloads is",
    ),
    "no capture": (lambda f: (f / "captures/record.pcapng").unlink(), "a recording without a capture"),
    "pipe as capture": (
        lambda f: other(f / "captures/record.pcapng", os.mkfifo),
        "record.pcapng: is no regular file",
    ),
    "foreign capture": (written("captures/record.pcapng", "words" * 99), "record.pcapng: is "),
    "words": (
        written("kernel/retransmissions.csv", b"\xff\xfe\n" * 9),
        "retransmissions.csv: is no table that",
    ),
    "other columns": (
        written("kernel/retransmissions.csv", "a,b\n1,2\n"),
        "retransmissions.csv: is no table",
    ),
    "words for numbers": (
        written(
            "kernel/retransmissions.csv", "time_ns,local,remote,cause,seq,seq_end,segments\nx,,,,y,z,1\n"
        ),
        "retransmissions.csv: is no table that",
    ),
    "some columns": (
        written("kernel/retransmissions.csv", "time_ns,local\n1,x\n"),
        "retransmissions.csv: is no table that",
    ),
    "empty table": (written("kernel/retransmissions.csv", ""), "retransmissions.csv: is no table that"),
    "folder as table": (lambda f: other(f / "kernel/retransmissions.csv", os.mkdir), "csv: is a directory"),
    "foreign Parquet": (
        lambda f: (
            (f / "kernel/retransmissions.csv").unlink(),
            (f / "kernel/retransmissions.parquet").write_text("words"),
        ),
        "retransmissions.parquet: is no such table",
    ),
}


@pytest.mark.parametrize("how", [[], ["--json"], ["--by", "host"]], ids=["page", "json", "by"])
@pytest.mark.parametrize("damage", OF_RECORDING)
def test_damage_of_a_recording(
    damage: str, how: list[str], recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil, sentence = OF_RECORDING[damage]
    spoil(recording)
    capsys.readouterr()
    code = main(["analyze", str(recording), *how])
    out, err = capsys.readouterr()
    assert "fault" not in err
    if code == 0:
        # Groups need none of the kernel's tables.
        assert how[:1] == ["--by"]
        return
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert str(recording) in err


def test_a_whole_recording_and_one_that_says_little_are_read(
    recording: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyze", str(recording)]) == 0
    (recording / "record.json").write_text('{"interfaces": [{"counts": {"a": 1}}], "warnings": null}')
    for how in ([], ["--json"]):
        assert main(["analyze", str(recording), *how]) == 0
    (recording / "record.json").write_text("{}")
    for path in (recording / "kernel").iterdir():
        path.unlink()
    assert main(["analyze", str(recording)]) == 0
    assert "fault" not in capsys.readouterr().err
