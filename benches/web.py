"""The page that analyses in the browser, beside its bars: size, answers, 1 GB, first paint, axe and requests.

    .venv/bin/python benches/web.py [--quick]     after `make web`; --quick: not those of others, not 1 GB

Prints a line for each bar. Exit code: 0 all are met, 1 one is not, 2 it could not be tried.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

import test_web as web  # noqa: E402
from browser import Watched, browser, chromium  # noqa: E402
from conftest import DATA  # noqa: E402

MOST_BYTES = 3_000_000
LARGE_BYTES, LARGE_S, LARGE_MEMORY = 1_000_000_000, 10.0, 300e6
#: Larger captures of others are left out.
MOST_OF_OTHERS = 32 << 20
PAINT_S, OPENINGS = 1.0, 5
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def main() -> int:
    """Measures; gives the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without captures of others and 1 GB")
    quick = parser.parse_args().quick
    if not web.PAGE.exists() or chromium() is None:
        lacks = "Chromium or Playwright" if web.PAGE.exists() else f"{web.PAGE}: make web"
        print(f"web: needs {lacks}", file=sys.stderr)
        return 2
    met = [told("size", f"{web.PAGE.stat().st_size:,} bytes", web.PAGE.stat().st_size <= MOST_BYTES, "3 MB")]
    with browser() as opened:
        met.append(paint(opened))
        seen = Watched(opened)
        seen.open(web.PAGE, ready="label.drop")
        met.append(answers(seen.page, "tests/data", [DATA / path for path in web.CAPTURES]))
        if not quick and web.PUBLIC.is_dir():
            met.append(answers(seen.page, "captures of others", others()))
        if not quick:
            met.append(large(seen.page))
        own = ("blob:", "data:", "about:", web.PAGE.as_uri())
        left = sorted({url for url in seen.asked if not url.startswith(own)})
        met.append(
            told("requests that leave the page", f"{len(left)} {' '.join(left)}".strip(), not left, "0")
        )
        seen.close()
        met.append(axe(opened))
    return 0 if all(met) else 1


def told(what: str, found: str, met: bool, bar: str) -> bool:
    """Prints a bar, and gives whether it is met."""
    print(f"{what:<38} {found:<42} bar {bar:<22} {'met' if met else 'MISSED'}", flush=True)
    return met


def paint(opened: Any) -> bool:
    """From the navigation to the first text, in a window of its own each time."""
    found = []
    for _ in range(OPENINGS):
        seen = Watched(opened)
        shown = seen.open(web.PAGE, ready="label.drop")
        shown.wait_for_function(f"{PAINTED} !== undefined")
        found.append(shown.evaluate(PAINTED) / 1e3)
        seen.close()
    middle = statistics.median(found)
    said = f"{middle:.2f} s ({min(found):.2f} to {max(found):.2f})"
    return told("first paint", said, middle < PAINT_S, f"{PAINT_S:g} s")


def others() -> list[Path]:
    """Captures of other projects, of moderate size."""
    every = (path for path in sorted(web.PUBLIC.rglob("*")) if path.is_file() and path.suffix != ".csv")
    return [path for path in every if path.stat().st_size <= MOST_OF_OTHERS]


def answers(page: Any, what: str, captures: list[Path]) -> bool:
    """The JSON of the page beside that of the command line; of what cannot be read, neither has any."""
    same, refused, other = 0, 0, []
    for path in captures:
        command = [sys.executable, "-m", "rexmit", "analyze", "--json", path.name]
        wanted = subprocess.run(command, cwd=path.parent, capture_output=True, check=False).stdout
        web.give(page, path)
        page.locator(f"{web.REPORT}, .failure").first.wait_for(timeout=120_000)
        shown = page.locator(web.REPORT).count() > 0
        mine = web.saved(page, "JSON") if shown else b""
        if shown:
            page.get_by_role("button", name="Another capture").click()
        if mine != wanted:
            other.append(str(path))
        elif wanted:
            same += 1
        else:
            refused += 1
    for path in other:
        print(f"  another answer: {path}")
    said = f"{same} the same, {refused} refused by both, {len(other)} other"
    return told(f"JSON, {what}", said, not other, "byte for byte")


def large(page: Any) -> bool:
    """1 GB: until the report is there, and what the page's process has at most."""
    with tempfile.TemporaryDirectory(prefix="rexmit-web-") as folder:
        one, whole = Path(folder) / "one.pcap", Path(folder) / "large.pcap"
        capture = DATA / "A1_reno_22M_deep_200ms.snd.pcap.gz"
        web.at_full_length(capture, one, 1)
        web.at_full_length(capture, whole, -(-LARGE_BYTES // one.stat().st_size))
        size, most, began = whole.stat().st_size, 0, time.monotonic()
        web.give(page, whole)
        while not page.locator(web.REPORT).count():
            most = max(most, web.memory_of_pages())
            page.wait_for_timeout(20)
        took = time.monotonic() - began
        packets = json.loads(web.saved(page, "JSON"))["capture"]["packets"]
        page.get_by_role("button", name="Another capture").click()
    met = took <= LARGE_S and most <= LARGE_MEMORY
    said = f"{took:.1f} s, {most / 1e6:.0f} MB ({packets:,} packets)"
    return told(f"{size / 1e9:.2f} GB", said, met, f"{LARGE_S:g} s, {LARGE_MEMORY / 1e6:.0f} MB")


def axe(opened: Any) -> bool:
    """Violations, and pixels that are wider than the window: empty, and with a report, in both schemes."""
    from axe_playwright_python.sync_playwright import Axe

    found, wider, states = 0, 0, 0
    for width in (1280, 390):
        for scheme in ("light", "dark"):
            seen = Watched(opened, width=width, scheme=scheme)
            shown = seen.open(web.PAGE, ready="label.drop")
            for state in ("empty", "report"):
                if state == "report":
                    web.give(shown, DATA / "interruption.snd.pcap.gz")
                    shown.frame_locator(web.REPORT).locator("main h2").first.wait_for(timeout=60_000)
                options = {"runOnly": {"type": "tag", "values": web.RULES}}
                found += len(Axe().run(shown, options=options).response["violations"])
                beyond = shown.evaluate("document.documentElement.scrollWidth - innerWidth")
                wider, states = max(wider, beyond), states + 1
            seen.close()
    said = f"{found} violations, {wider} px too wide, {states} states"
    return told("axe, and 390 px", said, not found and wider <= 0, "0, 0")


if __name__ == "__main__":
    sys.exit(main())
