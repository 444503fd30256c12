"""`rexmit report` of a sweep's folder: what the page is told, and what it shows in a browser."""

from __future__ import annotations

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from browser import Watched, viewed
from containers import unpack
from rexmit import sweeps
from rexmit.cli import main
from rexmit.report import swept
from test_report import Page
from test_report_anonymize import SCENARIO as NAMED
from test_sweep import SCENARIO

VARIED = ["--vary", "link.line.delay=1ms,5ms,40ms", "--vary", "flow.up.stack=linux-6-cubic,linux-6-reno"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a sweep of six points, four runs each, the second key paired."""
    made = tmp_path_factory.mktemp("sweep")
    (made / "small.toml").write_text(SCENARIO)
    words = ["sweep", str(made / "small.toml"), *VARIED, "--pair", "flow.up.stack", "--runs", "4"]
    assert main([*words, "--out", str(made / "some results")]) == 0
    return made / "some results"


@pytest.fixture(scope="module")
def path(folder: Path) -> Path:
    made = folder.parent / "page.html"
    assert main(["report", str(folder), "-o", str(made)]) == 0
    return made


def test_it_tells_what_the_summary_tells(folder: Path, path: Path) -> None:
    page = Page(path)
    assert page.meta["kind"] == "sweep"
    told = page.meta["sweep"]
    summary = pa.table(sweeps.load(folder).summary).to_pylist()
    columns = told["summary"]
    assert len(columns["mean"]) == len(summary) == 6 * len(told["measures"])
    for k, row in enumerate(summary):
        point = told["points"][columns["point"][k]]
        assert point["point"] == row["point"]
        assert point["values"] == [row["link.line.delay"], row["flow.up.stack"]]
        assert point["numbers"] == [row["link.line.delay_s"], None]
        assert told["flows"][columns["flow"][k]] == row["flow"]
        assert told["measures"][columns["measure"][k]]["column"] == row["measure"]
        for number in swept.NUMBERS:
            assert columns[number][k] == row[number]
    pairs = pa.table(sweeps.load(folder).differences).to_pylist()
    assert [row["difference"] for row in told["differences"]] == [row["difference"] for row in pairs]
    plan = told["plan"]
    assert (plan["keys"], plan["units"]) == (["link.line.delay", "flow.up.stack"], ["s", None])
    assert (plan["points"], plan["replications"], plan["done"], plan["failed"]) == (6, 4, 24, 0)
    assert plan["scenario"] == SCENARIO
    assert page.meta["notes"] == []


def test_it_has_where_single_runs_lie(folder: Path, path: Path) -> None:
    page = Page(path)
    told = page.meta["sweep"]
    rows = pa.table(sweeps.load(folder).runs).to_pylist()
    for measure in told["measures"]:
        _, columns = unpack(page.blobs[f"runs/{measure['column']}"])
        for k, point in enumerate(told["points"]):
            of_point = [row[measure["column"]] for row in rows if row["point"] == point["point"]]
            values = sorted(value for value in of_point if value is not None)
            mine = columns["point"] == k
            assert list(columns["value"][mine]) == values
            shares = [(rank + 1) / len(of_point) for rank in range(len(values))]
            assert columns["share"][mine] == pytest.approx(shares)


def test_of_very_many_runs_some_stand_for_all(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swept, "MOST_RUNS", 12)
    monkeypatch.setattr(swept, "LEAST", 1)
    assert main(["report", str(folder), "-o", str(tmp_path / "x.html")]) == 0
    _, columns = unpack(Page(tmp_path / "x.html").blobs["runs/goodput_bps"])
    # Two of four at each of six points: the least and the greatest.
    assert list(columns["share"]) == [0.25, 1.0] * 6


def test_a_view_of_it_is_the_same_page(chromium: Any, folder: Path, path: Path) -> None:
    watched = Watched(chromium)
    with viewed(str(folder)) as address:
        page = watched.page
        page.goto(f"{address}#sweep?f=runs")
        page.locator(".curves canvas").wait_for()
        page.wait_for_timeout(300)
        drawn = page.evaluate("document.querySelector('.curves canvas').toDataURL()")
        assert any(url.endswith("/blob/runs/goodput_bps") for url in watched.asked)
        words = page.inner_text("main")
        file = watched.open(path, "#sweep?f=runs", ".curves canvas")
        file.wait_for_timeout(300)
        assert file.evaluate("document.querySelector('.curves canvas').toDataURL()") == drawn
        assert file.inner_text("main") == words
    watched.close()
    assert watched.said == []


def test_what_is_left_out_is_said(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(swept, "MOST_TOLD", 4)
    monkeypatch.setattr(swept, "MOST_PAIRS", 2)
    assert main(["report", str(folder), "-o", str(tmp_path / "x.html")]) == 0
    meta = Page(tmp_path / "x.html").meta
    assert len(meta["sweep"]["points"]) == 4
    assert len(meta["sweep"]["differences"]) == 2
    assert [note.split(" are told")[0] for note in meta["notes"]] == [
        "4 of 6 means",
        f"2 of {3 * len(meta['sweep']['measures'])} paired differences",
    ]


def test_its_file_is_called_after_the_scenario(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(folder)]) == 0
    assert [one.name for one in tmp_path.iterdir()] == ["small.html"]


def test_no_name_of_it_is_in_an_anonymous_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.toml").write_text(NAMED)
    out = tmp_path / "some results"
    varied = ["--vary", "link.vpn-berlin.delay=1ms,2ms", "--runs", "2"]
    assert main(["sweep", str(tmp_path / "x.toml"), *varied, "--out", str(out)]) == 0
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(out), "--anonymize"]) == 0
    told = json.dumps(Page(tmp_path / "report.html").meta)
    for word in ("some results", "frankfurt", "alice", "berlin", "zephyr", str(tmp_path)):
        assert word not in told


def test_a_folder_without_a_run_says_so(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plan.json").write_bytes((folder / "plan.json").read_bytes())
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "x.html")]) == 2
    assert "no run is done yet" in capsys.readouterr().err
    (tmp_path / "plan.json").write_text('{"axes": []}')
    assert main(["report", str(tmp_path), "-o", str(tmp_path / "x.html")]) == 2
    assert "plan.json: is no plan of a sweep, or cut off" in capsys.readouterr().err


def test_a_failed_run_is_named_with_its_seed(tmp_path: Path, watched: Watched) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO)
    words = ["sweep", str(tmp_path / "small.toml"), "--vary", "link.line.channel.loss.loss=1%,100%"]
    assert main([*words, "--runs", "2", "--out", str(tmp_path / "out")]) in (0, 1)
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "out"), "-o", str(page)]) == 0
    rows = pa.table(sweeps.load(tmp_path / "out").runs).to_pylist()
    # The link never opens: no connection can be made.
    failed = {row["run"]: row for row in rows if row["failed"]}
    assert len(failed) == 2
    told = Page(page).meta["sweep"]
    assert told["plan"]["failed"] == len(failed)
    assert [(one["run"], one["seed"], one["failure"]) for one in told["failures"]] == [
        (run, str(row["seed"]), f"{row['flow']}: 1 of 1 connection failed")
        for run, row in sorted(failed.items())
    ]
    shown = watched.open(page).get_by_role("region", name="Failed runs").inner_text()
    for row in failed.values():
        assert str(row["seed"]) in shown
    assert "1 of 1 connection failed" in shown


def test_the_page_draws_curves_and_says_the_same_in_its_table(
    watched: Watched, folder: Path, path: Path
) -> None:
    page = watched.open(path, ready=".curves canvas")
    page.wait_for_timeout(200)
    assert "6 points, 4 replications each: 24 runs done, none failed" in page.inner_text(".facts")
    rows = page.locator(".sweep-summary tbody tr")
    assert rows.count() == 6
    drawn = page.evaluate("document.querySelector('.curves canvas').toDataURL()")
    # Another measure, along the other key, at one delay: the address has it.
    page.get_by_role("combobox", name="measure").select_option("duration")
    page.get_by_role("combobox", name="along").select_option("flow.up.stack")
    page.get_by_role("combobox", name="link.line.delay").select_option("5ms")
    page.wait_for_timeout(300)
    assert "c=1,0,1,1,-1" in page.url
    assert rows.count() == 2
    assert page.evaluate("document.querySelector('.curves canvas').toDataURL()") != drawn
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV of the table").click()
    saved = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text())))
    wanted = [
        row
        for row in pa.table(sweeps.load(folder).summary).to_pylist()
        if row["measure"] == "duration_s" and row["link.line.delay"] == "5ms"
    ]
    assert [(row["flow.up.stack"], float(row["mean"])) for row in saved] == [
        (row["flow.up.stack"], row["mean"]) for row in wanted
    ]
    assert page.get_by_role("region", name="Paired differences").locator("tbody tr").count() == 1
    fragment = "#" + page.url.partition("#")[2]
    seen = page.evaluate("document.querySelector('.curves canvas').toDataURL()")
    page = watched.open(path, fragment, ".curves canvas")
    page.wait_for_timeout(200)
    assert page.evaluate("document.querySelector('.curves canvas').toDataURL()") == seen
    # Over a mean it says which it is.
    box = page.locator(".curves canvas").bounding_box()
    tips = set()
    for x in range(90, int(box["width"]), 12):
        for y in range(20, int(box["height"]) - 50, 30):
            page.mouse.move(box["x"] + x, box["y"] + y)
            if page.locator(".curves .tip").count():
                tips.add(page.locator(".curves .tip").inner_text())
        if tips:
            break
    assert all(re.search(r" at linux-6-\w+, 4 runs$", tip) for tip in tips)
    assert tips
    for kind in ("PNG", "SVG"):
        with page.expect_download() as download:
            page.get_by_role("button", name=kind, exact=True).click()
        assert download.value.suggested_filename == f"small-duration.{kind.lower()}"


def test_the_page_has_a_map_single_runs_and_paired_differences(watched: Watched, path: Path) -> None:
    page = watched.open(path, ready=".curves canvas")
    told = Page(path).meta["sweep"]
    kinds = page.get_by_role("group", name="Chart", exact=True).get_by_role("button")
    assert kinds.all_inner_texts() == ["curves", "map", "single runs", "paired differences"]

    def tips() -> set[str]:
        box = page.locator(".curves canvas").bounding_box()
        found = set()
        for y in range(10, int(box["height"]) - 40, 14):
            for x in range(90, int(box["width"]) - 90, 60):
                page.mouse.move(box["x"] + x, box["y"] + y)
                if page.locator(".curves .tip").count():
                    found.add(page.locator(".curves .tip").inner_text())
        return found

    seen = {}
    for kind in ("map", "single runs", "paired differences"):
        page.get_by_role("button", name=kind, exact=True).click()
        page.wait_for_timeout(200)
        page.locator(".curves canvas").scroll_into_view_if_needed()
        seen[kind] = page.evaluate("document.querySelector('.curves canvas').toDataURL()"), tips()
        with page.expect_download() as download:
            page.get_by_role("button", name="SVG", exact=True).click()
        assert download.value.suggested_filename == f"small-goodput-{kind.replace(' ', '-')}.svg"
    # Each cell of two stacks and three delays; each paired difference with its p.
    cells = seen["map"][1]
    for delay, stack in (point["values"] for point in told["points"]):
        pattern = f"flow.up.stack {stack}: .* at {delay}, 4 runs"
        assert any(re.fullmatch(pattern, tip) for tip in cells), (pattern, cells)
    assert any("of runs at or below" in tip for tip in seen["single runs"][1])
    assert any("linux-6-reno less linux-6-cubic" in tip for tip in seen["paired differences"][1])
    assert page.url.endswith("f=pairs")
    # An address restores a chart; one that is none shows the first.
    page = watched.open(path, "#sweep?f=map", ".curves canvas")
    page.wait_for_timeout(200)
    assert page.evaluate("document.querySelector('.curves canvas').toDataURL()") == seen["map"][0]
    page = watched.open(path, "#sweep?f=pie", ".curves canvas")
    assert page.get_by_role("button", name="curves").get_attribute("aria-pressed") == "true"


def test_a_latin_hypercube_has_a_map_of_dots_over_any_two_of_its_keys(
    watched: Watched, tmp_path: Path
) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO)
    keys = {
        "delay": "loguniform(1ms,100ms)",
        "channel.loss.loss": "uniform(0.1%,3%)",
        "rate": "uniform(5Mbps,20Mbps)",
    }
    varied = [word for key, values in keys.items() for word in ("--vary", f"link.line.{key}={values}")]
    out = tmp_path / "cube"
    assert (
        main(
            [
                "sweep",
                str(tmp_path / "small.toml"),
                *varied,
                "--samples",
                "9",
                "--runs",
                "2",
                "--out",
                str(out),
            ]
        )
        == 0
    )
    path = tmp_path / "cube.html"
    assert main(["report", str(out), "-o", str(path)]) == 0
    told = Page(path).meta["sweep"]
    page = watched.open(path, "#sweep?f=map", ".curves canvas")
    page.wait_for_timeout(200)
    up = page.get_by_label("upwards")
    assert up.locator("option").all_inner_texts() == told["plan"]["keys"][1:]
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    saved = ET.parse(download.value.path()).getroot()
    # A dot for each point, and each in the colour of its mean.
    means = {
        told["summary"]["mean"][row]
        for row in range(len(told["summary"]["mean"]))
        if told["summary"]["measure"][row] == 0
    }
    dots = [
        one for one in saved.iter() if one.tag.endswith("path") and one.attrib.get("fill", "none") != "none"
    ]
    assert len({dot.attrib["fill"] for dot in dots}) == len(means) == 9
    words = " ".join("".join(text.itertext()) for text in saved.iter("{http://www.w3.org/2000/svg}text"))
    assert f"{told['plan']['keys'][1]} ↑" in words or f"{told['plan']['keys'][1]} (" in words
    before = page.evaluate("document.querySelector('.curves canvas').toDataURL()")
    up.select_option(label=told["plan"]["keys"][2])
    page.wait_for_timeout(200)
    after = page.evaluate("document.querySelector('.curves canvas').toDataURL()")
    assert after != before
    page = watched.open(path, page.url.partition(".html")[2], ".curves canvas")
    page.wait_for_timeout(200)
    assert page.evaluate("document.querySelector('.curves canvas').toDataURL()") == after
    # Each dot tells its point and mean.
    box = page.locator(".curves canvas").bounding_box()
    tips = set()
    for y in range(20, int(box["height"]) - 40, 10):
        for x in range(60, int(box["width"]) - 90, 24):
            page.mouse.move(box["x"] + x, box["y"] + y)
            if page.locator(".curves .tip").count():
                tips.add(page.locator(".curves .tip").inner_text())
    assert len(tips) == 9
    for point in told["points"]:
        assert any(point["values"][2] in tip and f"at {point['values'][0]}, 2 runs" in tip for tip in tips)


@pytest.mark.parametrize("kind", ["curves", "map", "runs", "pairs"])
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (900, "light"), (400, "dark")])
def test_the_page_passes_axe_and_is_no_wider_than_the_window(
    chromium: Any, path: Path, width: int, scheme: str, kind: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    watched = Watched(chromium, width=width, scheme=scheme)
    page = watched.open(path, f"#sweep?f={kind}", ".curves canvas")
    page.wait_for_timeout(150)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    found = axe.run(page, options={"runOnly": {"type": "tag", "values": rules}}).response["violations"]
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []
    watched.close()
    assert watched.said == []


def test_text_of_a_scenario_is_text(watched: Watched, tmp_path: Path) -> None:
    evil = "</script></pre><img src=x onerror=window.ran=1><script>window.ran=1<!--"
    (tmp_path / "x.toml").write_text(f"# {evil}\n{SCENARIO}")
    words = ["sweep", str(tmp_path / "x.toml"), "--vary", "link.line.delay=1ms,2ms", "--runs", "2"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    assert main(["report", str(tmp_path / "out"), "-o", str(tmp_path / "x.html")]) == 0
    page = watched.open(tmp_path / "x.html")
    page.get_by_text("The scenario").click()
    assert evil in page.inner_text(".scenario pre")
    assert page.evaluate("window.ran") is None
    assert page.locator("main img").count() == 0
