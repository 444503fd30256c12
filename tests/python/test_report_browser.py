"""Reports in a real browser: right numbers, zoom, episodes, ladders, exports, addresses, accessibility."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import rexmit
from browser import Watched, saved_svg
from conftest import DATA
from rexmit.captured.episodes import worst_episodes
from rexmit.cli import main
from rexmit.screen.units import plain_seconds, seconds
from rexmit.screen.words import closed_sets

CAPTURE = DATA / "interruption.snd.pcap.gz"
#: Which finger came last; and it leaves the panels.
NOTED = """document.querySelector('.panels').addEventListener(
    'pointerdown', (event) => (window.last = event.pointerId))"""
LIFT = """document.querySelector('.panels').dispatchEvent(
    new PointerEvent('pointerup', {pointerId: window.last, pointerType: 'touch', bubbles: true}))"""
NO_PANELS_BUT_SEQUENCE = "hide=events,throughput,rtt,flight,idle"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "transfer.html"
    assert main(["report", str(CAPTURE), "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def capture() -> rexmit.api.Capture:
    return rexmit.capture(CAPTURE)


@pytest.fixture(scope="module")
def told(capture: rexmit.api.Capture) -> dict[str, Any]:
    """The worst flow, as --json has it."""
    flow: dict[str, Any] = json.loads(json.dumps(capture.overview(1)))["flows"][0]
    return flow


def at(flow: dict[str, Any], page: str = "flow", more: str = "") -> str:
    return f"#{page}/{flow['flow'] + 1}{more}"


def view(page: Any) -> tuple[float, float] | None:
    """The time in view, of the address."""
    page.wait_for_timeout(200)
    found = re.search(r"[?&]t=([-\d.e]+),([-\d.e]+)", page.url)
    return None if found is None else (float(found[1]), float(found[2]))


def test_the_overview_says_what_the_json_says(watched: Watched, report: Path, told: dict[str, Any]) -> None:
    page = watched.open(report)
    words = page.inner_text("main")
    for finding in told["answer"]["findings"]:
        assert finding["text"] in words
        assert finding["certainty"] in words
    # The answer stands first: its cause, with seconds, sentence and what helps.
    answer = told["answer"]
    lead = page.inner_text(".answer-side .look")
    for said in (answer["certainty"], answer["cause"], plain_seconds(answer["seconds"]), answer["text"]):
        assert said in lead
    (share,) = [s for s in answer["causes"] if (s["cause"], s["by"]) == (answer["cause"], answer["by"])]
    for said in (*share["helps"], *share["does_not_help"]):
        assert said in words
    assert f"{told['lost']['copies']:,}" in page.inner_text(".figures")
    assert f"{told['retransmissions']['total']:,} segments" in page.inner_text(".figures")
    rows = page.locator(".episodes tbody tr")
    listed = worst_episodes(told["episodes"])
    assert rows.count() == len(listed)
    for row, episode in zip(rows.all(), listed, strict=True):
        cells = [cell.inner_text() for cell in row.locator("td").all()]
        assert cells[0] == str(episode["number"] + 1)
        assert cells[1] == f"{episode['start_s']:.3f}"
        assert cells[2] == f"{episode['lost_copies']:,}"
        assert cells[5] == str(episode["timeouts"])
        assert cells[6] == seconds(episode["end_s"] - episode["start_s"])
    # Each cause with its seconds, as the answer has them.
    causes = page.inner_text(".cause-list")
    for each in told["answer"]["causes"]:
        if each["share"] >= 0.01:
            assert closed_sets()["answer_cause"][each["cause"]] in causes
            assert plain_seconds(each["seconds"]) in causes
    listed_first = page.locator(".flow-list tbody tr[aria-rowindex]").first.inner_text()
    assert closed_sets()["answer_cause"][answer["cause"]] in listed_first


def test_wheel_keys_and_buttons_change_the_view(watched: Watched, report: Path, told: dict[str, Any]) -> None:
    page = watched.open(report, at(told), ".panels canvas")
    box = page.locator(".panels").bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 3)
    assert view(page) is None
    page.mouse.move(*middle)
    page.mouse.wheel(0, -240)
    first = view(page)
    assert first is not None
    whole = told["end_s"] - told["start_s"]
    assert first[1] - first[0] < 0.7 * whole
    page.mouse.down()
    page.mouse.move(middle[0] - 200, middle[1], steps=4)
    page.mouse.up()
    dragged = view(page)
    assert dragged is not None
    assert dragged[0] > first[0]
    assert dragged[1] - dragged[0] == pytest.approx(first[1] - first[0], rel=1e-6)
    page.locator(".panels").focus()
    page.keyboard.press("Backspace")
    assert view(page) == first
    page.keyboard.press("f")
    assert view(page) is None
    # Shift and drag: into the box.
    page.keyboard.down("Shift")
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 120, middle[1] + 60, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    boxed = view(page)
    assert boxed is not None
    assert "y=" in page.url
    assert boxed[1] - boxed[0] == pytest.approx(whole * 1.02 * 120 / (box["width"] - 84), rel=0.02)


def test_n_and_p_go_through_the_episodes(watched: Watched, report: Path, told: dict[str, Any]) -> None:
    page = watched.open(report, at(told), ".panels canvas")
    page.locator(".panels").focus()
    for number in (0, 1, 2, 1):
        page.keyboard.press("p" if number == 1 and "e=3" in page.url else "n")
        seen = view(page)
        episode = told["episodes"][number]
        assert f"e={number + 1}" in page.url
        assert seen is not None
        assert seen[0] < episode["start_s"] < episode["end_s"] < seen[1]
        assert f"episode {number + 1} " in page.inner_text("[aria-live]")


def test_hover_shows_a_packet_and_a_click_selects_it(
    watched: Watched, report: Path, told: dict[str, Any], capture: rexmit.api.Capture
) -> None:
    again = capture.worst(1)[0].frame("retransmissions")
    packets = capture.worst(1)[0].frame("packets")
    number = int(again["packet"][0])
    row = int((packets["packet"] == number).nonzero()[0][0])
    time, seq, length = (float(packets[name][row]) for name in ("time", "seq", "len"))
    # In the middle of the view, and as high as the panel.
    fragment = (
        f"?t={time - 1e-4:.9f},{time + 1e-4:.9f}&y={seq:.0f},{seq + length:.0f}&{NO_PANELS_BUT_SEQUENCE}"
    )
    page = watched.open(report, at(told, more=fragment), ".panels canvas")
    page.wait_for_timeout(200)
    box = page.locator(".panels").bounding_box()
    place = (box["x"] + (74 + box["width"] - 10) / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*place)
    tip = page.locator(".tip").inner_text()
    assert f"seq {seq:.0f}:{seq + length:.0f}" in tip
    assert f"packet {number}" in tip
    assert "again: " in tip
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url(re.compile(rf"[?&]p={number}\b"))
    shown = page.inner_text(".inspector")
    assert f"Packet {number}" in shown
    assert "sent again by" in shown


def test_an_episode_shows_its_ladder(watched: Watched, report: Path, told: dict[str, Any]) -> None:
    episode = max(told["episodes"], key=lambda e: e["cost_s"] or 0.0)
    page = watched.open(report, at(told))
    page.locator(f"button[aria-label='Ladder of episode {episode['number'] + 1}']").click()
    page.locator(".ladder canvas").wait_for()
    steps = page.locator(".ladder-steps tbody tr")
    folded = steps.count()
    words = page.inner_text(".ladder-steps")
    assert words.count("again: ") >= 1
    assert "SACK" in words
    page.locator(".ladder-steps tbody tr", has_text="again: ").first.locator("button").first.click()
    assert "sent again by" in page.inner_text(".inspector")
    assert page.locator(".ladder-steps tr.proves").count() >= 1
    page.get_by_role("button", name="Unfold all").click()
    page.wait_for_timeout(100)
    assert steps.count() > folded
    before = page.evaluate("document.querySelector('.ladder canvas').toDataURL()")
    page.get_by_role("button", name="to scale").click()
    page.wait_for_timeout(200)
    assert "scale=time" in page.url
    assert page.evaluate("document.querySelector('.ladder canvas').toDataURL()") != before


@pytest.mark.parametrize("width", [320, 400, 700])
def test_a_ladder_fits_a_narrow_window(chromium: Any, report: Path, told: dict[str, Any], width: int) -> None:
    watched = Watched(chromium, width=width, height=800)
    page = watched.open(report, at(told, "episode", "/2"), ".ladder canvas")
    page.wait_for_timeout(300)
    over = "(s) => { const e = document.querySelector(s); return e.scrollWidth - e.clientWidth; }"
    assert page.evaluate(over, ".ladder") <= 0
    # A click on an arrow selects its packet there as well.
    box = page.locator(".ladder canvas").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.6, box["y"] + 100)
    assert re.search(r"Packet \d+", page.inner_text(".inspector"))
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    saved = ET.parse(download.value.path()).getroot()
    words = " ".join("".join(text.itertext()) for text in saved.iter("{http://www.w3.org/2000/svg}text"))
    # Spelled out, over as many lines as it takes.
    assert "DSACK 3626673-3628121" in words
    assert "again: fast recovery" in words
    watched.close()
    assert watched.said == []


def test_what_is_on_the_screen_is_saved(
    watched: Watched, report: Path, told: dict[str, Any], capture: rexmit.api.Capture
) -> None:
    low, high = told["episodes"][0]["start_s"], told["episodes"][0]["end_s"]
    page = watched.open(report, at(told, more=f"?t={low:.9f},{high:.9f}"), ".panels canvas")
    saved = {}
    for kind, button in (("PNG", "PNG"), ("SVG", "SVG"), ("CSV", "CSV of the view")):
        with page.expect_download() as download:
            page.get_by_role("button", name=button, exact=True).click()
        assert download.value.suggested_filename.endswith(f".{kind.lower()}")
        saved[kind] = Path(download.value.path()).read_bytes()
    box = page.locator(".panels").bounding_box()
    assert saved["PNG"].startswith(b"\x89PNG")
    width = int.from_bytes(saved["PNG"][16:20], "big")
    assert width == pytest.approx(2 * box["width"], abs=4)
    drawing = ET.fromstring(saved["SVG"])
    texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert "lost" in texts
    assert "round-trip time, the least dashed" in texts
    rows = list(csv.DictReader(io.StringIO(saved["CSV"].decode())))
    packets = capture.worst(1)[0].frame("packets")
    inside = (packets["time"] >= low - 1e-9) & (packets["time"] <= high + 1e-9)
    assert len(rows) == int(inside.sum())
    assert {int(row["packet"]) for row in rows} == set(packets["packet"][inside].tolist())
    assert sum(int(row["lost"]) for row in rows) >= told["episodes"][0]["lost_copies"] - 1


def test_csv_is_of_what_is_selected(
    watched: Watched, report: Path, told: dict[str, Any], capture: rexmit.api.Capture
) -> None:
    packets = capture.worst(1)[0].frame("packets")
    page = watched.open(report, at(told), ".panels canvas")
    page.wait_for_timeout(200)

    def saved(words: str) -> list[int]:
        with page.expect_download() as download:
            page.get_by_role("button", name=words, exact=True).click()
        text = Path(download.value.path()).read_text()
        return [int(row["packet"]) for row in csv.DictReader(io.StringIO(text))]

    def between(low: float, high: float) -> list[int]:
        inside = (packets["time"] >= low - 1e-9) & (packets["time"] <= high + 1e-9)
        return [int(packet) for packet in packets["packet"][inside]]

    def picked() -> tuple[float, float]:
        page.wait_for_timeout(200)
        found = re.search(r"[?&]s=([-\d.e]+),([-\d.e]+)", page.url)
        assert found is not None
        return float(found[1]), float(found[2])

    everything = between(-1, 1e9)
    assert saved("CSV of the view") == everything
    page.locator(".panels").focus()
    page.keyboard.press("n")
    episode = told["episodes"][0]
    assert saved("CSV of episode 1") == between(episode["start_s"], episode["end_s"])
    # Ctrl and drag: a stretch of time, whatever is in view later.
    box = page.locator(".panels").bounding_box()
    left, right, height = box["x"] + 300, box["x"] + 420, box["y"] + 200
    page.keyboard.down("Control")
    page.mouse.move(left, height)
    page.mouse.down()
    page.mouse.move(right, height, steps=3)
    page.mouse.up()
    page.keyboard.up("Control")
    stretch = picked()
    width = (view(page)[1] - view(page)[0]) * 120 / (box["width"] - 84)
    assert stretch[1] - stretch[0] == pytest.approx(width, rel=0.02)
    page.get_by_role("button", name="Fit").click()
    page.get_by_role("button", name=re.compile("^CSV of .* selected$")).wait_for()
    wanted = between(*stretch)
    assert 0 < len(wanted) < len(everything)
    assert saved(page.get_by_role("button", name=re.compile("selected$")).inner_text()) == wanted
    # The same by a button, for who has no Ctrl, and by the keyboard.
    page.get_by_role("button", name="Select", exact=True).click()
    page.mouse.move(left - 60, height)
    page.mouse.down()
    page.mouse.move(right, height, steps=3)
    page.mouse.up()
    assert picked() != stretch
    page.get_by_role("button", name="Select", exact=True).click()
    page.locator(".panels").focus()
    page.keyboard.press("s")
    assert picked() == pytest.approx((told["start_s"], told["end_s"]), abs=1e-3)
    page.keyboard.press("Escape")
    assert saved("CSV of the view") == everything
    # A packet: here that of the address.
    page = watched.open(report, at(told, more=f"?p={everything[100]}"), ".panels canvas")
    assert saved(f"CSV of packet {everything[100]}") == [everything[100]]


def test_two_fingers_zoom_and_move(chromium: Any, report: Path, told: dict[str, Any]) -> None:
    watched = Watched(chromium, width=500, touch=True)
    page = watched.open(report, at(told), ".panels canvas")
    page.wait_for_timeout(200)
    box = page.locator(".panels").bounding_box()
    devtools = page.context.new_cdp_session(page)
    left, wide, y = box["x"] + 58, box["width"] - 68, box["y"] + 150

    def touch(kind: str, *places: float) -> None:
        points = [{"x": x, "y": y, "id": k} for k, x in enumerate(places)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def drag(*ways: tuple[float, float]) -> None:
        for step in range(5):
            touch("touchMove", *(a + (b - a) * step / 4 for a, b in ways))
        page.wait_for_timeout(200)

    page.evaluate(NOTED)
    whole = (told["end_s"] - told["start_s"]) * 1.02
    middle = left + wide / 2
    # Apart: what was between the fingers fills the plot twice as wide.
    touch("touchStart", middle - 40)
    touch("touchStart", middle - 40, middle + 40)
    drag((middle - 40, middle - 80), (middle + 40, middle + 80))
    zoomed = view(page)
    assert zoomed is not None
    assert zoomed[1] - zoomed[0] == pytest.approx(whole / 2, rel=0.02)
    assert sum(zoomed) / 2 == pytest.approx((told["start_s"] + told["end_s"]) / 2, abs=whole * 0.01)
    # Both one way: the same span, earlier by as much.
    drag((middle - 80, middle - 20), (middle + 80, middle + 140))
    moved = view(page)
    assert moved is not None
    assert moved[1] - moved[0] == pytest.approx(zoomed[1] - zoomed[0], rel=1e-3)
    assert zoomed[0] - moved[0] == pytest.approx((zoomed[1] - zoomed[0]) * 60 / wide, rel=0.05)
    # One is lifted, which the protocol of the browser's tools has no words for: the other moves on.
    page.evaluate(LIFT)
    drag((middle - 20, middle - 60))
    on = view(page)
    assert on is not None
    assert on[0] - moved[0] == pytest.approx((zoomed[1] - zoomed[0]) * 40 / wide, rel=0.05)
    touch("touchEnd")
    # It is one thing to come back from.
    page.get_by_role("button", name="Back").click()
    assert view(page) is None
    watched.close()
    assert watched.said == []


def test_an_address_restores_what_was_seen(watched: Watched, report: Path, told: dict[str, Any]) -> None:
    page = watched.open(report, at(told), ".panels canvas")
    page.locator(".panels").focus()
    page.keyboard.press("n")
    page.keyboard.press("+")
    page.get_by_role("button", name="RTT").click()
    page.wait_for_timeout(300)
    address, seen = page.url, page.evaluate("document.querySelector('.panels canvas').toDataURL()")
    page = watched.open(report, "#" + address.partition("#")[2], ".panels canvas")
    page.wait_for_timeout(300)
    assert page.evaluate("document.querySelector('.panels canvas').toDataURL()") == seen
    # And the way back of the browser leads to the page before.
    page.get_by_role("button", name="Overview").click()
    page.locator(".answer-side").wait_for()
    page.go_back()
    page.locator(".panels canvas").first.wait_for()
    assert page.url == address


def test_what_is_printed_fits_a_sheet(chromium: Any, report: Path, told: dict[str, Any]) -> None:
    # A4 without its margins, from a dark screen: paper is white.
    watched = Watched(chromium, scheme="dark")
    for name, fragment in (("overview", ""), ("flow", at(told)), ("episode", at(told, "episode", "/1"))):
        page = watched.open(report, fragment, "canvas")
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 718, "height": 1040})
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
        assert page.evaluate("document.documentElement.dataset.theme") == "light"
        page.emulate_media(media="screen")
    watched.close()


@pytest.mark.parametrize(
    ("fragment", "says"),
    [
        ("#flow/99", "This report has no flow 99"),
        ("#flow/1@8?t=9,3&p=x", "This report has no capture or run 8"),
        ("#episode/99/1", "This report has no flow 99"),
        ("#overview/99", "This report has no flow 99"),
        ("#pie/1", "Where the time went"),
    ],
)
def test_an_address_of_what_is_not_there_says_so(
    watched: Watched, report: Path, fragment: str, says: str
) -> None:
    page = watched.open(report, fragment, "main p")
    page.wait_for_timeout(200)
    assert says in page.inner_text("main")


@pytest.mark.parametrize("width", [1440, 900, 400])
def test_pages_are_no_wider_than_the_window(
    chromium: Any, report: Path, told: dict[str, Any], width: int
) -> None:
    watched = Watched(chromium, width=width)
    for name, fragment in (("overview", ""), ("flow", at(told)), ("episode", at(told, "episode", "/1"))):
        page = watched.open(report, fragment, "canvas")
        over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert over <= 0, f"{name} is {over} pixels wider than {width}"
    watched.close()


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (400, "dark")])
def test_pages_pass_axe(chromium: Any, report: Path, told: dict[str, Any], width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    watched = Watched(chromium, width=width, scheme=scheme)
    for fragment in ("", at(told), at(told, "episode", "/1")):
        page = watched.open(report, fragment, "canvas")
        page.wait_for_timeout(150)
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
        found = axe.run(page, options={"runOnly": {"type": "tag", "values": rules}}).response["violations"]
        assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []
    watched.close()
    assert watched.said == []


def test_the_table_of_flows_is_searched_sorted_and_grouped(watched: Watched, report: Path) -> None:
    page = watched.open(report)
    rows = page.locator(".flow-list tbody tr:not([aria-hidden])")
    every = rows.count()
    page.get_by_role("searchbox").fill("nowhere at all")
    page.wait_for_timeout(100)
    assert rows.count() == 0
    page.get_by_role("searchbox").fill("")
    page.get_by_label("by pair of hosts").check()
    page.wait_for_timeout(100)
    assert rows.count() > every
    page.get_by_role("button", name="data", exact=True).click()
    assert page.locator("th[aria-sort='descending']").inner_text().startswith("data")


def test_a_name_that_is_markup_is_text(watched: Watched, tmp_path: Path) -> None:
    name = "<img src=x onerror=window.ran=1><script>window.ran=1<!--.pcap.gz"
    shutil.copy(DATA / "tsoblk.snd.pcap.gz", tmp_path / name)
    path = tmp_path / "hostile.html"
    assert main(["report", str(tmp_path / name), "-o", str(path)]) == 0
    page = watched.open(path)
    assert "onerror=window.ran=1" in page.inner_text("h1")
    assert page.evaluate("window.ran") is None
    assert page.locator("main img").count() == 0


TWO_FLOWS = """
name = "two-flows"
duration = "6s"
seed = 1
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "5Mbps"
delay = "10ms"
queue = { kind = "droptail", packets = 30 }
[[flow]]
name = "first"
from = "a"
to = "b"
stack = "linux-6-cubic"
workload = { kind = "file", size = "1MB" }
[[flow]]
name = "second"
from = "a"
to = "b"
start = "1s"
stack = "linux-6-cubic"
workload = { kind = "file", size = "1MB" }
[record]
capture = ["a"]
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_all_flows_of_a_path_are_stacked(chromium: Any, tmp_path: Path, width: int) -> None:
    (tmp_path / "two.toml").write_text(TWO_FLOWS)
    assert main(["report", str(tmp_path / "two.toml"), "-o", str(tmp_path / "two.html")]) == 0
    seen = Watched(chromium, width=width)
    shown = seen.open(tmp_path / "two.html", ready=".timeline.tall canvas")
    label = shown.locator(".timeline canvas").get_attribute("aria-label")
    assert "of this flow and of all flows between its hosts" in label
    assert shown.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    shown.get_by_role("button", name="Open this flow").click()
    shown.get_by_role("button", name="all flows", exact=True).wait_for()
    with shown.expect_download() as download:
        shown.get_by_role("button", name="SVG", exact=True).click()
    picture = Path(download.value.path()).read_text("utf-8")
    assert "all 2 flows of the path, each " in picture
    assert shown.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    seen.close()
    assert seen.said == []


TURNS = """
name = "turns"
seed = 1
[chain]
nodes = ["client", "server"]
rate = "20Mbps"
delay = "5ms"
[[flow]]
name = "sql"
from = "client"
to = "server"
stack = "linux-6-cubic"
workload = {{ kind = "request-response", request = "50B", response = "300B", requests = {requests} }}
"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("requests", [2, 1500])
def test_turns_are_a_strip_and_a_table(chromium: Any, tmp_path: Path, requests: int, width: int) -> None:
    (tmp_path / "turns.toml").write_text(TURNS.format(requests=requests))
    assert main(["report", str(tmp_path / "turns.toml"), "-o", str(tmp_path / "turns.html")]) == 0
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    rules = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
    seen = Watched(chromium, width=width)
    for fragment, canvas in (("", ".timeline canvas"), ("#flow/1", ".panels canvas")):
        page = seen.open(tmp_path / "turns.html", fragment, ".turns tbody tr")
        page.locator(canvas).first.wait_for()
        said = page.locator(".timeline canvas, .panels").first.get_attribute("aria-label")
        assert f"The server sent {requests:,} messages in answer to the client" in said
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        cut = (
            "[...document.querySelectorAll('.answer-side, aside')].some((e) => e.scrollWidth > e.clientWidth)"
        )
        assert not page.evaluate(cut)
        assert axe.run(page, options=rules).response["violations"] == []
    # A wait of the table is shown by the keyboard, and told to a screen reader.
    rows = page.locator(".turns tbody tr")
    assert rows.count() == min(2 * requests - 1, 8)
    assert [cell.inner_text() for cell in rows.first.locator("td").all()][1:3] == ["client", "50 B"]
    rows.first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    shown = view(page)
    assert shown is not None
    assert shown[1] - shown[0] == pytest.approx(0.015, rel=0.1), "10 ms and a quarter on either side"
    told = page.locator("[aria-live]").first.inner_text()
    assert re.search(r"The client sent 50 B at [0-9.]+ s after 10 ms, of which its program took ", told)
    texts, _ = saved_svg(page)
    assert {"client", "path", "server", "its program", "under way"} <= set(texts)
    if requests > 8:
        page.get_by_role("button", name="show 50").click()
        assert rows.count() == 58
    seen.close()
    assert seen.said == []
