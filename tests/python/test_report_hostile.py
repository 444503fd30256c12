"""Texts that are anybody's, in whatever a page is made of: they are drawn as text, and nothing runs."""

from __future__ import annotations

import http.client
import json
import os
import re
import struct
import threading
from pathlib import Path
from typing import Any

import pytest

import rexmit
from rexmit.captured.flows import ON_DEMAND
from rexmit.cli import main
from rexmit.report.server import Server, of_view
from rexmit.report.source import Source
from test_damaged_folders import live  # noqa: F401
from test_report import CAPTURE, EVIL, Page

pytestmark = pytest.mark.skipif(os.name != "posix", reason="names of files are text here")
#: What ends an element, a line of a script, or turns a line around; control characters.
RAW = re.compile("[<>&\u2028-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f]")


def reported(tmp_path: Path, *words: str | Path) -> Page:
    out = tmp_path / "page.html"
    assert main(["report", *map(str, words), "-o", str(out)]) == 0
    return Page(out)


def harmless(page: Page, like: Page) -> None:
    """It has the elements of a page of which everybody thinks well, and the policy of one."""
    assert set(page.elements.tags) == set(like.elements.tags)
    assert page.elements.attributes.count("onerror") == page.elements.attributes.count("onload") == 0
    own = [text for of, text in page.elements.scripts if of.get("type") in (None, "module")]
    assert own == [text for of, text in like.elements.scripts if of.get("type") in (None, "module")]
    for of, text in page.elements.scripts:
        if of.get("type") not in (None, "module"):
            assert not RAW.search(text), RAW.search(text)
    for text in texts(page.meta):
        assert not re.search("[\u2028-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", text)


def texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.items() for text in texts(list(one))]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [value] if isinstance(value, str) else []


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return reported(tmp_path_factory.mktemp("plain"), CAPTURE)


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_of_a_live_runs_folder(evil: str, live: Path, tmp_path: Path, plain: Page) -> None:  # noqa: F811
    answer = json.loads((live / "summary.json").read_text())
    text = evil.encode("utf-8", "replace").decode()
    answer["simulation"] |= {"name": text, "seed": text, "end": text, text: [text], "links": [{"link": text}]}
    (live / "summary.json").write_text(json.dumps(answer))
    scenario = f"# {text}\nname = {json.dumps(text)}\n[[node]]\nname = 'x'\n"
    (live / "scenario.toml").write_text(scenario, newline="")
    page = reported(tmp_path, live)
    harmless(page, plain)
    assert page.meta["sources"][0]["run"]["bench"] == "live"


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_of_a_study(evil: str, tmp_path: Path) -> None:
    text = evil.encode("utf-8", "replace").decode()
    folder = tmp_path / "out"
    study = {
        "study": "s",
        "title": text,
        "grades": {text: 1},
        "rows": [{"why": text}],
        "claims": [{"claim": text}],
    }
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps({"studies": [study | {"statements": [{"found": text}]}]}))
    (folder / "s" / "figures").mkdir(parents=True)
    (folder / "s" / "figures" / f"{text.replace('/', '')}.svg").write_text(
        f"<svg onload='alert(1)'>{text}</svg>"
    )
    page = reported(tmp_path, folder)
    for of, held in page.elements.scripts:
        if of.get("type") not in (None, "module"):
            assert not RAW.search(held)
    assert "onload" not in page.elements.attributes


def with_interface(name: bytes, comment: bytes) -> bytes:
    """A pcapng section whose comment and interface are named so, with a SYN in it."""

    def option(code: int, value: bytes) -> bytes:
        return struct.pack("<HH", code, len(value)) + value + b"\0" * (-len(value) % 4)

    def block(kind: int, body: bytes) -> bytes:
        size = 12 + len(body)
        return struct.pack("<II", kind, size) + body + struct.pack("<I", size)

    ends = struct.pack("<HH", 0, 0)
    header = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1) + option(1, comment) + option(4, comment) + ends
    interface = struct.pack("<HHI", 1, 0, 96) + option(2, name) + option(3, comment) + ends
    frame = bytes(12) + b"\x08\x00" + bytes.fromhex("4500002800000000400600000a0000010a000002")
    frame += struct.pack(">HHIIBBHHH", 1000, 80, 1, 0, 0x50, 2, 100, 0, 0) + bytes(2)
    packet = struct.pack("<IIIII", 0, 0, 0, 56, 56) + frame + option(1, comment) + ends
    return block(0x0A0D0D0A, header) + block(1, interface) + block(6, packet)


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_of_a_captures_interfaces_and_comments(evil: str, tmp_path: Path, plain: Page) -> None:
    name = evil.encode("utf-8", "surrogateescape")
    file = tmp_path / "x.pcapng"
    file.write_bytes(with_interface(name, name))
    page = reported(tmp_path, file)
    harmless(page, plain)
    (told,) = page.meta["sources"][0]["capture"]["files"]
    assert told["interfaces"][0]["name"]
    assert page.meta["sources"][0]["capture"]["tcp_packets"] == 1


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
def test_of_what_the_server_says(evil: str, tmp_path: Path) -> None:
    taken = tmp_path / (evil.replace("/", "\u2215") + ".pcap.gz")
    taken.write_bytes(CAPTURE.read_bytes())
    capture = rexmit.capture(taken, tables=ON_DEMAND)
    source = Source(capture, 0, capture.name)
    with Server(of_view([source], f"rexmit view {taken}"), [source]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
        said = {}
        for path in ("", "meta.json", "load?source=0&flow=0"):
            connection.request("GET", server.base + path)
            answer = connection.getresponse()
            said[path] = answer.read().decode()
            kind = "text/html; charset=utf-8" if path == "" else "application/json"
            assert answer.headers["Content-Type"] == kind
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        server.shutdown()
    # The page itself has nothing of the capture in it.
    assert "alert(1)//" not in said[""]
    assert "∕script" not in said[""]
    for text in (said["meta.json"], said["load?source=0&flow=0"]):
        assert not re.search("[\u2028-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f]", text)
        json.loads(text)
