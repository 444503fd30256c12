"""Files whose names are no UTF-8, and other bytes on the command line that are no text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rexmit.cli import main
from rexmit.files.destination import LIST
from test_output import CAPTURE, RECORDED

#: Bytes that are no UTF-8, a line break, a control character and one that turns the line around.
BYTES = b"a\xff\xfe\n\x1b\xe2\x80\xae"
SHOWN = "a\\xff\\xfe␊␛\\u202e"
#: In a figure, whose font has no pictures of control characters.
DRAWN = "a\\xff\\xfe\\x0a\\x1b\\u202e"

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="names of files are text here"),
    pytest.mark.filterwarnings("error"),
]


def name(folder: Path, ending: str = "") -> str:
    return os.fsdecode(os.path.join(os.fsencode(folder), BYTES + ending.encode()))


@pytest.fixture
def taken(tmp_path: Path) -> str:
    path = name(tmp_path, ".pcap.gz")
    Path(path).write_bytes(Path(CAPTURE).read_bytes())
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "fault" not in err
    assert "codec" not in err
    assert not set(err) & set("\ufffd\x1b\u202e")
    return err


def test_out_takes_such_a_capture_and_such_a_folder(
    taken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = name(tmp_path, "-out")
    assert main(["analyze", taken, "--out", out, "--top", "1"]) == 0
    assert f"{SHOWN}-out/index.md says what each file is" in capsys.readouterr().out
    index = (Path(out) / "index.md").read_text(encoding="utf-8")
    assert index.startswith("# a\\\\xff\\\\xfe␊␛\\\\u202e.pcap.gz\n")
    assert f"{SHOWN}.pcap.gz:" in "".join(index.split())  # a long folder's name wraps the line
    listed = (Path(out) / LIST).read_text(encoding="utf-8").split()
    assert {"index.md", "summary.json", "tables/flows.parquet"} <= set(listed)
    json.loads((Path(out) / "summary.json").read_text(encoding="utf-8"))
    # And once more, over what lies there.
    assert main(["analyze", taken, "--out", out, "--figures", "none"]) == 0


def test_traffic_takes_such_a_capture(taken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = name(tmp_path, "-out")
    assert main(["traffic", taken, "--out", out, "--figures", "svg"]) == 0
    assert f"{SHOWN}.pcap.gz: " in capsys.readouterr().out
    files = [DRAWN in path.read_text(encoding="utf-8") for path in Path(out).glob("*.svg")]
    assert files == [True] * 4
    json.loads((Path(out) / "traffic.json").read_text(encoding="utf-8"))


def test_compare_takes_such_captures(taken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = name(tmp_path, "-out")
    assert main(["compare", taken, CAPTURE, "--out", out, "--figures", "svg"]) == 0
    assert f"{SHOWN}.pcap.gz: " in capsys.readouterr().out
    told = json.loads((Path(out) / "comparison.json").read_text(encoding="utf-8"))
    assert told["first"]["name"].encode()
    assert f"first: {DRAWN}.pcap.gz" in (Path(out) / "side-by-side.svg").read_text(encoding="utf-8")


def test_annotate_reads_and_writes_such_files(
    taken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    noted = name(tmp_path, ".pcapng")
    for _ in range(2):
        assert main(["analyze", taken, "--annotate", noted]) == 0
        assert f"{SHOWN}.pcapng: the same packets, findings as comments" in capsys.readouterr().err
    assert main(["analyze", noted]) == 0


def test_a_scenario_with_such_a_name_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = name(tmp_path, ".toml")
    Path(path).write_text(RECORDED)
    out = name(tmp_path, "-out")
    assert main(["run", path, "--out", out, "--figures", "none"]) == 0
    assert main(["compare", path, out]) == 0
    assert "fault" not in capsys.readouterr().err


def test_mistakes_in_such_a_scenario_name_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = name(tmp_path, ".toml")
    assert refused(capsys, "run", path).startswith(f"{tmp_path}/{SHOWN}.toml: cannot be read: ")
    for text, line in ((RECORDED.replace('"1s"', "1"), 3), ("x = [", 1)):
        Path(path).write_text(text)
        for command in (["run", path], ["compare", path, path], ["run", path, "--runs", "2"]):
            assert refused(capsys, *command).startswith(f"{tmp_path}/{SHOWN}.toml:{line}: ")
    # What is found when it is about to run.
    Path(path).write_text(RECORDED.replace('rate = "2Mbps"', "").replace('delay = "5ms"', ""))
    assert refused(capsys, "run", path).startswith(f"{tmp_path}/{SHOWN}.toml:")


@pytest.mark.parametrize(
    "words",
    [
        ["stacks", "NAME"],
        ["analyze", CAPTURE, "--flow", "NAME"],
        ["analyze", CAPTURE, "--host", "NAME"],
        ["run", "SCENARIO", "--set", "NAME"],
        ["run", "SCENARIO", "--set", "name=NAME"],
        ["run", "SCENARIO", "--set", "NAME=1"],
        ["run", "SCENARIO", "--seed", "NAME"],
        ["compare", "SCENARIO", "SCENARIO", "--first-set", "name=NAME"],
        ["study", "run", "NAME"],
        ["NAME"],
        ["analyze", "NAME"],
        ["analyze", "NAME/x"],
        ["analyze", CAPTURE, "--NAME"],
        ["analyze", CAPTURE, "--figures", "NAME"],
        ["analyze", CAPTURE, "--annotate", "NAME/x"],
        ["completion", "NAME"],
    ],
    ids=" ".join,
)
def test_bytes_that_are_no_text_are_bad_input(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "recorded.toml"
    scenario.write_text(RECORDED)
    known = {"SCENARIO": str(scenario)}
    said = refused(capsys, *(known.get(w, w.replace("NAME", os.fsdecode(BYTES))) for w in words))
    assert said.count("\n") == 1
    assert "a\\xff\\xfe" in said or "a\\udcff\\udcfe" in said
