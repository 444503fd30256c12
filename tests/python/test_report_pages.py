"""Comparisons, both ends and studies as reports in a real browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import rexmit
from browser import Watched, saved_svg
from conftest import DATA
from rexmit.cli import main
from rexmit.screen.units import plain_seconds

FIRST, SECOND = DATA / "tsoblk.snd.pcap.gz", DATA / "tsoloss.snd.pcap.gz"


def colours(page: Any, selector: str) -> int:
    """How many colours a canvas has: one where nothing was drawn."""
    return int(
        page.evaluate(
            """(selector) => {
              const on = document.querySelector(selector);
              const seen = new Set(new Uint32Array(
                on.getContext('2d').getImageData(0, 0, on.width, on.height).data.buffer));
              return seen.size;
            }""",
            selector,
        )
    )


def test_a_comparison_lays_runs_over_each_other_and_says_what_differs(
    watched: Watched, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "both.html"
    assert main(["report", str(FIRST), str(SECOND), "-o", str(path)]) == 0
    capsys.readouterr()
    assert main(["analyze", str(FIRST), "--against", str(SECOND), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    page = watched.open(path)
    page.locator(".overlaid canvas").wait_for()
    page.wait_for_timeout(500)
    assert colours(page, ".overlaid canvas") > 5
    words = page.inner_text("main")
    for difference in told["differences"]:
        assert difference["what"] in words
        if difference["cost_s"] is not None:
            assert plain_seconds(difference["cost_s"]) in words
    page.get_by_role("button", name="Side by side").click()
    page.locator(".panels canvas").nth(3).wait_for()
    page.wait_for_timeout(300)
    assert page.locator(".panels").count() == 2
    assert "beside=1" in page.url


def test_both_ends_stand_side_by_side_and_share_their_time(watched: Watched, tmp_path: Path) -> None:
    path = tmp_path / "ends.html"
    ends = [str(DATA / f"tsoloss.{end}.pcap.gz") for end in ("snd", "rcv")]
    assert main(["report", "--sender", ends[0], "--receiver", ends[1], "-o", str(path)]) == 0
    page = watched.open(path)
    page.get_by_role("button", name="Open this flow").click()
    page.get_by_role("button", name="side by side").click()
    page.locator(".panels canvas").nth(3).wait_for()
    page.wait_for_timeout(300)
    words, saved = saved_svg(page)
    # What is on the screen: both, each under its name, over one time: that of the end that is shown.
    assert [word for word in words if word.startswith("tsoloss.")] == [
        "tsoloss.snd.pcap.gz",
        "tsoloss.rcv.pcap.gz",
    ]
    assert words.count("time since the first packet of tsoloss.snd.pcap.gz (s)") == 2
    assert twice(words)
    assert float(saved["width"]) > 1300
    second = ".beside .panels:last-of-type canvas"
    before = page.evaluate("(s) => document.querySelector(s).toDataURL()", second)
    # What one zooms on the left is zoomed on the right.
    box = page.locator(".panels").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 100)
    page.mouse.wheel(0, -240)
    page.wait_for_timeout(300)
    assert page.evaluate("(s) => document.querySelector(s).toDataURL()", second) != before


def test_side_by_side_the_longer_run_is_seen_to_its_end(watched: Watched, tmp_path: Path) -> None:
    short, long = DATA / "A1_reno_22M_deep_200ms.snd.pcap.gz", DATA / "F1_cubic_22M_GE.snd.pcap.gz"
    took = [rexmit.capture(path).worst(1)[0].row["duration_s"] for path in (short, long)]
    assert took[0] < 0.9 * took[1]
    path = tmp_path / "both.html"
    assert main(["report", str(short), str(long), "-o", str(path)]) == 0
    page = watched.open(path)
    page.get_by_role("button", name="Side by side").click()
    page.locator(".panels canvas").nth(3).wait_for()
    page.wait_for_timeout(300)
    # Nearer by half: what was seen is twice as much.
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(300)
    low, high = map(float, page.url.partition("t=")[2].partition("&")[0].split(","))
    assert took[1] <= 2 * (high - low) < 1.1 * took[1]


def twice(words: list[str]) -> bool:
    """Whether the axes of two sides are the same: each mark of one stands at the other as well."""
    marks = [word for word in words if re.fullmatch(r"[\d,.]+( (B|kB|MB|GB|bps|kbps|Mbps|Gbps|ms|s))?", word)]
    return len(marks) > 20 and all(marks.count(mark) % 2 == 0 for mark in set(marks))


def test_two_runs_side_by_side_have_the_same_axes_and_either_selects(
    watched: Watched, tmp_path: Path
) -> None:
    names = ("A1_reno_22M_deep_200ms.snd.pcap.gz", "F1_cubic_22M_GE.snd.pcap.gz")
    path = tmp_path / "both.html"
    assert main(["report", *(str(DATA / name) for name in names), "-o", str(path)]) == 0
    # Some way into both, zoomed in: each alone would have a range of its own.
    page = watched.open(path, "#flow/1?beside=1&t=0.3,1.1", ".panels canvas")
    page.locator(".panels canvas").nth(3).wait_for()
    page.wait_for_timeout(300)
    words, _ = saved_svg(page)
    assert words.count("time since the flow’s first packet (s)") == 2
    assert twice(words)
    # A packet of the second run: what is told of it and saved is of that run.
    second = page.locator(".panels").nth(1)
    box = second.bounding_box()
    captured = rexmit.capture(DATA / names[1])
    packets = captured.worst(1)[0].frame("packets")
    found = None
    for y in range(60, 330, 6):
        page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + y)
        if found := re.search(r"Packet (\d+)", page.inner_text(".inspector")):
            break
    assert found
    number = int(found[1])
    row = list(packets["packet"]).index(number)
    page.wait_for_timeout(200)
    assert "across=1" in page.url
    assert f"p={number}" in page.url
    assert f"{packets['time'][row]:.6f}" in page.inner_text(".inspector")
    with page.expect_download() as download:
        page.get_by_role("button", name=f"CSV of packet {number} of {names[1]}").click()
    assert download.value.suggested_filename == f"{names[1]}-flow-1-packet-{number}.csv"
    cells = Path(download.value.path()).read_text().splitlines()[1].split(",")
    assert float(cells[1]) == pytest.approx(packets["time"][row], abs=1e-9)
    # Its address opens the same, and its keys go through the episodes of that run.
    address = page.url
    page = watched.open(path, address.partition(".html")[2], ".inspector h3")
    page.get_by_role("heading", name=f"Packet {number}").wait_for()
    page.locator(".panels").nth(1).focus()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.wait_for_timeout(200)
    assert "across=1" in page.url
    assert names[1] in page.inner_text("[aria-live]")
    page.keyboard.press("l")
    page.locator(".ladder canvas").wait_for()
    assert page.url.endswith("#episode/1/1@2")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (900, "dark"), (400, "light")])
def test_comparisons_and_studies_pass_axe_and_are_no_wider_than_the_window(
    chromium: Any, study_folder: Path, tmp_path: Path, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    both, study = tmp_path / "both.html", tmp_path / "study.html"
    assert main(["report", str(FIRST), str(SECOND), "-o", str(both)]) == 0
    assert main(["report", str(study_folder), "-o", str(study)]) == 0
    watched = Watched(chromium, width=width, scheme=scheme)
    for path, fragment in ((both, ""), (both, "#flow/1?beside=1"), (study, "")):
        page = watched.open(path, fragment)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
        found = axe.run(page, options={"runOnly": {"type": "tag", "values": rules}}).response["violations"]
        assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []
    watched.close()
    assert watched.said == []


def test_a_study_shows_its_figures_claims_and_statements(watched: Watched, study_folder: Path) -> None:
    path = study_folder.parent / "study.html"
    assert main(["report", str(study_folder), "-o", str(path)]) == 0
    told = json.loads((study_folder / "results.json").read_text())
    page = watched.open(path)
    words = page.inner_text("main")
    for row in told["rows"]:
        assert row["key"] in words
        assert row["printed"] in words
        assert row["grade"] in words
    for claim in told["claims"]:
        assert claim["claim"] in words
        assert claim["verdict"] in words
    for statement in told["statements"]:
        assert statement["found"] in words
    images = page.locator(".study-figures img")
    assert images.count() > 0
    for image in images.all():
        image.scroll_into_view_if_needed()
        page.wait_for_timeout(100)
        assert image.evaluate("(i) => i.naturalWidth") > 0


@pytest.fixture(scope="module")
def study_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `rexmit study run --out` writes it: an answer that its schema takes, and a figure."""
    folder = tmp_path_factory.mktemp("study") / "out"
    (folder / "small" / "figures").mkdir(parents=True)
    row = {
        "key": "small.table1.rate",
        "definition": "goodput of the upload",
        "unit": "Mbps",
        "paper": 4.2,
        "printed": "4.200",
        "rexmit": 4.199,
        "ratio": 0.9998,
        "interval": [4.1, 4.3],
        "mean_interval": None,
        "n": 20,
        "grade": "mean",
        "share": 0.4,
        "reproduced": True,
        "why": None,
        "depends": None,
    }
    missed = row | {"key": "small.table1.lost", "grade": "no", "reproduced": False, "why": "a kernel we lack"}
    answer = {
        "rexmit": "0.1.0",
        "format": 1,
        "study": "small",
        "title": "A small study",
        "quick": True,
        "factor": 1,
        "own": [],
        "replications": 20,
        "seconds": 1.5,
        "grades": {"mean": 1, "no": 1},
        "rows": [row, missed],
        "together": [],
        "statements": [
            {
                "key": "small.figure2",
                "figure": "Figure 2",
                "statement": "the window never opens again",
                "found": "it opens after 1.2 s",
                "agrees": False,
                "scripted": False,
                "rows": [],
                "drawing": None,
                "depends": None,
            }
        ],
        "claims": [
            {
                "key": "small.claim",
                "claim": "SACK repairs more in a round trip",
                "quote": "repairs more",
                "verdict": "holds",
                "effect": 0.3,
                "unit": "s",
                "interval": [0.2, 0.4],
                "n": 20,
                "evidence": "0.3 s sooner",
                "effect_text": "0.30 s",
                "reading": None,
                "tests": [],
                "beside": None,
                "depends": None,
            }
        ],
        "left_out": [],
        "failures": [],
    }
    schema = json.loads((DATA.parents[1] / "docs" / "study.schema.json").read_text())
    jsonschema.validate(answer, schema)
    (folder / "results.json").write_text(json.dumps(answer))
    fig = rexmit.capture(FIRST).worst(1)[0].causes()
    fig.save(folder / "small" / "figures" / "limits.svg")
    return folder
