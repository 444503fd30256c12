"""`--out DIR`: what lies there is of one answer, and what is not rexmit's stays."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rexmit import _core
from rexmit.cli import main
from rexmit.files.destination import LIST, LOCK, Destination
from rexmit.files.lock import Lock
from rexmit.files.not_written import NotWrittenError

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


def test_the_table_of_the_index_is_one_block(tmp_path: Path) -> None:
    """A row behind an empty line is no row of it for a renderer."""
    out = tmp_path / "out"
    assert main(["analyze", CAPTURE, "--out", str(out), "--figures", "svg"]) == 0
    blocks = (out / "index.md").read_text().split("\n\n")
    tables = [block for block in blocks if any(line.startswith("|") for line in block.splitlines())]
    assert len(tables) == 1
    rows = tables[0].splitlines()
    assert rows[1].startswith("|---")
    assert all(line.startswith("|") and line.count("|") == rows[0].count("|") for line in rows)
    assert any("## Figures of" in block for block in blocks)


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
    (folder / LIST).write_text(f"../outside.txt\n{outside}\ngone.csv\n")
    with Destination(folder) as into:
        with into.file("new.csv") as (path,):
            path.write_text("new")
        assert into.finish([]) == 0
    assert outside.exists()
    assert (folder / LIST).read_text() == "new.csv\n"


CAPTURE = str(next((Path(__file__).parent.parent / "data").glob("A1*.snd.pcap.gz")))
PAIR = ["compare", CAPTURE, CAPTURE]
#: Commands with `--out DIR`, and a file that each writes.
COMMANDS = [
    (["analyze", CAPTURE, "--figures", "none"], "index.md"),
    (["analyze", CAPTURE, "--figures", "none"], "summary.json"),
    (["analyze", CAPTURE, "--figures", "none"], "tables/flows.csv"),
    (["analyze", CAPTURE, "--figures", "svg"], "figures/flow-0/time-sequence.svg"),
    (["run", "SCENARIO", "--figures", "none"], "scenario.toml"),
    (["run", "SCENARIO", "--figures", "none"], "captures/a.pcapng"),
    (["traffic", CAPTURE, "--figures", "none"], "bins.csv"),
    (["traffic", CAPTURE, "--figures", "svg"], "packets-scaling.svg"),
    (PAIR, "comparison.json"),
    ([*PAIR, "--figures", "svg"], "side-by-side.svg"),
    (["study", "run", "wireless", "--quick"], "results.json"),
    (["study", "run", "wireless", "--quick"], "wireless/tables/rows.csv"),
]


@pytest.fixture(params=COMMANDS, ids=lambda c: f"{c[0][0]}-{c[1]}")
def command(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[str], str]:
    words, name = request.param
    return [scenario(tmp_path) if word == "SCENARIO" else word for word in words], name


@pytest.fixture
def nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal comes before the work."""

    def work(*args: object, **options: object) -> None:
        raise AssertionError("it began to work")

    for name in ("analyze", "simulate", "traffic"):
        monkeypatch.setattr(_core, name, work)
    monkeypatch.setattr("rexmit_studies.run.run", work)


@pytest.mark.usefixtures("nothing_is_read")
def test_what_is_not_rexmits_is_not_replaced(
    command: tuple[list[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, name = command
    mine = tmp_path / "out" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    assert main([*words, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert f"{tmp_path / 'out'}: rexmit did not write {name} there" in said
    assert "name another folder, move it away, or say --overwrite" in said
    assert files(tmp_path / "out") == {name}
    assert mine.read_text() == "mine"


@pytest.mark.usefixtures("nothing_is_read")
@pytest.mark.parametrize("link", ["file", "folder", "dangling"])
def test_nothing_is_written_through_a_link(
    link: str, command: tuple[list[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, name = command
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "theirs").write_text("theirs")
    target, place = outside / "theirs", tmp_path / "out" / name
    if link == "dangling":
        target = outside / "new"
    elif link == "folder":
        target, place = outside, tmp_path / "out" / name.split("/")[0]
    place.parent.mkdir(parents=True)
    place.symlink_to(target)
    assert main([*words, "--out", str(tmp_path / "out"), "--overwrite"]) == 2
    assert "a symbolic link, and nothing is written through links" in capsys.readouterr().err
    assert files(outside) == {"theirs"}
    assert (outside / "theirs").read_text() == "theirs"


def test_overwrite_replaces_files_and_keeps_what_else_has_their_name(tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    out.mkdir()
    other.write_text("mine")
    (out / "index.md").hardlink_to(other)
    run(scenario(tmp_path), out, "--overwrite")
    assert (out / "index.md").read_text().startswith("# recorded")
    assert other.read_text() == "mine"
    # From now on it is rexmit's.
    run(scenario(tmp_path), out)


def test_a_file_that_comes_while_rexmit_works_is_not_replaced(tmp_path: Path) -> None:
    with Destination(tmp_path / "out", ["a.csv"]) as into:
        (tmp_path / "out" / "a.csv").write_text("mine")
        with into.file("a.csv") as (path,):
            path.write_text("rexmit's")
        with into.file("b.csv") as (path,):
            path.write_text("rexmit's")
        into.finish([])
        with pytest.raises(NotWrittenError, match=r"a\.csv: there is a file already, which rexmit did not"):
            into.done()
    assert (tmp_path / "out" / "a.csv").read_text() == "mine"
    assert (tmp_path / "out" / LIST).read_text() == "b.csv\n"


def test_what_is_cut_off_leaves_no_half_file_and_nothing_unlisted(tmp_path: Path) -> None:
    """As a kill does, at the worst moment: between a file's last byte and its place."""
    code = (
        "import os, sys, rexmit.files.destination as d; from rexmit.cli import main\n"
        "replace = os.replace\n"
        "def last(old, new):\n"
        "    if str(new).endswith('idle.csv'): os.kill(os.getpid(), 9)\n"
        "    replace(old, new)\n"
        "d.os.replace = last\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    out = tmp_path / "out"
    words = ["run", scenario(tmp_path), "--out", str(out), "--figures", "none"]
    assert subprocess.run([sys.executable, "-c", code, *words], check=False).returncode == -9
    assert "tables/flows.csv" in files(out)
    listed = set((out / LIST).read_text().split())
    assert {name for name in files(out) if name[0] != "."} <= listed
    # What is left there stands in nobody's way, and goes.
    run(words[1], out)
    run(words[1], tmp_path / "fresh")
    assert files(out) == files(tmp_path / "fresh")


def test_one_at_a_time_writes_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    code = (
        "import sys, time; from rexmit.files.destination import Destination\n"
        "with Destination(sys.argv[1]): print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(out)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout
    try:
        assert holder.stdout.readline() == "held\n"
        assert main(["run", scenario(tmp_path), "--out", str(out)]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith(f"rexmit: {out}: process {holder.pid} writes there; name another folder")
    finally:
        # A killed holder leaves no lock.
        holder.kill()
        holder.wait()
    run(scenario(tmp_path), out)
    assert not (out / LOCK).exists()


def test_a_lock_is_for_one_in_this_process_too_and_its_file_goes(tmp_path: Path) -> None:
    first = Lock(tmp_path / LOCK)
    assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
    with pytest.raises(NotWrittenError, match=f"process {os.getpid()} writes there"):
        Lock(tmp_path / LOCK)
    first.release()
    assert not (tmp_path / LOCK).exists()
    Lock(tmp_path / LOCK).release()


@pytest.mark.parametrize("error", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_where_a_file_system_has_no_locks_files_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int, recwarn: pytest.WarningsRecorder
) -> None:
    def none(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("fcntl.flock", none)
    with Destination(tmp_path / "out") as into, into.file("new.csv") as (path,):
        path.write_text("new")
    assert files(tmp_path / "out") == {LIST, "new.csv"}
    assert len(recwarn) == 0


def test_a_lock_is_not_taken_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / LOCK).symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="symbolic links"):
        Lock(tmp_path / LOCK)
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_refusal_leaves_no_folder_behind(tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    assert main(["analyze", str(tmp_path / "missing.pcap"), "--out", str(out)]) == 2
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("mine")
    assert main(["analyze", CAPTURE, "--out", str(tmp_path / "file")]) == 1
    assert (tmp_path / "file").read_text() == "mine"


def annotate(out: Path, *more: str) -> int:
    return main(["analyze", CAPTURE, "--annotate", str(out), *more])


def test_annotate_replaces_only_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, other = tmp_path / "noted.pcapng", tmp_path / "other.pcapng"
    assert annotate(out) == 0
    first = out.read_bytes()
    # A later answer takes the place of an earlier one.
    assert annotate(out) == 0
    assert out.read_bytes() == first
    capsys.readouterr()
    run(scenario(tmp_path), tmp_path / "run")
    taken = (tmp_path / "run" / "captures" / "a.pcapng").read_bytes()
    for mine in (b"mine", b"", taken, first[:40]):
        out.write_bytes(mine)
        assert annotate(out) == 2
        said = capsys.readouterr().err
        assert f"{out}: rexmit did not write this file and does not replace it" in said
        assert said.endswith("or say --overwrite\n")
        assert out.read_bytes() == mine
    other.hardlink_to(out)
    assert annotate(out, "--overwrite") == 0
    assert out.read_bytes() == first
    assert other.read_bytes() == mine


@pytest.mark.usefixtures("nothing_is_read")
@pytest.mark.parametrize("link", ["file", "folder", "dangling"])
def test_annotate_writes_through_no_link(
    link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs, out = tmp_path / "theirs", tmp_path / "noted.pcapng"
    if link == "folder":
        theirs.mkdir()
    elif link != "dangling":
        theirs.write_text("theirs")
    out.symlink_to(theirs)
    assert annotate(out, "--overwrite") == 2
    assert f"{out}: a symbolic link, and nothing is written through links" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} <= {"theirs", "noted.pcapng"}
    assert theirs.is_dir() or not theirs.exists() or theirs.read_text() == "theirs"


def test_annotate_writes_into_a_pipe(tmp_path: Path) -> None:
    out, whole = tmp_path / "pipe", tmp_path / "whole.pcapng"
    os.mkfifo(out)
    (tmp_path / "link").symlink_to(out)
    assert annotate(whole) == 0
    with (tmp_path / "read").open("wb") as read:
        reader = subprocess.Popen(["timeout", "20", "cat", str(out)], stdout=read)
    assert annotate(tmp_path / "link") == 0
    assert reader.wait() == 0
    assert (tmp_path / "read").read_bytes() == whole.read_bytes()


def test_annotate_spares_a_file_that_comes_while_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, analyze = tmp_path / "noted.pcapng", _core.analyze

    def meanwhile(*args: Any, **options: Any) -> Any:
        out.write_text("mine")
        return analyze(*args, **options)

    monkeypatch.setattr(_core, "analyze", meanwhile)
    assert annotate(out) == 2
    assert out.read_text() == "mine"


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for next to nothing."""
    place = tmp_path / "full"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "rexmit-test", str(place)]
    if sys.platform != "linux" or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system of 64 kB can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize(
    "words",
    [
        ["analyze", CAPTURE, "--annotate", "FULL/noted.pcapng"],
        ["analyze", CAPTURE, "--out", "FULL/x", "--figures", "none"],
        ["run", "SCENARIO", "--out", "FULL/x", "--figures", "none"],
        ["traffic", CAPTURE, "--out", "FULL/x", "--figures", "none"],
        [*PAIR, "--out", "FULL/x"],
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
def test_a_full_disk_is_code_1_everywhere(
    words: list[str], full: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    known = {"SCENARIO": scenario(tmp_path)}
    # What is small enough would fit.
    (full / "filler").write_bytes(bytes(52_000))
    assert main([known.get(word, word).replace("FULL", str(full)) for word in words]) == 1
    out, err = capfd.readouterr()
    assert "no space left on device" in err
    assert "Errno" not in err
    assert "os error" not in err
    assert out or "--annotate" in words, "the answer is shown"
    assert not (full / "noted.pcapng").exists()
