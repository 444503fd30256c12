"""What somebody types first: `rexmit` alone, `rexmit FILE`, and scenarios by their names."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from conftest import DATA, FakeCore
from rexmit import cli
from rexmit.cli import overview
from rexmit.running import shipped

CAPTURE = str(DATA / "cases" / "push_with_a_missing_id.pcap.gz")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(words) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert cli.main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err.removeprefix("rexmit: ").removesuffix("\n")


def test_rexmit_alone_shows_three_groups_of_commands_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    page = said(capsys)
    groups = [line for line in page.splitlines()[1:] if line and not line.startswith((" ", "rexmit"))]
    assert groups == ["a capture", "a simulation", "papers and sweeps"]
    named = re.findall(r"^ *rexmit (\S+)", page, re.M)
    assert set(named) <= {*cli.COMMANDS, "FILE", "help"}
    assert all(len(line) <= 100 for line in page.splitlines())
    assert said(capsys, "help") == said(capsys, "--help") == page
    assert page.splitlines() == overview.lines(cli.ABOUT)


def test_help_all_has_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    page = said(capsys, "help", "all")
    assert page.startswith("usage: rexmit")
    assert [name for name in cli.COMMANDS if not re.search(rf"^    {name}\b", page, re.M)] == []


def test_a_file_in_the_place_of_a_command_is_analysed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(capfd, CAPTURE) == said(capfd, "analyze", CAPTURE)
    assert json.loads(said(capfd, CAPTURE, "--json")) == json.loads(said(capfd, "analyze", CAPTURE, "--json"))
    # Without an ending, too.
    (tmp_path / "taken").write_bytes(Path(CAPTURE).read_bytes())
    monkeypatch.chdir(tmp_path)
    assert said(capfd, "taken").startswith("taken: 55 packets")


def test_a_command_is_a_command_though_a_file_has_its_name(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "channels").write_bytes(Path(CAPTURE).read_bytes())
    assert "gilbert-elliott" in said(capfd, "channels")


def test_several_files_are_one_rotation(core: FakeCore, tmp_path: Path) -> None:
    (tmp_path / "a.pcap").touch()
    assert cli.main([str(tmp_path / "a.pcap"), "b.pcap", "--port", "80"]) == 0
    assert core.calls[0]["paths"] == [str(tmp_path / "a.pcap"), "b.pcap"]
    assert core.calls[0]["port"] == 80


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("nowhere.pcap", "nowhere.pcap: there is no such file, and no command of this name"),
        ("captures/monday", "captures/monday: there is no such file, and no command of this name"),
        ("analize", "COMMAND: analize is none of analyze, "),
    ],
)
def test_a_word_that_is_neither_is_refused(
    word: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    why = refused(capsys, word)
    assert why.startswith(sentence)
    assert why.endswith("did you mean analyze?") == (word == "analize")


def test_scenarios_lists_what_ships_and_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {one["name"]: one["about"] for one in json.loads(said(capsys, "scenarios", "--json"))}
    assert list(listed) == shipped.names()
    assert len(listed) == len(list(shipped.FOLDER.glob("*.toml")))
    assert all(listed.values()), "each says what it is"
    page = said(capsys, "scenarios")
    assert [name for name in listed if not re.search(rf"^  {name} ", page, re.M)] == []
    text = said(capsys, "scenarios", "wifi-bursts")
    assert tomllib.loads(text)["name"] == "wifi-bursts"
    assert refused(capsys, "scenarios", "wifi-burst").startswith(
        "'wifi-burst' is no scenario that ships with rexmit; did you mean wifi-bursts?"
    )


@pytest.mark.parametrize("name", shipped.names())
def test_a_scenario_is_called_as_its_file(name: str) -> None:
    assert tomllib.loads(shipped.scenario(name).read_text(encoding="utf-8"))["name"] == name


def test_run_takes_a_scenario_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    short = ("--set", "duration=2s", "--seed", "5")
    by_name = said(capsys, "run", "interruption", *short).splitlines()
    by_file = said(capsys, "run", str(shipped.scenario("interruption")), *short).splitlines()
    assert by_name[0].startswith("simulated: interruption, seed 5")
    # The last line is the next command, which has the name.
    assert by_name[:-1] == by_file[:-1]
    assert by_name[-1].startswith("  next     rexmit run interruption --set duration=2s --seed 5 ")


def test_a_file_comes_before_a_scenario_that_ships(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = shipped.scenario("interruption").read_text(encoding="utf-8")
    (tmp_path / "rto").write_text(text.replace('name = "interruption"', 'name = "own"'))
    assert said(capsys, "run", "rto", "--set", "duration=1s").startswith("simulated: own, seed 1")


def test_a_name_that_no_scenario_has_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    no_file = "is no file, and no scenario that ships with rexmit"
    assert refused(capsys, "run", "interuption") == f"'interuption' {no_file}; did you mean interruption?"
    assert refused(capsys, "run", "zzz") == f"'zzz' {no_file}; rexmit scenarios lists them"
    assert refused(capsys, "run", "mine.toml") == "mine.toml: cannot be read: there is no such file"


def test_sweep_takes_one_by_its_name_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    grid = ("--vary", "link.air.delay=1ms", "--runs", "1", "--set", "duration=1s")
    assert cli.main(["sweep", "wifi-bursts", *grid, "--out", str(tmp_path / "swept")]) == 0
    assert "1ms" in capsys.readouterr().out


def test_python_and_compare_take_names_too(capsys: pytest.CaptureFixture[str]) -> None:
    import rexmit as rx

    run = rx.run("interruption", seed=5, set={"duration": "1s"})
    assert run.command == "rexmit run interruption --set duration=1s --seed 5"
    short = ("--first-set", "duration=2s", "--second-set", "duration=3s")
    page = said(capsys, "compare", "interruption", "interruption", *short)
    assert page.startswith("first   interruption, seed 1")
    with pytest.raises(ValueError, match="did you mean wifi-bursts"):
        rx.run("wifi-burst")
