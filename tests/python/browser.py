"""Chromium for tests of pages: one for a run of the tests, and what a page said and asked for."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Where Chromium is; None if it or Playwright is missing."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return None
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def browser() -> Iterator[Any]:
    """A browser without a window; skips where there is none."""
    where = chromium()
    if where is None:
        pytest.skip("Chromium or Playwright is not there: no page is opened")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=where, args=["--no-sandbox"])
        yield opened
        opened.close()


@contextmanager
def viewed(*what: str) -> Iterator[str]:
    """The address of `rexmit view` of what is named; it is ended as Ctrl-C does."""
    command = [sys.executable, "-u", "-m", "rexmit", "view", *what]
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


def saved_svg(page: Any) -> tuple[list[str], dict[str, str]]:
    """Saves what is shown by the button SVG: the picture's words, each text as one, and its attributes."""
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    picture = ET.parse(download.value.path()).getroot()
    texts = picture.iter("{http://www.w3.org/2000/svg}text")
    return ["".join(text.itertext()) for text in texts], dict(picture.attrib)


class Watched:
    """A page in a window of its own; everything it complains of or asks for is kept."""

    def __init__(
        self, browser: Any, width: int = 1440, height: int = 900, scheme: str = "light", touch: bool = False
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=scheme,
            accept_downloads=True,
            has_touch=touch,
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, path: Path, fragment: str = "", ready: str = "main h2") -> Any:
        """Goes there anew, until what `ready` selects is shown."""
        self.page.goto("about:blank")
        self.page.goto(path.as_uri() + fragment)
        self.page.locator(ready).first.wait_for()
        return self.page

    def elsewhere(self, *besides: str) -> list[str]:
        """Addresses that it asked for outside of its file, and of those that begin with one of `besides`."""
        here = ("file:", "about:", "data:", "blob:", *besides)
        return [url for url in self.asked if not url.startswith(here)]

    def close(self) -> None:
        self.context.close()
