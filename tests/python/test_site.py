"""The site: it builds without a warning, opens from the file, loads nothing from elsewhere, is searched."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from browser import Watched

ROOT = Path(__file__).resolve().parents[2]
#: One of every kind: front, tutorial with a report, question, study, generated, Python, long tables.
KINDS = (
    "index.html",
    "tutorials/slow-download.html",
    "questions/which-stack.html",
    "studies/wireless.html",
    "reference/stacks.html",
    "reference/python.html",
    "json.html",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("sphinx", "furo", "myst_parser")),
        reason="Sphinx, Furo or MyST is not there: the site is not built",
    ),
]
sys.path.insert(0, str(ROOT / "site"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built") / "site"
    # The name of the module is that of a package, too.
    done = subprocess.run(
        [sys.executable, str(ROOT / "site" / "build.py"), "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return out


def test_every_document_is_a_page_that_can_be_reached(site: Path) -> None:
    listed = (site / "index.html").read_text("utf-8")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        page = path.relative_to(ROOT / "docs").with_suffix(".html")
        assert (site / page).is_file(), page
        assert str(page) == "index.html" or f'href="{page}"' in listed, page


def test_what_a_tutorial_prints_and_draws_is_on_its_page(site: Path) -> None:
    page = re.sub(r"<[^>]+>", "", (site / "tutorials/slow-download.html").read_text("utf-8"))
    assert "12.0 MB in 17.3 s" in page
    assert re.search(r"likely +bottleneck: 12\.6 s \(72%\)", page)
    assert re.search(r"open +loss-random: 4\.46 s \(26%\)", page)
    assert (site / "tutorials/download.html").stat().st_size > 100_000
    assert (site / "_images/download-sequence.svg").is_file()


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loads = re.compile(
        r"<(?:script|img|iframe|source)[^>]+src=\"(?:https?:)?//|<link[^>]+href=\"(?:https?:)?//"
    )
    for page in site.rglob("*.html"):
        assert not loads.search(page.read_text("utf-8")), page


def test_no_page_tells_where_it_was_built(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert str(ROOT) not in page.read_text("utf-8"), page


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (900, "dark"), (400, "light")])
def test_pages_open_from_the_file_and_pass_axe(chromium: Any, site: Path, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    watched = Watched(chromium, width=width, scheme=scheme)
    for kind in KINDS:
        page = watched.open(site / kind, ready="h1")
        # Furo's own page is judged with its list of pages; a report has tests of its own.
        rules = {
            "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]},
            "preload": False,
        }
        found = axe.run(page, context={"exclude": [["iframe"]]}, options=rules).response["violations"]
        assert [(kind, v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (kind, width)
    watched.close()
    assert [said for said in watched.said if said.startswith("error")] == []
    assert watched.elsewhere() == []


def test_search_works_from_the_file(chromium: Any, site: Path) -> None:
    watched = Watched(chromium)
    page = watched.open(site / "search.html", "?q=needless", ready="ul.search li")
    # Sphinx adds its results one by one.
    page.locator("ul.search a", has_text="timer fire in vain").first.wait_for()
    watched.close()


def test_a_command_that_fails_ends_the_build(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import tutorials

    (tmp_path / "docs").mkdir()
    for text, sentence in (
        ("```\nrexmit analyze nowhere.pcap\n```\n", "docs/x.md:2: rexmit analyze nowhere.pcap"),
        ("```python\nraise ValueError('no')\n```\n", "docs/x.md:2: ValueError: no"),
        ("![a picture](none.svg)\n", "docs/x.md: no block wrote none.svg"),
    ):
        (tmp_path / "docs/x.md").write_text(text, "utf-8")
        monkeypatch.setattr(tutorials, "ROOT", tmp_path)
        with pytest.raises(tutorials.FailedError, match=re.escape(sentence)):
            tutorials.play("docs/x.md", tmp_path / text[4:10].strip("`\n "), tmp_path, tmp_path / "extra")
