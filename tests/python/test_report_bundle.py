"""The page of `rexmit report` as it is committed: one file that loads nothing, and what its sources give."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXPLORER = ROOT / "explorer"
PAGE = ROOT / "python" / "rexmit" / "report" / "explorer.html"
MARKER = "<!--rexmit-data-->"


def test_the_page_has_one_place_for_the_data_and_loads_nothing() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.count(MARKER) == 1
    # The data stands before the script that reads it.
    assert text.index(MARKER) < text.rindex("<script>")
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=(?!['\"]?data:)", text)
    assert not re.search(r"@import|url\(\s*['\"]?(https?:|//)", text)
    # Names of XML's vocabularies are no addresses that anything loads.
    addresses = set(re.findall(r"https?://[^\s\"'`<>)\\]+", text))
    assert all(a.startswith("http://www.w3.org/") for a in addresses), addresses
    assert len(text.encode()) < 250_000


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (EXPLORER / "package-lock.json").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The explorer with its packages; skips where Node or the packages cannot be had."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not there: the committed page is not compared with a fresh build")
    copy = tmp_path_factory.mktemp("checkout") / "explorer"
    shutil.copytree(EXPLORER, copy, ignore=shutil.ignore_patterns("node_modules"))
    if (EXPLORER / "node_modules").is_dir():
        (copy / "node_modules").symlink_to(EXPLORER / "node_modules")
        return copy
    got = _npm(copy, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    if got.returncode:
        pytest.skip(f"npm ci failed, so the committed page is not compared: {got.stderr.strip()[-300:]}")
    return copy


def _npm(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["npm", *words], cwd=folder, capture_output=True, text=True, timeout=240, check=False
    )


@pytest.mark.slow
def test_the_committed_page_is_what_its_sources_give(sources: Path) -> None:
    built = _npm(sources, "run", "build")
    assert built.returncode == 0, built.stdout + built.stderr
    fresh = sources.parent / "python" / "rexmit" / "report" / "explorer.html"
    assert fresh.read_bytes() == PAGE.read_bytes(), "make explorer builds the page anew"


@pytest.mark.slow
def test_its_own_tests_pass(sources: Path) -> None:
    done = _npm(sources, "test")
    assert done.returncode == 0, done.stdout + done.stderr
