"""What a wheel and a source archive hold, and that an installed wheel works.

`make wheel` does the same with the full profile, from both, with packages fetched as a user's are.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from rexmit import _core, cli

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "validation"))

import plain_environment  # noqa: E402
import wheels  # noqa: E402


def maturin(*arguments: str | Path) -> None:
    tools = Path(sys.executable).parent
    env = os.environ | {"VIRTUAL_ENV": str(tools.parent)}
    env["PATH"] = os.pathsep.join([str(tools), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        [str(tools / "maturin"), *map(str, arguments)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the papers' studies."""
    out = tmp_path_factory.mktemp("studies")
    wheels.build_studies(out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the profile of the extension that is there: up to date, it is not compiled again."""
    if _core.__build__ not in ("local", "dev"):
        pytest.skip(f"the extension is built as {_core.__build__}: a wheel of it takes minutes (make wheel)")
    out = tmp_path_factory.mktemp("wheel")
    maturin("build", "--profile", _core.__build__, "--out", out)
    (built,) = out.glob("*.whl")
    return built


def test_a_source_archive_holds_all_that_a_build_reads(tmp_path: Path) -> None:
    maturin("sdist", "--out", tmp_path)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        held = {name.partition("/")[2] for name in tar.getnames()}
    assert wheels.lacking_in_sdist(held) == []


def test_a_wheel_holds_the_data_and_no_file_of_the_checkout_besides(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    assert wheels.lacking_in_wheel(held) == []
    tops = {name.split("/")[0] for name in held}
    name = f"rexmit-{wheels.VERSION}"
    assert tops == {"rexmit", f"{name}.dist-info", f"{name}.data"}
    assert not [name for name in held if "__pycache__" in name]
    metadata = zipfile.ZipFile(wheel).read(wheels.METADATA)
    assert wheels.wrong_metadata(metadata) == ""
    assert "there is no description" in wheels.wrong_metadata(metadata.partition(b"\n\n")[0])


def test_the_studies_are_in_a_wheel_of_their_own_and_only_there(wheel: Path, studies: Path) -> None:
    held = set(zipfile.ZipFile(studies).namelist())
    assert wheels.lacking_in_studies(held) == []
    assert {name.split("/")[0] for name in held} == {
        "rexmit_studies",
        f"rexmit_studies-{wheels.VERSION}.dist-info",
    }
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if "rexmit_studies" in name]
    metadata = zipfile.ZipFile(studies).read(f"rexmit_studies-{wheels.VERSION}.dist-info/METADATA")
    assert wheels.wrong_metadata(metadata) == ""


def test_the_studies_are_of_the_version_of_rexmit() -> None:
    project = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == wheels.VERSION
    assert f"rexmit=={wheels.VERSION}" in project["dependencies"]
    assert (ROOT / "studies" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_rexmit_imports_its_studies_by_their_entry_point_only() -> None:
    imports = re.compile(r"^\s*(from|import) rexmit_studies", re.M)
    found = [path for path in (ROOT / "python").rglob("*.py") if imports.search(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize(
    ("kind", "lost"),
    [
        ("wheel", "rexmit/scenarios/interruption.toml"),
        ("studies", "rexmit_studies/selfsim/calibration.json"),
        ("sdist", "stacks/linux-2.6-reno.toml"),
        ("sdist", "crates/scenario/build.rs"),
        ("sdist", "python/rexmit/scenarios/interruption.toml"),
    ],
)
def test_a_file_that_is_not_there_is_named(kind: str, lost: str) -> None:
    if kind == "wheel":
        assert lost in wheels.lacking_in_wheel({"rexmit/__init__.py"})
    elif kind == "studies":
        assert lost in wheels.lacking_in_studies({"rexmit_studies/__init__.py"})
    else:
        assert lost in wheels.lacking_in_sdist({"pyproject.toml"})


@pytest.mark.skipif(
    os.name == "nt", reason="the environment is linked together, which Windows does not allow"
)
@pytest.mark.parametrize("extras", [(), plain_environment.USED], ids=["base", "extras"])
def test_an_installed_wheel_answers_each_subcommand(
    wheel: Path, studies: Path, tmp_path: Path, extras: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    built = [wheel, studies] if extras else [wheel]
    environment = plain_environment.make(tmp_path / "venv", built, extras)
    work = tmp_path / "work"
    work.mkdir()
    wrong = wheels.smoke(environment / "bin" / "rexmit", work, base=not extras)
    assert not wrong, "\n".join(wrong)


def test_each_subcommand_is_among_those_tried() -> None:
    tried = {one.arguments.split()[0] for one in wheels.tries(linux=True)}
    assert set(cli.COMMANDS) <= tried


def test_links_of_the_readme_work_where_the_package_is_shown() -> None:
    # On the package index there is no folder beside it.
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    own = "https://github.com/rexmit/rexmit/blob/main/"
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert [
        link for link in links if link.startswith(own) and not (ROOT / link.removeprefix(own)).exists()
    ] == []


def test_the_metadata_are_those_that_an_index_takes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = {"Homepage", "Documentation", "Changelog", "Issues", "Source"}
    assert set(project["urls"]) == known
    assert all(url.startswith("https://github.com/rexmit/rexmit") for url in project["urls"].values())
    least = project["requires-python"].removeprefix(">=")
    versions = [c for c in project["classifiers"] if c.startswith("Programming Language :: Python :: 3.")]
    assert versions[0].endswith(f":: {least}")
    # A classifier for a licence is refused beside a licence expression.
    assert not [c for c in project["classifiers"] if c.startswith("License ::")]
