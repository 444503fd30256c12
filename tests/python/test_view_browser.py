"""`rexmit view` in a real browser: what it shows comes window by window, down to single packets."""

from __future__ import annotations

import re
import threading
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rexmit
from browser import Watched, saved_svg, viewed
from conftest import DATA
from rexmit.captured.flows import ON_DEMAND
from rexmit.cli.view import opened
from rexmit.report.server import Server, of_view
from rexmit.report.source import LIMITS, Source

CAPTURE = DATA / "interruption.snd.pcap.gz"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a server of this capture, which ends with the test."""
    with viewed(str(CAPTURE)) as found:
        yield found


@pytest.fixture(scope="module")
def watched(chromium: Any, address: str) -> Iterator[Watched]:
    page = Watched(chromium)
    yield page
    page.close()
    assert page.said == []
    assert page.elsewhere(address) == []
    assert not any(url.startswith("file:") for url in page.asked)


def test_the_overview_has_its_figure(watched: Watched, address: str) -> None:
    page = watched.page
    page.goto(address)
    page.locator(".timeline canvas").wait_for()
    page.wait_for_timeout(500)
    assert page.evaluate("performance.getEntriesByName('drawn').length") > 0
    flow = rexmit.capture(CAPTURE).overview(1)["flows"][0]
    assert f"{flow['lost']['copies']:,}" in page.inner_text(".figures")


def test_a_deep_zoom_asks_for_packets_and_shows_them(watched: Watched, address: str) -> None:
    packets = rexmit.capture(CAPTURE).worst(1)[0].frame("packets")
    row = int((packets["data"] & (packets["len"] > 0)).nonzero()[0][1500])
    time, seq, length = (float(packets[name][row]) for name in ("time", "seq", "len"))
    ranges = f"t={time - 1e-4:.9f},{time + 1e-4:.9f}&y={seq:.0f},{seq + length:.0f}"
    watched.asked.clear()
    page = watched.page
    page.goto("about:blank")
    page.goto(f"{address}#flow/1?{ranges}&hide=events,throughput,rtt,flight,idle")
    page.locator(".panels canvas").first.wait_for()
    page.wait_for_timeout(1000)
    assert any("/window?" in url for url in watched.asked)
    box = page.locator(".panels").bounding_box()
    page.mouse.move(box["x"] + (74 + box["width"] - 10) / 2, box["y"] + box["height"] / 2)
    assert f"seq {seq:.0f}:{seq + length:.0f}" in page.locator(".tip").inner_text()


def test_an_episode_of_very_many_packets_comes_part_after_part(
    chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if packets came only of much narrower windows.
    monkeypatch.setitem(LIMITS, "window", 600)
    capture = rexmit.capture(CAPTURE, tables=ON_DEMAND)
    packets, episode = (capture.worst(1)[0].frame(name) for name in ("packets", "episodes"))
    start, end = float(episode["start"][1]), float(episode["end"][1])
    inside = (packets["time"] >= start - 1e-9) & (packets["time"] <= end + 1e-9)
    source = Source(capture, 0, "interruption")
    watched = Watched(chromium)
    with Server(of_view([source], "rexmit view"), [source]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = watched.page
        page.goto(f"{server.address}#episode/1/2")
        steps, told = [], []
        while True:
            page.locator(".ladder canvas").wait_for()
            told.append(page.get_by_role("toolbar", name="Parts of the episode").inner_text())
            page.get_by_role("button", name="Unfold all").click()
            steps.append(int(page.inner_text(".ladder-steps caption").split()[0]))
            later = page.get_by_role("button", name="later ›")
            if later.is_disabled():
                break
            later.click()
            page.get_by_text(f"Part {len(told) + 1}:").wait_for()
        assert len(told) > 3
        assert sum(int(re.search(r"(\d+) packet", one)[1]) for one in told) == int(inside.sum())
        # Unfolded, each packet is a step; so may be two before the first part, and two behind the last.
        assert int(inside.sum()) <= sum(steps) <= int(inside.sum()) + 4
        page.get_by_role("button", name="‹ earlier").click()
        page.get_by_text(f"Part {len(told) - 1}:").wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name="CSV of episode 2").click()
        assert len(Path(download.value.path()).read_text().splitlines()) == int(inside.sum()) + 1
        server.shutdown()
    watched.close()
    assert watched.said == []


def test_open_leads_a_browser_to_the_page(chromium: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(rexmit.capture(CAPTURE, tables=ON_DEMAND), 0, "interruption")
    handed: list[str] = []
    monkeypatch.setattr(webbrowser, "open", handed.append)
    watched = Watched(chromium)
    with Server(of_view([source], "rexmit view"), [source]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with opened(server.address):
            watched.page.goto(handed[0])
            watched.page.wait_for_url(server.address + "**")
            watched.page.locator("main h2").first.wait_for()
        server.shutdown()
    watched.close()
    assert watched.said == []


def test_an_episode_has_its_ladder(watched: Watched, address: str) -> None:
    page = watched.page
    page.goto(f"{address}#episode/1/2")
    page.locator(".ladder canvas").wait_for()
    assert "again: " in page.inner_text(".ladder-steps")


def test_two_captures_are_compared_window_by_window(chromium: Any) -> None:
    names = ("A1_reno_22M_deep_200ms.snd.pcap.gz", "F1_cubic_22M_GE.snd.pcap.gz")
    watched = Watched(chromium)
    with viewed(*(str(DATA / name) for name in names)) as address:
        page = watched.page
        page.goto(address)
        page.get_by_text("What differs, in the order of what it costs").wait_for()
        page.get_by_role("button", name="Side by side").click()
        page.locator(".panels canvas").nth(3).wait_for()
        page.wait_for_timeout(400)
        # Near enough for single packets, of each side from its own capture.
        page.goto(f"{address}#flow/1?beside=1&t=0.4,0.41")
        page.reload()
        page.locator(".panels canvas").nth(3).wait_for()
        page.wait_for_timeout(600)
        for source in (0, 1):
            assert any(f"/window?source={source}&" in url for url in watched.asked)
        for number in (1, 2):
            page.goto(f"{address}#episode/1/{number}@2")
            page.locator(".ladder canvas").wait_for()
            assert "again: " in page.inner_text(".ladder-steps")
    watched.close()
    assert watched.said == []


def test_packets_have_their_round_trips_where_these_are_too_many_for_one_blob(
    chromium: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "rows", 100)
    capture = rexmit.capture(CAPTURE, tables=ON_DEMAND)
    of = Source(capture, 0, "interruption")
    watched = Watched(chromium)
    with Server(of_view([of], "rexmit view"), [of]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = watched.page
        page.goto(f"{server.address}#flow/1?t=1,1.2")
        page.locator(".panels canvas").first.wait_for()
        page.wait_for_timeout(800)
        assert any("/rtt?" in url for url in watched.asked)
        assert any("round-trip time" in words for words in saved_svg(page)[0])
        server.shutdown()
    watched.close()
    assert watched.said == []
