"""How fast a report is in a browser: first paint with data, and panning.

A simulated transfer of just below 200,000 packets, written as a report and opened from its file. First paint:
from the navigation until the overview with its figure is drawn. Panning: one drags through the flow at three
zooms; of each frame the time in script and drawing, which is waited for.

Prints lines, and gives rows as bench.py has them.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from measure import DATA, ROOT, mark, row

FIRST_PAINT_BAR_S = 1.0
#: Of `rexmit view` on ten million packets, once it says its address.
VIEW_BAR_S = 2.0
FRAME_BAR_MS = 8.0
OPENINGS = 5
NAME = "explorer"
#: Shares of the flow that are in view while one pans.
ZOOMS = (0.8, 0.1, 0.01)
FRAMES = 150

SCENARIO = """
name = "explorer"
duration = "600s"
seed = 1
[[node]]
name = "a"
[[node]]
name = "b"
[[link]]
name = "path"
between = ["a", "b"]
rate = "100Mbps"
delay = "10ms"
queue = { kind = "droptail", packets = 300 }
[[link.channel]]
name = "outages"
kind = "outage"
schedule = { every = "2s", for = "120ms", phase = "1s", anchor = "start" }
[[flow]]
name = "upload"
from = "a"
to = "b"
stack = "linux-6-cubic"
workload = { kind = "file", size = "187MB" }
[record]
capture = ["a"]
"""

#: Times each animation frame's callbacks, drawing included: reading a pixel waits until a canvas is drawn.
WATCH = """
window.frames = [];
const ask = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (work) => ask((at) => {
  const began = performance.now();
  work(at);
  // The bench's own waiting draws nothing.
  if (performance.now() - began > 0.2) for (const canvas of document.querySelectorAll('.panels canvas')) {
    canvas.getContext('2d').getImageData(0, 0, 1, 1);
  }
  window.frames.push([began, performance.now() - began]);
});
"""

RENDERER = """() => {
  const gl = document.createElement('canvas').getContext('webgl');
  const named = gl && gl.getExtension('WEBGL_debug_renderer_info');
  return named ? gl.getParameter(named.UNMASKED_RENDERER_WEBGL) : 'none told';
}"""


def bench(only: str | None, quick: bool, large: Path | None = None) -> list[dict[str, Any]]:
    """large: a capture for `rexmit view`, with its number of packets in its name."""
    if only and only not in NAME:
        return []
    where = next((w for name in ("chromium", "google-chrome") if (w := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        where = None
    if where is None:
        print("\nexplorer: skipped, Chromium or Playwright is not there")
        return []
    page = written()
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=where, args=["--no-sandbox"])
        openings = 2 if quick else OPENINGS
        rows = measured(browser, page, openings)
        if large is not None:
            rows += viewed(browser, large, openings)
        browser.close()
    return rows


def written() -> Path:
    """The report; made anew, for its page may have changed."""
    DATA.mkdir(parents=True, exist_ok=True)
    scenario, page = DATA / "explorer.toml", DATA / "explorer.html"
    scenario.write_text(SCENARIO)
    rexmit = ROOT / ".venv" / "bin" / "rexmit"
    command = [rexmit, "report", scenario, "-o", page, "--overwrite"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return page


def measured(browser: Any, path: Path, openings: int) -> list[dict[str, Any]]:
    packets = re.search(r"([\d,]+) packets", facts(browser, path.as_uri()))
    print(f"\nexplorer: a report of {packets[1]} packets, {path.stat().st_size / 1e6:.2f} MB")
    rows = painted(browser, path.as_uri(), openings, "first paint", FIRST_PAINT_BAR_S)
    for zoom in ZOOMS:
        rows += panned(browser, path, zoom)
    return rows


def facts(browser: Any, address: str) -> str:
    page = browser.new_page()
    page.goto(address)
    told: str = page.locator(".facts").inner_text()
    page.close()
    return told


def painted(browser: Any, address: str, openings: int, name: str, bar: float) -> list[dict[str, Any]]:
    """From the navigation until the overview and its figure are drawn."""
    paints = []
    for _ in range(openings):
        page = browser.new_page(viewport={"width": 1440, "height": 900}, bypass_csp=True)
        page.goto(address)
        page.wait_for_function("performance.getEntriesByName('drawn').length > 0")
        paints.append(page.evaluate("performance.getEntriesByName('drawn')[0].startTime") / 1e3)
        page.close()
    paint = min(paints)
    told = ", ".join(f"{p:.2f}" for p in paints)
    print(f"  {name} with data  {paint:.2f} s ({told})  bar {bar:g}: {mark(paint <= bar)}")
    return [row(f"explorer, {name}", paint, "s", "bar", bar, paint / bar)]


def viewed(browser: Any, capture: Path, openings: int) -> list[dict[str, Any]]:
    """What `rexmit view` serves of a large capture; reading it comes before, and is told apart."""
    began = time.monotonic()
    command = [ROOT / ".venv" / "bin" / "rexmit", "view", capture]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        found = next((m for line in server.stdout if (m := re.search(r"http://\S+", line))), None)
        if found is None:
            print("  rexmit view ended without an address")
            return []
        print(f"  rexmit view on {capture.name}: ready after {time.monotonic() - began:.1f} s")
        rows = painted(browser, found[0], openings, "first paint of the view", VIEW_BAR_S)
        server.send_signal(signal.SIGINT)
    return rows


def panned(browser: Any, path: Path, zoom: float) -> list[dict[str, Any]]:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, bypass_csp=True)
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    page.wait_for_function("performance.getEntriesByName('drawn').length > 0")
    page.get_by_role("button", name="Open this flow").click()
    page.locator(".panels canvas").first.wait_for()
    box = page.locator(".panels").bounding_box()
    middle, height = box["x"] + box["width"] / 2, box["y"] + 200
    page.mouse.move(middle, height)
    share = 1.0
    while share > zoom * 1.01:
        # The page zooms by exp(0.0022 a pixel of the wheel).
        page.mouse.wheel(0, -60)
        share *= 0.876
        page.wait_for_timeout(20)
    page.wait_for_timeout(300)
    page.evaluate("window.frames.length = 0")
    # Time of the processor: what other programs take is not the page's.
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    busy = [_busy(session)]
    page.mouse.down()
    for k in range(FRAMES):
        away = 3 * (k if k < FRAMES / 2 else FRAMES - k)
        page.mouse.move(middle + away, height)
        page.evaluate("new Promise((done) => requestAnimationFrame(done))")
        busy.append(_busy(session))
    page.mouse.up()
    frames = page.evaluate("window.frames")
    renderer = page.evaluate(RENDERER)
    page.close()
    spent = sorted(1e3 * (after - before) for before, after in pairwise(busy))
    p95 = _p95(spent)
    # The frame that the bench itself waits for does nothing.
    waited = _p95(sorted(ms for _, ms in frames if ms > 0.3))
    rate = (len({round(at) for at, _ in frames}) - 1) / ((frames[-1][0] - frames[0][0]) / 1e3)
    print(
        f"  panning, {zoom:4.0%} in view  {p95:.1f} ms of processor a frame (95%; median"
        f" {spent[len(spent) // 2]:.1f})  bar {FRAME_BAR_MS:g}: {mark(p95 <= FRAME_BAR_MS)}"
        f"  by the clock {waited:.1f} ms, {rate:.0f} frames/s, {renderer}"
    )
    return [row(f"explorer, panning {zoom:g}", p95, "ms", "bar", FRAME_BAR_MS, p95 / FRAME_BAR_MS)]


def _busy(session: Any) -> float:
    """Seconds of processor that the page has used in script, its drawing included, and in layout."""
    told = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return float(sum(told[name] for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration")))


def _p95(ascending: list[float]) -> float:
    return ascending[min(len(ascending) - 1, int(0.95 * len(ascending)))]


if __name__ == "__main__":
    captures = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    bench(None, "--quick" in sys.argv, *captures[:1])
