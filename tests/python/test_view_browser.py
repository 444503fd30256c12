"""`rexmit view` in a real browser: what it shows comes window by window, down to single packets."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

import rexmit
from browser import Watched, browser
from conftest import DATA

CAPTURE = DATA / "interruption.snd.pcap.gz"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a server of this capture, which ends with the test."""
    command = [sys.executable, "-u", "-m", "rexmit", "view", str(CAPTURE)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        found = None
        for line in server.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                break
        assert found, "it ended without an address"
        yield found[0]
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=20) == 0


@pytest.fixture(scope="module")
def watched(address: str) -> Iterator[Watched]:
    with browser() as opened:
        page = Watched(opened)
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
    page.goto(f"{address}#flow/0/0?{ranges}&hide=events,throughput,rtt,flight,idle")
    page.locator(".panels canvas").first.wait_for()
    page.wait_for_timeout(1000)
    assert any("/window?" in url for url in watched.asked)
    box = page.locator(".panels").bounding_box()
    page.mouse.move(box["x"] + (74 + box["width"] - 10) / 2, box["y"] + box["height"] / 2)
    assert f"seq {seq:.0f}:{seq + length:.0f}" in page.locator(".tip").inner_text()


def test_an_episode_has_its_ladder(watched: Watched, address: str) -> None:
    page = watched.page
    page.goto(f"{address}#episode/0/0/2")
    page.locator(".ladder canvas").wait_for()
    assert "again: " in page.inner_text(".ladder-steps")
