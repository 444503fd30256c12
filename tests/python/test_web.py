"""The page that analyses in the browser: its answers are those of the command line, and nothing leaves it."""

from __future__ import annotations

import base64
import gzip
import json
import math
import os
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rexmit
from browser import Watched
from conftest import DATA
from containers import inflated, unpack
from rexmit.cli import main
from rexmit.report import make
from rexmit.report.source import sources

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "target" / "web" / "rexmit.html"
PUBLIC = ROOT.parent / "shared" / "captures" / "public"
CAPTURES = sorted(path.relative_to(DATA) for path in DATA.rglob("*.pcap.gz"))
PAIRS = [path for path in CAPTURES if path.name.endswith(".snd.pcap.gz")]
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
REPORT = "main iframe"

sys.path.insert(0, str(ROOT / "site"))
import web  # noqa: E402

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is not there: make web builds it")


@pytest.fixture
def page(chromium: Any) -> Iterator[Watched]:
    """The page as it is opened from the file. It complains of nothing, and asks for nothing but itself."""
    seen = Watched(chromium)
    seen.open(PAGE, ready="label.drop")
    yield seen
    seen.close()
    assert seen.said == []
    # What a page makes for itself (its worker, the page of a report) has an address, too.
    assert {url for url in seen.asked if not url.startswith(("blob:", "data:", "about:"))} == {PAGE.as_uri()}


def give(page: Any, *files: Path, ends: bool = False) -> None:
    """Chooses files, and says how two belong together."""
    page.locator("input[type=file]").set_input_files(files)
    if len(files) == 2:
        words = "The same transfers, captured at both ends" if ends else "One capture in two files"
        page.get_by_role("button", name=words).click()


def saved(page: Any, what: str) -> bytes:
    """What a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"Save the {what}").click()
    return Path(download.value.path()).read_bytes()


def found(page: Any, *files: Path, ends: bool = False) -> bytes:
    """The JSON of captures."""
    give(page, *files, ends=ends)
    page.locator(REPORT).wait_for(timeout=120_000)
    text = saved(page, "JSON")
    page.get_by_role("button", name="Another capture").click()
    return text


def told(capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> bytes:
    """What `rexmit analyze --json` prints."""
    main(["analyze", "--json", *words])
    return capfdbinary.readouterr().out


def test_it_was_built_from_these_sources() -> None:
    assert f'content="{web.sources()}"' in PAGE.read_text("utf-8"), "make web builds the page anew"


def test_it_is_one_file_that_may_load_nothing() -> None:
    text = PAGE.read_text("utf-8")
    assert PAGE.stat().st_size <= 3 << 20
    assert not re.search(r"<(script|link|img|iframe)[^>]+(src|href)=(?!['\"]?data:)", text)
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)
    said = dict(one.split(" ", 1) for one in policy.replace("&#x27;", "'").replace("&#39;", "'").split("; "))
    assert said["default-src"] == "'none'"
    assert set(said) == {
        *("default-src", "script-src", "style-src", "img-src"),
        *("worker-src", "frame-src", "base-uri", "form-action"),
    }
    assert re.fullmatch(r"'wasm-unsafe-eval'( 'sha256-[\w+/=]{44}')+", said["script-src"])


def test_the_json_is_that_of_the_command_line(
    page: Watched, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert len(CAPTURES) > 20
    for path in CAPTURES:
        monkeypatch.chdir((DATA / path).parent)
        assert found(page.page, DATA / path) == told(capfdbinary, path.name), path


def test_the_json_of_both_ends_is_that_of_the_command_line(
    page: Watched, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(DATA)
    pairs = [(p, Path(p.name.replace(".snd.", ".rcv."))) for p in PAIRS]
    pairs = [pair for pair in pairs if (DATA / pair[1]).exists()]
    assert len(pairs) > 5
    for sent, came in pairs:
        asked = ("--sender", str(sent), "--receiver", str(came))
        assert found(page.page, DATA / sent, DATA / came, ends=True) == told(capfdbinary, *asked), sent
    # The other way round, which the core notices.
    sent, came = pairs[0]
    asked = ("--sender", str(came), "--receiver", str(sent))
    assert found(page.page, DATA / came, DATA / sent, ends=True) == told(capfdbinary, *asked)


def test_a_rotation_is_read_as_on_the_command_line(
    page: Watched, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    whole = gzip.decompress((DATA / "interruption.snd.pcap.gz").read_bytes())
    head, place, cut = whole[:24], 24, len(whole) // 2
    while place < cut:
        place += 16 + int.from_bytes(whole[place + 8 : place + 12], "little")
    (tmp_path / "a.pcap").write_bytes(whole[:place])
    (tmp_path / "b.pcap").write_bytes(head + whole[place:])
    monkeypatch.chdir(tmp_path)
    files = (tmp_path / "b.pcap", tmp_path / "a.pcap")
    assert found(page.page, *files) == told(capfdbinary, "b.pcap", "a.pcap")


@pytest.mark.slow
@pytest.mark.skipif(not PUBLIC.is_dir(), reason=f"{PUBLIC} is not there")
def test_the_json_of_captures_of_others_is_that_of_the_command_line(
    page: Watched, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    compared = 0
    for path in sorted(PUBLIC.rglob("*")):
        if not path.is_file() or path.suffix == ".csv" or path.stat().st_size > 32 << 20:
            continue
        monkeypatch.chdir(path.parent)
        said = told(capfdbinary, path.name)
        give(page.page, path)
        page.page.locator(f"{REPORT}, .failure").first.wait_for(timeout=120_000)
        if said:
            assert saved(page.page, "JSON") == said, path
            page.page.get_by_role("button", name="Another capture").click()
            compared += 1
    assert compared > 50


COMPRESSED = {
    "empty.pcap": b"",
    "text.pcap": b"these are no packets, they are words\n" * 9,
    "cut.pcap": b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00" + bytes(6),
    "quick.pcap.gz": gzip.compress(b"\xd4\xc3\xb2\xa1\x02\x00", mtime=0)[:-9],
}


def test_what_cannot_be_read_has_the_sentence_of_the_command_line(
    page: Watched, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in COMPRESSED.items():
        Path(name).write_bytes(content)
        assert main(["analyze", "--json", name]) == 2
        said = capfd.readouterr().err.strip()
        give(page.page, tmp_path / name)
        alert = page.page.get_by_role("alert")
        alert.wait_for()
        assert alert.inner_text() == said.removeprefix("rexmit: "), name


def damaged(content: bytes) -> bytes:
    """The same with a byte of its second half changed."""
    place = len(content) * 3 // 4
    return content[:place] + bytes([content[place] ^ 0x5A]) + content[place + 1 :]


def test_damaged_and_compressed_captures_are_read_as_far_as_on_the_command_line(
    page: Watched, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path
) -> None:
    import lzma

    import pyarrow as pa

    plain = gzip.decompress((DATA / "interruption.snd.pcap.gz").read_bytes())
    zstd = pa.compress(plain, codec="zstd", asbytes=True)
    files = {
        "a.pcap": plain[: len(plain) // 2],
        "b.pcap.gz": damaged(gzip.compress(plain)),
        "c.pcap.xz": lzma.compress(plain, preset=1),
        "d.pcap.zst": zstd,
    }
    monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        Path(name).write_bytes(content)
        assert found(page.page, tmp_path / name) == told(capfdbinary, name), name
    # Decoders in Rust keep some of what stands before a cut to themselves (docs/browser.md).
    cuts = {"f.pcap.xz": lzma.compress(plain, preset=1)[:-5000], "g.pcap.zst": zstd[:-5000]}
    numbers = re.compile(r"[\d,]+")
    for name, content in cuts.items():
        Path(name).write_bytes(content)
        both = found(page.page, tmp_path / name), told(capfdbinary, name)
        mine, theirs = (json.loads(text)["capture"] for text in both)
        assert 0 < mine["packets"] <= theirs["packets"], name
        said, wanted = ([numbers.sub("N", one) for one in of["warnings"]] for of in (mine, theirs))
        assert said == wanted, name


def elements(html: str) -> tuple[dict[str, Any], dict[str, bytes]]:
    """META and the blobs of a report."""
    (meta,) = re.findall(r'<script id="rexmit-meta" type="application/json">(.*?)</script>', html, re.S)
    blobs = re.findall(r'<script type="text/plain" data-blob="([^"]+)">([^<]*)</script>', html)
    return json.loads(meta), {name: inflated(base64.b64decode(text)) for name, text in blobs}


def same(mine: Any, theirs: Any, place: str) -> None:
    """Equal, numbers up to what a sum of doubles differs by."""
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs), place
        for key, value in theirs.items():
            same(mine[key], value, f"{place}.{key}")
    elif isinstance(theirs, list):
        assert len(mine) == len(theirs), place
        for k, value in enumerate(theirs):
            same(mine[k], value, f"{place}[{k}]")
    elif isinstance(theirs, float) or isinstance(mine, float):
        assert math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9), (place, mine, theirs)
    else:
        assert mine == theirs, place


def same_blob(mine: bytes, theirs: bytes, name: str) -> None:
    if "/details/" in name:
        same(json.loads(mine), json.loads(theirs), name)
        return
    (head, columns), (wanted, others) = unpack(mine), unpack(theirs)
    assert head == wanted, name
    for column, values in others.items():
        np.testing.assert_array_equal(columns[column], values, f"{name} {column}")


def compared(page: Any, capture: rexmit.api.Capture, *files: Path) -> None:
    """The report of the page beside the one that Python makes."""
    give(page, *files, ends=len(files) > 1)
    page.locator(REPORT).wait_for(timeout=120_000)
    meta, blobs = elements(saved(page, "report").decode())
    page.get_by_role("button", name="Another capture").click()
    made = make.of_capture(sources(capture), capture.command)
    same(meta, json.loads(make.in_json(made.meta)), files[0].name)
    assert set(blobs) == set(made.blobs)
    for name, blob in made.blobs.items():
        same_blob(blobs[name], inflated(blob), f"{files[0].name} {name}")


def test_the_report_is_that_of_the_command_line(page: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in CAPTURES:
        monkeypatch.chdir((DATA / path).parent)
        compared(page.page, rexmit.capture(path.name), DATA / path)
    monkeypatch.chdir(DATA)
    sent, came = ("interruption.snd.pcap.gz", "interruption.rcv.pcap.gz")
    compared(page.page, rexmit.capture(sent, receiver=came), DATA / sent, DATA / came)


@pytest.mark.slow
def test_the_report_of_more_packets_than_a_page_holds_is_that_of_the_command_line(
    page: Watched, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = rexmit.run("outage-50mbps", seed=1, set={"duration": "60s"}, captures=tmp_path)
    (path,) = [path for path in run.captures if path.name.startswith("server")]
    monkeypatch.chdir(path.parent)
    capture = rexmit.capture(path.name)
    assert int(capture.info["packets"]) > 200_000
    compared(page.page, capture, path)


def test_the_report_is_shown_and_a_sample_can_be_tried(page: Watched) -> None:
    shown = page.page
    assert "Nothing leaves this page" in shown.inner_text("main")
    shown.locator(".samples button").first.click()
    report = shown.frame_locator(REPORT)
    report.locator("main h2").first.wait_for(timeout=60_000)
    flow = json.loads(saved(shown, "JSON"))["flows"][0]
    assert flow["answer"]["text"] in report.locator("main").inner_text()
    # The packets are drawn as well.
    report.get_by_role("button", name="Flow", exact=True).click()
    report.locator(".panels canvas").first.wait_for()


def test_a_connection_cannot_be_opened(page: Watched) -> None:
    asked = "fetch('https://example.org/').then(() => 'sent', (error) => String(error))"
    assert "TypeError" in page.page.evaluate(asked)
    # The policy itself is what is said of it.
    assert [said for said in page.said if "Content Security Policy" in said]
    page.said.clear()
    page.asked[:] = [url for url in page.asked if "example.org" not in url]


def test_reading_can_be_stopped(page: Watched, tmp_path: Path) -> None:
    plain = gzip.decompress((DATA / "A1_reno_22M_deep_200ms.snd.pcap.gz").read_bytes())
    long = tmp_path / "long.pcap"
    with open(long, "wb") as file:
        file.write(plain[:24])
        for _ in range(max(1, (100 << 20) // len(plain))):
            file.write(plain[24:])
    give(page.page, long)
    page.page.locator("progress").wait_for()
    page.page.get_by_role("button", name="Stop").click()
    page.page.locator("label.drop").wait_for()
    page.page.wait_for_timeout(500)
    assert page.page.locator(REPORT).count() == 0


def at_full_length(capture: Path, to: Path, times: int) -> None:
    """A pcap again and again, each time a minute later, its packets with as many bytes as they had."""
    plain = gzip.decompress(capture.read_bytes())
    with open(to, "wb") as file:
        file.write(plain[:24])
        for k in range(times):
            at = 24
            while at < len(plain):
                seconds, fraction, kept, length = struct.unpack_from("<IIII", plain, at)
                file.write(struct.pack("<IIII", seconds + 60 * k, fraction, length, length))
                file.write(plain[at + 16 : at + 16 + kept] + bytes(length - kept))
                at += 16 + kept


def memory_of_pages() -> int:
    """Bytes that the largest of our browser's processes for pages has by itself."""
    parents, pages = {}, {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words, told = (process / "cmdline").read_bytes(), (process / "status").read_text()
        except OSError:
            continue
        found = dict(re.findall(r"^(Pid|PPid|RssAnon):\s+(\d+)", told, re.M))
        parents[int(found["Pid"])] = int(found["PPid"])
        if b"--type=renderer" in words:
            pages[int(found["Pid"])] = int(found.get("RssAnon", 0)) * 1024

    def ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and ours(parents[process]))

    return max((size for process, size in pages.items() if ours(process)), default=0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory as Linux tells it")
def test_a_large_capture_takes_little_memory(page: Watched, tmp_path: Path) -> None:
    large = tmp_path / "large.pcap"
    at_full_length(DATA / "A1_reno_22M_deep_200ms.snd.pcap.gz", large, 60)
    assert large.stat().st_size > 500 << 20
    give(page.page, large)
    most = 0
    while not page.page.locator(REPORT).count():
        most = max(most, memory_of_pages())
        page.page.wait_for_timeout(20)
    # A copy of each piece that is read would take as much as the file.
    assert 20 << 20 < most < 200 << 20
    assert json.loads(saved(page.page, "JSON"))["totals"]["connections"] == 60


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
)
def test_it_passes_axe_and_is_no_wider_than_the_window(chromium: Any, width: int, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    seen = Watched(chromium, width=width, scheme=scheme)
    shown = seen.open(PAGE, ready="label.drop")

    def looked_at() -> None:
        assert shown.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        found = axe.run(shown, options={"runOnly": {"type": "tag", "values": RULES}}).response["violations"]
        assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found] == []

    looked_at()
    sent, came = DATA / "interruption.snd.pcap.gz", DATA / "interruption.rcv.pcap.gz"
    shown.locator("input[type=file]").set_input_files([sent, came])
    shown.get_by_role("button", name="One capture in two files").wait_for()
    looked_at()
    shown.get_by_role("button", name="Neither").click()
    give(shown, sent)
    shown.frame_locator(REPORT).locator("main h2").first.wait_for(timeout=60_000)
    looked_at()
    seen.close()
    assert seen.said == []
