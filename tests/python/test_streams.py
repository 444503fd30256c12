"""Standard streams that are closed, full or unread, and Ctrl-C at any time: a sentence and an exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rexmit.cli import main
from test_output import CAPTURE, RECORDED

START = [sys.executable, "-m", "rexmit"]
COMMANDS = [
    "--help",
    "--version",
    "analyze --help",
    "analyze CAPTURE",
    "analyze CAPTURE --json",
    "analyze CAPTURE --ladder 1",
    "analyze CAPTURE --against CAPTURE --json",
    "run SCENARIO",
    "run SCENARIO --json",
    "run SCENARIO --runs 2",
    "run SCENARIO --runs 2 --json",
    "stacks",
    "stacks rfc-sack --json",
    "channels",
    "live clean",
    "study list",
    "study run wireless --quick",
    "study run wireless --quick --json",
    "compare SCENARIO SCENARIO",
    "compare SCENARIO SCENARIO --json",
    "traffic CAPTURE",
    "traffic CAPTURE --json",
]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("streams")
    scenario = folder / "recorded.toml"
    scenario.write_text(RECORDED)
    assert main(["run", str(scenario), "--out", str(folder / "run"), "--figures", "none"]) == 0
    return {"SCENARIO": str(scenario), "CAPTURE": str(folder / "run" / "captures" / "a.pcapng")}


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest, places: dict[str, str]) -> list[str]:
    if request.param == "live clean" and sys.platform != "linux":
        pytest.skip("the live bench needs Linux")
    return [*START, *(places.get(word, word) for word in request.param.split())]


def said(command: list[str], shell: str) -> tuple[int, str, str]:
    """What `COMMAND SHELL` comes to: exit code and both streams."""
    whole = ["sh", "-c", f'"$@" {shell}', "sh", *command]
    done = subprocess.run(whole, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert "fault of rexmit" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_a_closed_standard_output_is_a_failure(command: list[str]) -> None:
    code, _, err = said(command, ">&-")
    assert err.endswith("rexmit: standard output: it is closed\n")
    assert code == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_standard_output_is_a_failure(command: list[str]) -> None:
    code, _, err = said(command, ">/dev/full")
    assert err.endswith("rexmit: standard output: no space left on device\n")
    assert code == 1


def test_a_reader_who_has_had_enough_is_no_failure(command: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        done = subprocess.run(command, stdout=gone, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["2>&-", "2>/dev/full", "<&- 2>&-"])
def test_the_answer_comes_where_nobody_hears_notes(shell: str, places: dict[str, str]) -> None:
    command = [*START, "analyze", places["CAPTURE"]]
    code, out, _ = said(command, shell)
    assert (code, out) == said(command, "")[:2]
    assert code == 0
    assert said([*START, "analyze", "missing.pcap"], shell)[0] == 2


def test_no_file_gets_the_number_of_a_closed_stream(places: dict[str, str], tmp_path: Path) -> None:
    """Else what is printed would be in it."""
    out = tmp_path / "out"
    code, *_ = said(
        [*START, "analyze", places["CAPTURE"], "--out", str(out), "--figures", "none"], ">&- 2>&-"
    )
    assert code == 1
    assert (out / "index.md").exists()
    assert not [path for path in out.rglob("*.csv") if b"rexmit" in path.read_bytes()]


INTERRUPTED = """
import os, signal, sys
class Hook:
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Hook())
from rexmit.start import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "module",
    [
        "rexmit.cli",
        "argparse",
        "rexmit.cli.analyze",
        "rexmit._core",
        "rexmit.api",
        "pyarrow",
        "pyarrow.lib",
        "rexmit.files.output",
        "matplotlib",
        "numpy",
        "rexmit.figures.style",
        "rexmit.screen.page",
    ],
)
def test_ctrl_c_while_modules_are_loaded(module: str, places: dict[str, str], tmp_path: Path) -> None:
    code = INTERRUPTED.replace("MODULE", repr(module))
    out = tmp_path / "out"
    words = ["analyze", places["CAPTURE"], "--out", str(out), "--top", "1"]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert "Traceback" not in done.stderr
    # What was read by then is told.
    written = f"stopped while files were being written into {out}: not all are there"
    told = written if "(client)" in done.stdout else "stopped before there was an answer"
    assert bool(done.stdout) == (told == written)
    assert done.stderr == f"rexmit: {told}\n"
    assert done.returncode == 1
    assert not (tmp_path / "out" / "index.md").exists()


@pytest.mark.parametrize(
    "words",
    [
        "analyze CAPTURE --top 99999999999999999999",
        "analyze CAPTURE --ladder 99999999999999999999",
        "analyze CAPTURE --flows 99999999999999999999",
        "analyze CAPTURE --port 99999999999999999999",
        "analyze CAPTURE --interval 1e300s",
        "analyze CAPTURE --idle 1e400s",
        "analyze CAPTURE --from 99999999999999999999h",
        "run SCENARIO --runs 99999999999999999999",
        "run SCENARIO --seed 99999999999999999999",
        "run SCENARIO --seeds 1-99999999999999999",
        "run SCENARIO --top 99999999999999999999",
        "traffic CAPTURE --bin 1e300s",
        "traffic CAPTURE --bin 1e-300s",
        "study run wireless --replications 1e300",
    ],
)
def test_absurd_numbers_are_bad_input(
    words: str, places: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([places.get(word, word) for word in words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "fault" not in err


def test_a_node_with_a_long_name_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.toml"
    path.write_text(RECORDED.replace('"a"', f'"{"a" * 300}"'))
    assert main(["run", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "too long" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_name_that_is_not_utf_8_is_shown_with_its_bytes(tmp_path: Path) -> None:
    path = os.path.join(os.fsencode(tmp_path), b"a\xff\n\xe2\x80\xae.pcapng")
    Path(os.fsdecode(path)).write_bytes(Path(CAPTURE).read_bytes())
    for what in ("analyze", "traffic"):
        code, out, _ = said([*START, what, os.fsdecode(path)], "")
        assert code == 0
        assert "a\\xff␊\\u202e.pcapng" in out
