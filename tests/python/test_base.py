"""The base installation: what it weighs, what works in it, and how it says what an extra would add."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from rexmit import extras

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import documents  # noqa: E402
import plain_environment  # noqa: E402

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CAPTURE = ROOT / "tests" / "data" / "interruption.snd.pcap.gz"
#: Bytes that rexmit and its base requirements may take once installed.
MOST_BYTES = 40e6
#: What a person meets first.
#: All that it runs needs an extra.
OF_AN_EXTRA = ("docs/tutorials/sweep.md", "docs/tutorials/paper.md")
FIRST = ("README.md", *(f"docs/tutorials/{path.name}" for path in (ROOT / "docs/tutorials").glob("*.md")))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return plain_environment.make(tmp_path_factory.mktemp("base") / "venv", extras=())


def run(base: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return documents.execute([str(base / "bin" / "rexmit"), *words], folder, base)


def test_the_base_is_small() -> None:
    sizes = {
        dist.name: sum(file.locate().stat().st_size for file in dist.files or [] if file.locate().is_file())
        for dist in plain_environment.needed()
    }
    package = ROOT / "python" / "rexmit"
    sizes["rexmit"] = sum(
        path.stat().st_size
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    assert "nanoarrow" in sizes
    assert not {"numpy", "pyarrow", "scipy", "matplotlib"} & set(sizes)
    assert sum(sizes.values()) < MOST_BYTES, sizes


def test_extras_are_those_of_the_project() -> None:
    lists = PROJECT["optional-dependencies"]
    assert set(extras.MODULES) == set(lists) - {"dev", "wheel"}
    # Of what is installed from its folder, the modules are not listed.
    bring = {"rexmit_studies": ["rexmit-studies"], **packages_distributions()}
    studies = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text())["project"]
    assert lists["studies"] == [studies["name"]]
    lists = lists | {"studies": [studies["name"], *studies["dependencies"]]}
    for extra, modules in extras.MODULES.items():
        names = {text.split(">")[0].split("[")[0].lower() for text in lists[extra]}
        for module in modules:
            assert {name.lower() for name in bring[module]} & names, f"{extra} does not bring {module}"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("slow.pcap.gz", "packets were lost"),
        ("analyze slow.pcap.gz --why --top 2", "packets were lost"),
        ("analyze slow.pcap.gz --json", '"answer"'),
        ("analyze slow.pcap.gz --audit", "keep the laws"),
        ("analyze slow.pcap.gz --by cause", "the answer of"),
        ("analyze slow.pcap.gz --by pair --json", '"lost_s"'),
        ("analyze slow.pcap.gz --ladder 1", "again: "),
        ("analyze slow.pcap.gz --against slow.pcap.gz", "slow.pcap.gz"),
        ("analyze slow.pcap.gz --out found", "no Parquet (.*); no figures (.*)"),
        ("analyze slow.pcap.gz --annotate noted.pcapng", ""),
        ("report slow.pcap.gz -o page.html", "page.html"),
        ("run interruption --set duration=3s --out ran --report", "ran/index.md"),
        ("compare interruption interruption --second-seed 2", "episode"),
        ("traffic slow.pcap.gz", "not estimated without rexmit-studies: "),
        ("sample slow", "wrote slow.pcapng"),
        ("drill --help", "packetdrill"),
    ],
)
def test_the_base_answers(base: Path, tmp_path: Path, arguments: str, says: str) -> None:
    (tmp_path / "slow.pcap.gz").symlink_to(CAPTURE)
    done = run(base, tmp_path, *arguments.split())
    assert done.returncode == 0, done.stderr
    assert re.search(says, done.stdout), done.stdout


@pytest.mark.parametrize(
    ("arguments", "needs"),
    [
        ("analyze slow.pcap.gz --out found --figures png", "--figures needs matplotlib and numpy: "),
        ("analyze slow.pcap.gz --out found --parquet", "--parquet needs pyarrow: "),
        ("analyze .", "an analysis of many captures needs pyarrow: "),
        (
            "sweep interruption --out swept",
            "rexmit sweep needs numpy, pyarrow and scipy: ",
        ),
        ("run interruption --runs 2", "more than one run needs numpy, pyarrow and scipy: "),
        ("study list", "rexmit study needs rexmit-studies: "),
        ("study run wireless --quick", "rexmit study needs rexmit-studies: "),
        ("sql swept select", "rexmit sql needs duckdb, "),
        ("mcp .", "rexmit mcp needs mcp: "),
        ("record -- true", "rexmit record needs pyarrow: "),
    ],
)
def test_what_an_extra_brings_is_one_sentence(base: Path, tmp_path: Path, arguments: str, needs: str) -> None:
    (tmp_path / "slow.pcap.gz").symlink_to(CAPTURE)
    done = run(base, tmp_path, *arguments.split())
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"rexmit: {needs}")
    assert documents.LACKS.search(line)


def test_tables_in_the_base_are_rows_and_csv(base: Path, tmp_path: Path) -> None:
    code = """
import rexmit as rx
cap = rx.capture("slow.pcap.gz")
print(len(cap.episodes.to_pylist()), cap.episodes.columns[:2], "flow" in repr(cap.flows))
try:
    cap.episodes.to_arrow()
except ImportError as error:
    print(error)
"""
    (tmp_path / "slow.pcap.gz").symlink_to(CAPTURE)
    done = documents.execute([str(base / "bin" / "python"), "-c", code], tmp_path, base)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "3 ['flow', 'number'] True"
    assert second.startswith("to_arrow needs pyarrow: ")


@pytest.mark.slow
@pytest.mark.parametrize("document", FIRST)
def test_a_document_runs_in_the_base_or_names_the_line_that_adds_what_it_lacks(
    document: str, base: Path, tmp_path: Path
) -> None:
    known = documents.facts()
    said = documents.check(document, ["quick", "studies"], base, tmp_path, known, set(), may_lack=True)
    assert not said.failed, "\n".join(said.failed)
    assert document in OF_AN_EXTRA or len(said.lacked) < len(said.ran)


class Place:
    """An installation as `extras.command` sees it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, prefix: Path, checkout: bool = False) -> None:
        prefix.mkdir(parents=True)
        monkeypatch.setattr(extras, "_from_checkout", lambda: checkout)
        monkeypatch.setattr(sys, "prefix", str(prefix))
        monkeypatch.setattr(sys, "executable", str(prefix / "bin" / "python"))
        monkeypatch.delenv("VIRTUAL_ENV", raising=False)
        monkeypatch.setattr(extras, "has", lambda extra: extra == "figures")


def test_the_command_is_that_of_the_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv = tmp_path / "venv"
    Place(monkeypatch, venv)
    assert extras.command("tables") == f"{venv}/bin/python -m pip install 'rexmit[tables]'"
    monkeypatch.setenv("VIRTUAL_ENV", str(venv))
    assert extras.command("tables") == "pip install 'rexmit[tables]'"

    tool = tmp_path / "uv" / "tools" / "rexmit"
    Place(monkeypatch, tool)
    (tool / "uv-receipt.toml").touch()
    assert extras.command("tables") == "uv tool install 'rexmit[tables,figures]'"

    pipx = tmp_path / "pipx" / "venvs" / "rexmit"
    Place(monkeypatch, pipx)
    (pipx / "pipx_metadata.json").touch()
    assert extras.command("mcp") == "pipx install --force 'rexmit[figures,mcp]'"

    Place(monkeypatch, tmp_path / "cache" / "uv" / "archive-v0" / "x")
    assert extras.command("tables") == "uvx --from 'rexmit[tables,figures]' rexmit"

    by_uv = tmp_path / "by-uv"
    Place(monkeypatch, by_uv)
    (by_uv / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.9.1\n")
    found: Any = lambda name: None if name == "pip" else object()  # noqa: E731
    monkeypatch.setattr(extras, "find_spec", found)
    assert extras.command("tables") == f"uv pip install --python {by_uv} 'rexmit[tables]'"

    Place(monkeypatch, tmp_path / "checkout", checkout=True)
    monkeypatch.setattr(extras, "requires", lambda name: ["rich>=13", 'pyarrow>=15 ; extra == "tables"'])
    python = f"{tmp_path}/checkout/bin/python"
    assert extras.command("tables") == f"{python} -m pip install 'pyarrow>=15'"
    assert extras.command("studies") == f"{python} -m pip install -e {ROOT / 'studies'}"
